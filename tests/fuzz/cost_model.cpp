// Fuzz target: cost model files.
#include "targets.hpp"

#include "tenex/files/input_files.hpp"

void tenex::fuzz::cost_model(std::string_view input) {
  const auto file = tenex::parse_cost_model(input, "fuzz.toml");
  if (!file.ok() && file.errors().empty()) __builtin_trap();
}
