// TE-CCL's input files name a topology that is code there and a built-in machine here.
#include <fmt/format.h>

#include <array>
#include <string>

#include "exchange/formats.hpp"
#include "exchange/machine_draft.hpp"
#include "tenex/files/input_files.hpp"

namespace tenex::exchange {
namespace {

/// A topology of TE-CCL: its name, its chassis or its side of a mesh, and the machine here.
struct KnownInput {
  std::string_view name;
  std::string_view number;
  std::string_view machine;
};
constexpr std::array kTopologies{
    KnownInput{"DGX1", "1", "dgx1"},
    KnownInput{"DGX2", "1", "dgx2_1ch"},
    KnownInput{"DGX2", "2", "dgx2_2ch"},
    KnownInput{"NDv2", "1", "ndv2_1ch"},
    KnownInput{"NDv2", "2", "ndv2_2ch"},
    KnownInput{"AMD", "1", "amd_1ch"},
    KnownInput{"AMD", "2", "amd_2ch"},
    KnownInput{"Mesh", "4", "mesh_4x4_100GBps"},
    KnownInput{"Mesh", "6", "mesh_6x6_100GBps"},
};

}  // namespace

Result<ImportedMachine> import_te_ccl_input(const TreeValue& file, const SourceText& source,
                                            const ImportOptions& options) {
  auto errors = refuse_options(options, {}, "a TE-CCL input");
  const auto& parameters = *file.find("TopologyParams");
  const auto name = parameters.text_of("name");
  const std::string_view key = name == "Mesh" ? "side_length" : "chassis";
  const auto number = parameters.text_of(key);
  const KnownInput* found = nullptr;
  std::string known;
  for (const auto& each : kTopologies) {
    known += fmt::format("{}{} {}", known.empty() ? "" : ", ", each.name, each.number);
    if (each.name == name && each.number == number) found = &each;
  }
  if (found == nullptr)
    errors.push_back(input_error(parameters.place, fmt::format("{} with {} \"{}\"", plain(name), key, plain(number)),
                                 fmt::format("TE-CCL's topologies are code; those built in here are {}", known)));
  if (!options.name.empty() || !options.bandwidths.empty() || !options.alphas.empty())
    errors.push_back(input_error({source.file, 0, 0}, "--name, --bandwidth and --alpha beside a TE-CCL input",
                                 "the machine is a built-in one", "copy it and edit the copy"));
  if (!errors.empty()) return errors;
  ImportedMachine machine{"TE-CCL input", {}, {}};
  if (parameters.find("alpha") != nullptr)
    machine.warnings.push_back(fmt::format("line {}: alpha of the file is not used, those of the built-in machine are",
                                           parameters.find("alpha")->place.line));
  machine.text = fmt::format("# The built-in machine {}, which {} line {} names: {} with {} {}\n{}", found->machine,
                             plain(source.file.substr(source.file.find_last_of('/') + 1)), parameters.place.line, name,
                             key, number, find_builtin(builtin_machines(), found->machine).value_or(""));
  return machine;
}

}  // namespace tenex::exchange
