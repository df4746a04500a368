// Fuzz target: other tools' machines, all formats. What is imported is a machine file that tenex reads.
#include "targets.hpp"

#include "tenex/exchange/machine_import.hpp"
#include "tenex/files/input_files.hpp"

void tenex::fuzz::machine_import(std::string_view input) {
  const tenex::SourceText source{"fuzz", std::string(input)};
  tenex::ImportOptions options;
  if (input.size() % 2 == 1) {  // everything that may be missing is given
    options = {.name = "fuzz", .bandwidths = {"50GB/s"}, .alphas = {"1us"}};
    if (source.text.find("<system") != std::string::npos) {
      options.nodes = 2;
      options.fabric = "rails";
      if (source.text.find("<gpu") == std::string::npos) options.gpu_links = "switch";
    }
  }
  const auto machine = tenex::import_machine(source, options);
  if (!machine.ok() && machine.errors().empty()) __builtin_trap();
  if (machine.ok() && !tenex::parse_machine(machine->text, "machine.toml").ok()) __builtin_trap();
}
