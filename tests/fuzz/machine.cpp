// Fuzz target: machine files.
#include "targets.hpp"

#include "tenex/files/input_files.hpp"

void tenex::fuzz::machine(std::string_view input) {
  const auto file = tenex::parse_machine(input, "fuzz.toml");
  if (!file.ok() && file.errors().empty()) __builtin_trap();
}
