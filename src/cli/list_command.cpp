// list: the registries, as they are.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "commands.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex::cli {
namespace {

std::string line(std::string_view name, std::string_view description) {
  return fmt::format("  {:<24} {}\n", name, description);
}

std::string topologies() {
  return "topologies (products: RI(4)_FC(8)_SW(32); dimension 1 varies fastest)\n" +
         line("RI(k)", "ring, bidirectional") + line("FC(k)", "fully connected") + line("SW(k)", "switch") +
         line("LI(k)", "line") + line("mesh(a,b,..)", "LI(a)_LI(b)_..") + line("grid(a,b,..)", "LI(a)_LI(b)_..") +
         line("torus(a,b,..)", "RI(a)_RI(b)_..") + line("hypercube(d)", "RI(2) d times") +
         line("dragonfly(a,g)", "g groups FC(a), one link per pair of groups") +
         line("FILE.toml", "a machine file, see experiments/machines/README.md");
}

std::string collectives() {
  std::string text = "collectives\n";
  for (const auto name : collective_names()) text += line(name, "");
  return text;
}

std::string described_algorithms() {
  std::string text = "algorithms\n";
  for (const auto& algorithm : algorithms()) {
    std::string kinds;
    for (const auto kind : algorithm.collectives) kinds += (kinds.empty() ? "" : ", ") + std::string(to_string(kind));
    text += line(algorithm.name, algorithm.description) + line("", "for " + kinds);
    if (!algorithm.requirement.empty()) text += line("", fmt::format("needs {}", algorithm.requirement));
    if (algorithm.candidate_npus != SIZE_MAX)
      text += line("", fmt::format("tried by auto up to {} NPUs", algorithm.candidate_npus));
  }
  return text + line("auto", "the fastest of these that can do the point, by simulation");
}

template <class Entries>
std::string entries(std::string_view title, const Entries& table) {
  std::string text = fmt::format("{}\n", title);
  for (const auto& entry : table) text += line(entry.name, entry.description);
  return text;
}

std::string columns() {
  std::string text = "columns of study.h5\n";
  for (const auto& column : metric_columns())
    text += line(column.name,
                 fmt::format("{}{}{}", column.meaning, column.units.empty() ? "" : fmt::format(" [{}]", column.units),
                             column.measured ? " (measured)" : ""));
  return text;
}

}  // namespace

ExitCode execute(const ListArguments& arguments) {
  const auto wanted = [&](std::string_view what) { return arguments.what == "all" || arguments.what == what; };
  std::string text;
  if (wanted("topologies")) text += topologies();
  if (wanted("collectives")) text += collectives();
  if (wanted("algorithms")) text += described_algorithms();
  if (wanted("synthesizers")) text += entries("synthesizers", synthesizers());
  if (wanted("bounds")) text += entries("bounds", bound_methods());
  if (wanted("columns")) text += columns();
  std::fputs(text.c_str(), stdout);
  return ExitCode::done;
}

}  // namespace tenex::cli
