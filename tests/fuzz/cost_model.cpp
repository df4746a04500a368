// Fuzz target: cost model files.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tenex/files/input_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = tenex::parse_cost_model({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  if (!file.ok() && file.errors().empty()) __builtin_trap();
  return 0;
}
