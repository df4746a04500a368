#include "option_words.hpp"

#include <algorithm>

#include "commands.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/design/study.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/topology/family.hpp"

namespace tenex::cli {
namespace {

/// Names of networks: machines, and shapes up to their brackets.
std::vector<std::string> network_names(const Vocabulary& vocabulary) {
  std::vector<std::string> names;
  for (const auto& machine : vocabulary.machines) names.emplace_back(machine.name);
  for (const BlockRule* block : block_rules()) names.push_back(std::string(block->name) + "(");
  for (const ShapeAlias& alias : shape_aliases()) names.push_back(std::string(alias.name) + "(");
  for (const FamilyRule* family : family_rules()) names.push_back(std::string(family->name) + "(");
  return names;
}

/// The columns of a result.
std::vector<std::string> column_names() {
  std::vector<std::string> names{"key"};
  for (const auto& column : setting_columns()) names.emplace_back(column.name);
  for (const auto& column : metric_columns()) names.emplace_back(column.name);
  return names;
}

}  // namespace

std::string flags_of(const Setting& setting) {
  std::string flags;
  for (const auto name : {setting.name, setting.alias}) {
    if (name.empty()) continue;
    std::string dashed(name);
    std::ranges::replace(dashed, '_', '-');
    flags += (flags.empty() ? "--" : ",--") + dashed;
    if (dashed != name) flags += ",--" + std::string(name);
  }
  return flags;
}

std::string help_of(const Setting& setting) {
  std::string help(setting.help);
  if (setting.fallback && !setting.fallback->empty()) help += "; default " + std::string(*setting.fallback);
  return help;
}

const char* group_of(const Setting& setting) {
  const auto changes = setting.changes;
  if (setting.read_by == ReadBy::training) return meet(changes, Changes::cost) ? "Cost" : "Training";
  if (meet(changes, Changes::network | Changes::latency | Changes::bandwidth)) return "Network";
  if (meet(changes, Changes::collective | Changes::chunks | Changes::size)) return "Collective";
  return "Algorithm";
}

std::vector<std::string> words_of_key(std::string option, const Vocabulary& vocabulary) {
  std::ranges::replace(option, '-', '_');
  const auto* setting = find_setting(option);
  return setting == nullptr ? std::vector<std::string>() : words_of(*setting, vocabulary);
}

std::vector<std::string> offers_of(std::string_view option, const Vocabulary& vocabulary) {
  if (option == "--topology") return network_names(vocabulary);
  for (const std::string_view of_columns : {"--columns", "--sort", "--group-by", "--over", "--where"})
    if (option == of_columns) return column_names();
  return {};
}

}  // namespace tenex::cli
