// Rates of computation from and to text, and work over rate in exact integers.
#include "tenex/workload/compute.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/core.h>

#include "tenex/base/decimal.hpp"

namespace tenex {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr Wide kPicosecondsPerSecond = 1'000'000'000'000U;
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

struct RateUnit {
  std::string_view name;
  std::int64_t worth;
};

/// Larger units first within each base, so that output takes the shortest text.
constexpr std::array kRateUnits{
    RateUnit{"EFLOPS", 1'000'000'000'000'000'000},
    RateUnit{"PFLOPS", 1'000'000'000'000'000},
    RateUnit{"TFLOPS", 1'000'000'000'000},
    RateUnit{"GFLOPS", 1'000'000'000},
    RateUnit{"MFLOPS", 1'000'000},
    RateUnit{"KFLOPS", 1'000},
    RateUnit{"EiFLOPS", std::int64_t{1} << 60},
    RateUnit{"PiFLOPS", std::int64_t{1} << 50},
    RateUnit{"TiFLOPS", std::int64_t{1} << 40},
    RateUnit{"GiFLOPS", std::int64_t{1} << 30},
    RateUnit{"MiFLOPS", std::int64_t{1} << 20},
    RateUnit{"KiFLOPS", std::int64_t{1} << 10},
    RateUnit{"FLOPS", 1},
};

constexpr std::string_view kRateRule = "a compute rate is a positive number and a unit, for instance \"234TFLOPS\"";

Diagnostic refuse(std::string_view text, const Place& place, std::string why) {
  return input_error(place, fmt::format("\"{}\" is no compute rate", text), std::move(why));
}

std::int64_t clamped(Wide value) {
  return value > static_cast<Wide>(kLargest) ? kLargest : static_cast<std::int64_t>(value);
}

}  // namespace

SimTime compute_time(Flops work, ComputeRate rate) {
  ensure(rate.count() > 0, "a compute rate is positive");
  const Wide divisor = static_cast<Wide>(rate.count());
  return SimTime::of(clamped((static_cast<Wide>(work.count()) * kPicosecondsPerSecond + divisor - 1) / divisor));
}

Flops work_of(SimTime time, ComputeRate rate) {
  return Flops::of(clamped(static_cast<Wide>(time.count()) * static_cast<Wide>(rate.count()) / kPicosecondsPerSecond));
}

Result<ComputeRate> parse_compute_rate(std::string_view text, const Place& place) {
  const auto unit = text.substr(std::min(text.find_first_not_of("0123456789."), text.size()));
  const auto* known =
      std::find_if(kRateUnits.begin(), kRateUnits.end(), [&](const RateUnit& each) { return each.name == unit; });
  const auto number = read_decimal(text.substr(0, text.size() - unit.size()));
  if (!number || known == kRateUnits.end()) return refuse(text, place, std::string(kRateRule));
  if (number->numerator == 0) return refuse(text, place, "a compute rate is positive");
  const auto amount = number->times(known->worth);
  if (!amount) return refuse(text, place, "it is no whole number of FLOP per second, or is beyond 9.2e18");
  return ComputeRate::of(*amount);
}

std::string to_string(ComputeRate rate) {
  std::string shortest = fmt::format("{}FLOPS", rate.count());
  for (const auto& unit : kRateUnits)
    if (rate.count() % unit.worth == 0 && rate.count() != 0) {
      auto text = fmt::format("{}{}", rate.count() / unit.worth, unit.name);
      if (text.size() < shortest.size()) shortest = std::move(text);
    }
  return shortest;
}

}  // namespace tenex
