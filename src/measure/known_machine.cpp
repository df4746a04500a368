// A machine whose network is known: programs are simulated on it, and the bandwidth of the links that hold them up is
// changed until the simulated time per byte is the measured one. Which links those are is found by making each kind
// faster. Alphas stay; what the simulated time leaves of the smallest sizes is the overhead of a call.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "measure/fit_numbers.hpp"
#include "measure/library_time.hpp"
#include "measure/link_kinds.hpp"
#include "tenex/base/units.hpp"
#include "tenex/exchange/machine_text.hpp"

namespace tenex::measure {
namespace {

constexpr int kChannels = 8;      // chunks of an NPU: enough to fill the ways of a box
constexpr double kFaster = 1.25;  // of a kind of links, to see whether it matters
constexpr double kMatters = 0.98;
constexpr int kMostMachineRounds = 60;

/// The simulated time of a table's algorithm.
Result<double> time_us(const FittedTable& table, const Topology& topology, Bytes size) {
  const auto network = Network::make(topology);
  if (!network) return network.errors();
  const auto time = network->time(table.algorithm, table.collective, size, kChannels);
  if (!time) return time.errors();
  return static_cast<double>(time->count()) / kPicosecondsPerMicrosecond;
}

/// The simulated time per byte of a table's algorithm between the ends of its last piece, us.
Result<double> simulated(const FittedTable& table, const Topology& topology) {
  const auto& last = table.pieces.back();
  const auto first = time_us(table, topology, last.first);
  if (!first) return first.errors();
  const auto second = time_us(table, topology, last.last);
  if (!second) return second.errors();
  return (*second - *first) / static_cast<double>((last.last - last.first).count());
}

std::vector<Bandwidth> with_factor(std::vector<Bandwidth> bandwidths, std::size_t kind, double factor) {
  const double scaled = static_cast<double>(bandwidths[kind].count()) * factor;
  bandwidths[kind] = Bandwidth::of(std::max<std::int64_t>(1, std::llround(std::min(scaled, 9e18))));
  return bandwidths;
}

/// A kind of links that decides the time per byte, and by which factor a table changes it.
struct Binding {
  std::size_t kind = 0;
  Estimated factor;
};

/// The factor of the kind's bandwidth at which the simulated time per byte is `wanted`; nothing where none is: other
/// links hold the program up. The time grows with 1 / factor, all but linearly where the kind decides it: false
/// position there, whose older end counts half when it stays (Dowell and Jarratt 1971, "Illinois").
Result<std::optional<double>> factor_for(const FittedTable& table, const LinkKinds& kinds, std::size_t kind,
                                         double wanted) {
  constexpr double kWidest = 1024;
  constexpr double kClose = 1e-6;
  const auto excess = [&](double inverse) -> Result<double> {
    const auto time = simulated(table, kinds.with(with_factor(kinds.bandwidths(), kind, 1 / inverse)));
    if (!time) return time.errors();
    return *time - wanted;
  };
  double low = 1 / kWidest;
  double high = 1;
  auto below = excess(low);
  if (!below) return below.errors();
  if (*below > 0) return std::optional<double>();
  auto above = excess(high);
  while (above && *above < 0 && high < kWidest) {
    low = high;
    below = above;
    high *= 4;
    above = excess(high);
  }
  if (!above) return above.errors();
  int stays = 0;  // positive: the lower end has stayed, negative: the upper one
  double at_low = *below;
  double at_high = *above;
  double inverse = high;
  for (int round = 0; round < kMostMachineRounds && at_high > at_low; ++round) {
    inverse = low - at_low * (high - low) / (at_high - at_low);
    const auto here = excess(inverse);
    if (!here) return here.errors();
    if (std::abs(*here) < kClose * wanted) break;
    if (*here < 0) {
      low = inverse;
      at_low = *here;
      if (stays < 0) at_high /= 2;
      stays = -1;
    } else {
      high = inverse;
      at_high = *here;
      if (stays > 0) at_low /= 2;
      stays = 1;
    }
  }
  return std::optional<double>(1 / inverse);
}

Result<Binding> binding_of(const FittedTable& table, const LinkKinds& kinds) {
  const auto now = simulated(table, kinds.with(kinds.bandwidths()));
  if (!now) return now.errors();
  Binding found;
  double least = 1;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const auto faster = simulated(table, kinds.with(with_factor(kinds.bandwidths(), kind, kFaster)));
    if (!faster) return faster.errors();
    const double ratio = *faster / *now;
    if (ratio >= least) continue;
    least = ratio;
    found.kind = kind;
  }
  if (least > kMatters)
    return unsupported_error(table.place, "no kind of links alone decides the time per byte",
                             "several hold the program up together", "fit a log that fewer links decide");
  const auto& slope = table.pieces.back().us_per_byte;
  const auto at = [&](double wanted) { return factor_for(table, kinds, found.kind, wanted); };
  const auto value = at(slope.value);
  if (!value) return value.errors();
  if (!*value)
    return input_error(table.place, "the measured time per byte is less than this machine can have",
                       fmt::format("with {} without limit, other links still take longer", kinds.name(found.kind)),
                       "name another machine or algorithm");
  // The time per byte is inverse to the bandwidth as long as the kind decides it.
  found.factor = {**value, **value * slope.value / slope.high,
                  slope.low > 0 ? **value * slope.value / slope.low : std::numeric_limits<double>::infinity()};
  return found;
}

double width_of(const Estimated& estimate) { return (estimate.high - estimate.low) / estimate.value; }

/// Where a table's numbers are from.
std::string origin_of(const FittedTable& table) {
  return fmt::format("{} by {}, {}:{}", to_string(table.collective), table.algorithm, table.place.file,
                     table.place.line);
}

/// What the simulated time leaves of the smallest size, on the machine with the table's own factor.
Result<FittedNumber> overhead_of(const FittedTable& table, const LinkKinds& kinds, const Binding& binding) {
  const auto& small = table.pieces.front();
  const auto fitted = kinds.with(with_factor(kinds.bandwidths(), binding.kind, binding.factor.value));
  const auto least = time_us(table, fitted, small.first);
  if (!least) return least.errors();
  const double left =
      small.at_zero_us.value + small.us_per_byte.value * static_cast<double>(small.first.count()) - *least;
  const double half = (small.at_zero_us.high - small.at_zero_us.low) / 2;
  const Estimated time{std::max(0.0, left), std::max(0.0, left - half), std::max(0.0, left + half)};
  return FittedNumber{"overhead", time, false, true, origin_of(table)};
}

/// What one table says: the links that decide it, and the overhead.
struct TableNumbers {
  Binding binding;
  FittedNumber overhead;
};

/// Errors of simulations, which know no files, have the table's place.
Result<TableNumbers> numbers_of(const FittedTable& table, const LinkKinds& kinds, std::size_t npus) {
  if (table.ranks != npus)
    return input_error(table.place, fmt::format("a log of {} ranks", table.ranks),
                       fmt::format("the machine has {} NPUs", npus), "name the machine that was measured");
  const auto binding = binding_of(table, kinds);
  const auto overhead = binding ? overhead_of(table, kinds, *binding) : Result<FittedNumber>(binding.errors());
  if (overhead) return TableNumbers{*binding, *overhead};
  auto errors = overhead.errors();
  for (auto& error : errors)
    if (error.place.file.empty()) error.place = table.place;
  return errors;
}

/// The best binding of each kind of links: that with the narrowest interval.
using Chosen = std::vector<std::optional<Binding>>;

void write_machine(Fit& fit, const FitOptions& options, const LinkKinds& kinds, const Chosen& chosen,
                   std::vector<std::string> origins) {
  auto bandwidths = kinds.bandwidths();
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const auto& best = chosen[kind];
    const auto old = static_cast<double>(bandwidths[kind].count());
    if (best) bandwidths = with_factor(bandwidths, kind, best->factor.value);
    const Estimated factor = best ? best->factor : Estimated{1, 1, 1};
    const Estimated rate{factor.value * old, factor.low * old, factor.high * old};
    fit.numbers.push_back({kinds.name(kind), rate, true, best.has_value(), origins[kind]});
    if (best)
      origins[kind] += fmt::format(" (95 %: {} to {}; {} in {})", to_rounded_rate(rate.low),
                                   std::isfinite(rate.high) ? to_rounded_rate(rate.high) : "any",
                                   to_string(kinds.bandwidths()[kind]), options.machine_name);
  }
  const auto head = exchange::machine_head(
      {}, options.name.empty() ? options.machine->name : options.name,
      fmt::format("{}; bandwidths fitted by tenex from {}", options.machine->source, places_of(fit)),
      options.machine->remarks);
  fit.machine = kinds.text(head, bandwidths, origins);
  if (kinds.has_given_routes())
    fit.notes.push_back(
        fmt::format("{} gives routes, which the new machine file is without: copy its [[route]] and "
                    "[[next_hops]] to it",
                    options.machine_name));
}

}  // namespace

Status fit_known_machine(Fit& fit, const FitOptions& options) {
  const LinkKinds kinds(*options.machine);
  const auto npus = kinds.with(kinds.bandwidths()).npus();
  Chosen chosen(kinds.size());
  std::vector<std::string> origins(kinds.size(), fmt::format("as in {}", options.machine_name));
  std::vector<FittedNumber> overheads;
  Diagnostics errors;
  for (const auto& table : fit.tables) {
    const auto numbers = numbers_of(table, kinds, npus);
    if (!numbers) {
      append(errors, numbers.errors());
      continue;
    }
    overheads.push_back(numbers->overhead);
    const auto& binding = numbers->binding;
    auto& best = chosen[binding.kind];
    if (best && width_of(best->factor) <= width_of(binding.factor)) continue;
    origins[binding.kind] = "fitted: " + origin_of(table);
    best = binding;
  }
  if (!errors.empty()) return errors;
  fit.numbers = std::move(overheads);
  write_machine(fit, options, kinds, chosen, std::move(origins));
  return success();
}

}  // namespace tenex::measure
