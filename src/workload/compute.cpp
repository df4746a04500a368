// Rates of computation from and to text, and work over rate in exact integers.
#include "tenex/workload/compute.hpp"

#include <array>
#include <limits>

#include <fmt/core.h>

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

constexpr std::string_view kRule = "a compute rate is a positive number and a unit, for instance \"234TFLOPS\"";

Diagnostic refuse(std::string_view text, const Place& place, std::string why) {
  return input_error(place, fmt::format("\"{}\" is no compute rate", text), std::move(why));
}

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

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
  std::size_t at = 0;
  Wide digits = 0;
  Wide scale = 1;  // 10 to the number of digits after the point
  bool point = false;
  bool any = false;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !point)); ++at) {
    if (text[at] == '.') {
      point = true;
      continue;
    }
    any = true;
    digits = digits * 10 + static_cast<Wide>(text[at] - '0');
    if (point) scale *= 10;
    if (digits > static_cast<Wide>(kLargest) || scale > static_cast<Wide>(kLargest))
      return refuse(text, place, "the number has too many digits");
  }
  if (!any) return refuse(text, place, std::string(kRule));
  const auto unit = text.substr(at);
  for (const auto& known : kRateUnits) {
    if (unit != known.name) continue;
    const Wide amount = digits * static_cast<Wide>(known.worth);
    if (amount == 0) return refuse(text, place, "a compute rate is positive");
    if (amount % scale != 0) return refuse(text, place, "it is not a whole number of FLOP per second");
    if (amount / scale > static_cast<Wide>(kLargest)) return refuse(text, place, "it is beyond 9.2e18 FLOP per second");
    return ComputeRate::of(static_cast<std::int64_t>(amount / scale));
  }
  return refuse(text, place, std::string(kRule));
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
