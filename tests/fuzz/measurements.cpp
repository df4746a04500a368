// Fuzz target: logs of benchmarks, all formats, and fits of what they hold.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tenex/exchange/measurements.hpp"
#include "tenex/measure/fit.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tenex::SourceText source{"fuzz", {reinterpret_cast<const char*>(data), size}};
  tenex::LogOptions options;
  if (size % 2 == 1) options = {tenex::CollectiveKind::all_gather, 8};
  const auto log = tenex::read_measurements(source, options);
  if (!log.ok()) {
    if (log.errors().empty()) __builtin_trap();
    return 0;
  }
  constexpr std::size_t kFewRanks = 64;  // the machine has a line for each
  for (const auto& table : log->tables)
    if (table.ranks > kFewRanks) return 0;
  const auto fit = tenex::fit_machine({*log}, {});
  if (!fit.ok() && fit.errors().empty()) __builtin_trap();
  if (fit.ok() && fit->machine.empty() == fit->no_machine.empty()) __builtin_trap();
  if (fit.ok() && fit->no_machine.empty() && !tenex::parse_machine(fit->machine, "machine.toml").ok()) __builtin_trap();
  return 0;
}
