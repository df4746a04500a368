// list: the contents of the registries.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/design/sampler.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/evaluate/search.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/topology/family.hpp"
#include "training_lists.hpp"

namespace tenex::cli {
namespace {

std::string topologies() {
  std::string text = "topologies (products: RI(4)_FC(8)_SW(32); dimension 1 varies fastest)\n";
  for (const BlockRule* block : block_rules())
    text += list_line(fmt::format("{}(k), {}(k)", block->name, block->long_name), block->description);
  for (const ShapeAlias& alias : shape_aliases()) text += list_line(alias.usage, alias.description);
  text += list_line("NAME", "a built-in machine, see `tenex list machines`");
  text +=
      list_line("FILE.toml", "a machine file, which lists links or names a shape, see experiments/machines/README.md");
  text += "topologies that are no products (alpha and bandwidth: one for all, or one per level of links)\n";
  for (const FamilyRule* family : family_rules())
    text += list_line(family->usage, fmt::format("{}: {}", family->description, fmt::join(family->level_names, ", ")));
  return text;
}

std::string collectives() {
  std::string text = "collectives\n";
  for (const auto name : collective_names()) text += list_line(name, "");
  return text;
}

std::string described_algorithms() {
  std::string text = "algorithms\n";
  for (const auto& algorithm : algorithms()) {
    std::string kinds;
    for (const auto kind : algorithm.collectives) kinds += (kinds.empty() ? "" : ", ") + std::string(to_string(kind));
    text += list_line(algorithm.name, algorithm.description) + list_line("", "for " + kinds);
    if (!algorithm.long_name.empty()) text += list_line("", fmt::format("also {}", algorithm.long_name));
    if (algorithm.reads.radix) text += list_line("", "has a radix");
    if (!algorithm.reads.window.empty()) text += list_line("", fmt::format("window: {}", algorithm.reads.window));
    if (algorithm.reads.order) text += list_line("", "order: of its peers, relative or absolute");
    if (!algorithm.requirement.empty()) text += list_line("", fmt::format("needs {}", algorithm.requirement));
    if (algorithm.candidate_npus == 0)
      text += list_line("", "not tried by auto");
    else if (algorithm.candidate_npus != SIZE_MAX)
      text += list_line("", fmt::format("tried by auto up to {} NPUs", algorithm.candidate_npus));
  }
  return text + list_line(auto_algorithm().name, auto_algorithm().description);
}

std::string described_synthesizers() {
  std::string text = "synthesizers\n";
  for (const auto& synthesizer : synthesizers()) {
    text += list_line(synthesizer.name, synthesizer.description);
    if (!synthesizer.engines.empty())
      text += list_line("", fmt::format("engines: {}, {}", kAutomaticEngine, fmt::join(synthesizer.engines, ", ")));
  }
  return text;
}

template <class Entries>
std::string entries(std::string_view title, const Entries& table) {
  std::string text = fmt::format("{}\n", title);
  for (const auto& entry : table) text += list_line(entry.name, entry.description);
  return text;
}

std::string columns() {
  std::string text = "columns of study.h5\n";
  for (const auto& column : metric_columns())
    text += list_line(column.name, fmt::format("{}{}{}", column.meaning,
                                               column.units.empty() ? "" : fmt::format(" [{}]", column.units),
                                               column.measured   ? " (measured)"
                                               : column.training ? " (studies that train)"
                                                                 : ""));
  return text;
}

std::string samplers() {
  std::string text = "samplers (of a sweep that draws its rows)\n";
  for (const auto name : sampler_names()) text += list_line(name, "");
  return text;
}

std::string objectives() {
  std::string text = "objectives (of a search)\n";
  for (const auto& each : objective_names())
    text += list_line(each.metric, fmt::format("{}{}{}", each.maximize ? "maximize" : "minimize",
                                               each.early ? ", also of rounds" : "",
                                               each.whose.empty() ? "" : fmt::format(" ({})", each.whose)));
  return text;
}

/// A topic of `list` and the function that prints it.
struct Topic {
  std::string_view name;
  std::string (*answer)();
};

constexpr Topic kTopics[] = {
    {"topologies", topologies},
    {"machines", list_machines},
    {"collectives", collectives},
    {"algorithms", described_algorithms},
    {"synthesizers", described_synthesizers},
    {"bounds", [] { return entries("bounds", bound_methods()); }},
    {"workloads", list_workloads},
    {"cost_models", list_cost_models},
    {"npus", list_npus},
    {"schemes", [] { return entries("schemes (of splitting bandwidth over dimensions)", scheme_words()); }},
    {"collective_times", [] { return entries("collective times (of training)", collective_time_words()); }},
    {"training_loops", [] { return entries("training loops", training_loop_words()); }},
    {"samplers", samplers},
    {"objectives", objectives},
    {"columns", columns},
};

}  // namespace

std::vector<std::string> list_topics() {
  std::vector<std::string> names;
  for (const auto& topic : kTopics) names.emplace_back(topic.name);
  return names;
}

ExitCode execute(const ListArguments& arguments) {
  std::string text;
  for (const auto& topic : kTopics)
    if (arguments.what == "all" || arguments.what == topic.name) text += topic.answer();
  std::fputs(text.c_str(), stdout);
  return ExitCode::done;
}

}  // namespace tenex::cli
