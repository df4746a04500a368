// Amounts of money to text and back, exactly.
#include <algorithm>
#include <array>
#include <string>

#include <fmt/core.h>

#include "tenex/base/decimal.hpp"
#include "tenex/base/units.hpp"

namespace tenex {
namespace {

constexpr std::int64_t kPerDollar = 1'000'000;

struct DollarUnit {
  std::string_view name;
  std::int64_t millionths;
};
constexpr std::array kUnits{DollarUnit{"USD", kPerDollar}, DollarUnit{"KUSD", kPerDollar * 1'000},
                            DollarUnit{"MUSD", kPerDollar * 1'000'000}, DollarUnit{"GUSD", kPerDollar * 1'000'000'000}};

}  // namespace

std::string to_string(Money amount) {
  const bool negative = amount.count() < 0;
  const auto magnitude = negative ? std::uint64_t{0} - static_cast<std::uint64_t>(amount.count())
                                  : static_cast<std::uint64_t>(amount.count());
  std::string whole = fmt::format("{}", magnitude / kPerDollar);
  for (std::size_t at = whole.size(); at > 3; at -= 3) whole.insert(at - 3, ",");
  std::string fraction;
  if (magnitude % kPerDollar != 0) {
    fraction = fmt::format(".{:06}", magnitude % kPerDollar);
    fraction.erase(fraction.find_last_not_of('0') + 1);
  }
  return fmt::format("{}${}{}", negative ? "-" : "", whole, fraction);
}

Result<Money> parse_money(std::string_view text, const Place& place) {
  const auto refuse = [&](std::string why) {
    return input_error(place, fmt::format("\"{}\" is no amount of money", text), std::move(why),
                       "write for instance \"$1,722\" or \"15MUSD\"");
  };
  std::int64_t millionths = kPerDollar;
  std::string_view number = text;
  if (number.starts_with('$')) {
    number.remove_prefix(1);
  } else {
    const std::size_t end = std::min(number.find_last_of("0123456789"), number.size() - 1) + 1;
    const std::string_view unit = number.substr(std::min(end, number.size()));
    const auto* known = std::find_if(kUnits.begin(), kUnits.end(), [&](const auto& one) { return one.name == unit; });
    if (known == kUnits.end())
      return refuse(unit.empty() ? std::string("it has no unit")
                                 : fmt::format("\"{}\" is not one of USD, KUSD, MUSD, GUSD", unit));
    millionths = known->millionths;
    number = number.substr(0, end);
  }
  const auto decimal = read_decimal(number, true);
  if (!decimal) return refuse("digits with an optional point belong here, in at most 63 bits");
  const auto amount = decimal->times(millionths);
  if (!amount) return refuse("it is no whole number of millionths of a dollar, or does not fit in 63 bits");
  return Money::of(*amount);
}

}  // namespace tenex
