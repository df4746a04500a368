// Fuzz target: logs of benchmarks, all formats, and fits of what they hold.
#include "targets.hpp"

#include "tenex/exchange/measurements.hpp"
#include "tenex/measure/fit.hpp"

void tenex::fuzz::measurements(std::string_view input) {
  const tenex::SourceText source{"fuzz", std::string(input)};
  tenex::LogOptions options;
  if (input.size() % 2 == 1) options = {tenex::CollectiveKind::all_gather, 8};
  const auto log = tenex::read_measurements(source, options);
  if (!log.ok()) {
    if (log.errors().empty()) __builtin_trap();
    return;
  }
  constexpr std::size_t kFewRanks = 64;  // the machine has a line for each
  for (const auto& table : log->tables)
    if (table.ranks > kFewRanks) return;
  const auto fit = tenex::fit_machine({*log}, {});
  if (!fit.ok() && fit.errors().empty()) __builtin_trap();
  if (fit.ok() && fit->machine.empty() == fit->no_machine.empty()) __builtin_trap();
  if (fit.ok() && fit->no_machine.empty() && !tenex::parse_machine(fit->machine, "machine.toml").ok()) __builtin_trap();
}
