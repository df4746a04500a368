// Fuzz target: workload files.
#include "targets.hpp"

#include "tenex/files/input_files.hpp"

void tenex::fuzz::workload(std::string_view input) {
  const auto file = tenex::parse_workload(input, "fuzz.toml");
  if (!file.ok() && file.errors().empty()) __builtin_trap();
}
