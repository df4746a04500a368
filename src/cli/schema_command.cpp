// schema: the keys of a study from their entries, as JSON for tools or as the reference page.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "report.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/design/setting.hpp"
#include "tenex/design/study.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/topology/family.hpp"

namespace tenex::cli {
namespace {

std::string_view setting_type(const Setting& setting) {
  switch (setting.counts) {
    case Counts::numbers:
      return "integer";
    case Counts::bytes:
      return "size";
    case Counts::time:
      return "time";
    case Counts::bandwidth:
      return "bandwidth";
    case Counts::nothing:
      break;
  }
  switch (setting.written) {
    case Written::boolean:
      return "boolean";
    case Written::pairs:
      return "array of pairs";
    case Written::texts:
      return "string or array";
    case Written::integer:
    case Written::string:
      break;
  }
  return "string";
}

std::string_view readers_of(const Setting& setting) {
  switch (setting.read_by) {
    case ReadBy::collectives:
      return "collectives";
    case ReadBy::training:
      return "training";
    case ReadBy::all:
      break;
  }
  return "all";
}

Report setting_report(const Setting& setting, const Vocabulary& vocabulary) {
  Report entry;
  const auto add = [&](const char* name, std::string_view text) { entry.add(name, std::string(text)); };
  add("name", setting.name);
  if (!setting.alias.empty()) add("alias", setting.alias);
  add("type", setting_type(setting));
  add("help", setting.help);
  add("example", setting.example);
  if (setting.fallback)
    add("default", *setting.fallback);
  else
    add("without", setting.absent);
  if (setting.counts == Counts::numbers) {
    entry.add("least", setting.least);
    entry.add("most", setting.most);
  }
  std::vector<Report> words;
  for (const auto& word : words_of(setting, vocabulary)) words.emplace_back().add("name", word);
  if (!words.empty()) entry.add("words", std::move(words));
  entry.add("range", setting.counts != Counts::nothing);
  add("read_by", readers_of(setting));
  if (setting.column.kind == SettingColumn::Kind::none) return entry;
  Report column;
  column.add("name", std::string(setting.column.name));
  column.add("type", std::string(kind_name(setting.column.kind)));
  if (!setting.column.former.empty()) column.add("former_name", std::string(setting.column.former));
  if (!setting.column.units.empty()) column.add("units", std::string(setting.column.units));
  entry.add_object("column", std::move(column));
  return entry;
}

std::string schema_json() {
  const auto words = vocabulary();
  std::vector<Report> keys;
  for (const auto& setting : settings()) keys.push_back(setting_report(setting, words));
  Report document;
  document.add("study_schema", kStudySchema);
  document.add("physics", physics_version);
  document.add("keys", std::move(keys));
  return to_json(document);
}

std::string type_cell(const Setting& setting) {
  if (setting.counts != Counts::numbers) return std::string(setting_type(setting));
  return fmt::format("integer >= {}", setting.least);
}

std::string default_cell(const Setting& setting) {
  if (!setting.fallback) return std::string(setting.absent);
  if (setting.fallback->empty()) return "none";
  // A word in place of a number is quoted.
  const bool word = setting.written == Written::integer && setting.fallback->find_first_not_of("0123456789") == 0;
  const bool bare = (setting.written != Written::string && !word) || setting.fallback == "none";
  return bare ? fmt::format("`{}`", *setting.fallback) : fmt::format("`\"{}\"`", *setting.fallback);
}

/// The store writes the column of the seed itself, beside those of the settings.
std::string column_cell(const Setting& setting) {
  const SettingColumn& column = setting.column;
  if (column.kind == SettingColumn::Kind::none) return setting.key == Key::seed ? "`seed`" : "none";
  const std::string units = column.units.empty() ? "" : fmt::format(", {}", column.units);
  return fmt::format("`{}`{}{}", column.name, units, column.kind == SettingColumn::Kind::list ? " per dimension" : "");
}

std::string settings_table(ReadBy kind) {
  std::string text = "| key | type | default | meaning | example | column |\n|---|---|---|---|---|---|\n";
  for (const auto& setting : settings()) {
    if (setting.read_by != kind) continue;
    const std::string alias = setting.alias.empty() ? "" : fmt::format(", `{}`", setting.alias);
    text += fmt::format("| `{}`{} | {} | {} | {} | `{}` | {} |\n", setting.name, alias, type_cell(setting),
                        default_cell(setting), setting.help, setting.example, column_cell(setting));
  }
  return text;
}

/// What dimensions and levels are, and the levels of each family.
std::string levels_section() {
  std::string text =
      "\n## Dimensions and levels\n\n"
      "A product of blocks has a dimension for each block, dimension 1 first: `RI(4)_SW(8)` has two. A family is no\n"
      "product and has levels in their place. A level is one class of the family's links, for instance those between\n"
      "NPUs and edge switches, and has an alpha and a bandwidth of its own. Comma lists, shares and columns have a "
      "value\n"
      "for each level, in this order:\n\n"
      "| family | levels of links |\n|---|---|\n";
  for (const FamilyRule* family : family_rules())
    text += fmt::format("| `{}` | {} |\n", family->usage, fmt::join(family->level_names, ", "));
  return text +
         "\n`npu_bandwidth` is divided over the most links of the level that an NPU has; a link between switches has "
         "all of it.\n"
         "`total_bandwidth` is the sum of `npu_bandwidth` over the levels, as it is over dimensions. So equal shares "
         "give "
         "an\n"
         "NPU of `fat_tree(k)`, whose own link is of level 1, a third of the total there; `split` gives it another "
         "share.\n";
}

std::string reference_page() {
  return "# Keys of a study\n\n"
         "`tenex schema --markdown` writes this page, `tenex schema` says the same as JSON. [guide](guide/studies.md) "
         "explains\n"
         "how studies are written and what the larger keys mean.\n\n"
         "Every key may stand in `[defaults]`, in a sweep, or under `axes` or `zip`. Keys of type integer, size, time "
         "and\n"
         "bandwidth also take ranges, `{ from, to, factor }` or `{ from, to, step }`. Alpha and bandwidths take a "
         "comma list\n"
         "with a value per dimension or [level](#dimensions-and-levels).\n\n"
         "## All points\n\n" +
         settings_table(ReadBy::all) +
         "\nA point that trains ignores keys that it does not read: latency, chunks and occupancy where nothing is "
         "simulated,\n"
         "the algorithm's keys where nothing is synthesized, bandwidths where a scheme chooses them.\n\n"
         "## Points that run a collective\n\n" +
         settings_table(ReadBy::collectives) + "\n## Points that train\n\n" + settings_table(ReadBy::training) +
         levels_section();
}

}  // namespace

std::string_view kind_name(SettingColumn::Kind kind) {
  switch (kind) {
    case SettingColumn::Kind::integer:
      return "integer";
    case SettingColumn::Kind::real:
      return "real";
    case SettingColumn::Kind::list:
      return "integer per dimension";
    case SettingColumn::Kind::text:
    case SettingColumn::Kind::none:
      break;
  }
  return "text";
}

std::vector<std::string> words_of(const Setting& setting, const Vocabulary& vocabulary) {
  if (setting.known == nullptr) return {setting.words.begin(), setting.words.end()};
  const auto known = setting.known(vocabulary);
  return {known.begin(), known.end()};
}

ExitCode execute(const SchemaArguments& arguments) {
  const auto text = arguments.columns ? columns_page() : arguments.markdown ? reference_page() : schema_json();
  std::fputs(text.c_str(), stdout);
  return ExitCode::done;
}

}  // namespace tenex::cli
