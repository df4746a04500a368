// Quantities from and to text.
//
// A decimal amount "I.F" of a unit worth u base units is I*u + F*u/10^digits. The fraction is multiplied digit by digit
// from the right, as on paper. The carry past the point is the whole part; a digit other than 0 left behind the point
// means that the amount is not a whole number of base units. Exact for any length, with no floating point.
#include "tenex/base/units.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include <fmt/core.h>

#include "tenex/base/decimal.hpp"
#include "tenex/base/words.hpp"

namespace tenex {

namespace {

struct UnitName {
  std::string_view name;
  std::int64_t worth;  // in base units
  bool rounded;        // used by the rounded output (decimal units only)
};

constexpr std::array kTimeUnits{UnitName{"ps", 1, true}, UnitName{"ns", 1'000, true}, UnitName{"us", 1'000'000, true},
                                UnitName{"ms", 1'000'000'000, true}, UnitName{"s", 1'000'000'000'000, true}};

constexpr std::array kSizeUnits{
    UnitName{"B", 1, true},
    UnitName{"KB", 1'000, true},
    UnitName{"MB", 1'000'000, true},
    UnitName{"GB", 1'000'000'000, true},
    UnitName{"TB", 1'000'000'000'000, true},
    UnitName{"KiB", std::int64_t{1} << 10, false},
    UnitName{"MiB", std::int64_t{1} << 20, false},
    UnitName{"GiB", std::int64_t{1} << 30, false},
    UnitName{"TiB", std::int64_t{1} << 40, false},
};

/// How data sheets of network cards state bandwidths: 8 bits are a byte, and the powers are of 1000.
constexpr std::array kBitRates{UnitName{"Kb", 125, false}, UnitName{"Mb", 125'000, false},
                               UnitName{"Gb", 125'000'000, false}, UnitName{"Tb", 125'000'000'000, false}};

/// One kind of quantity: what to call it and how its unit is spelled.
struct Family {
  std::string_view noun;     // "time"
  std::string_view example;  // a unit to show
  std::string_view base;     // what it must be a whole number of
  std::string_view suffix;   // after each unit's name
  std::span<const UnitName> units;
};

constexpr Family kTime{"time", "us", "picoseconds", "", kTimeUnits};
constexpr Family kSize{"size", "MiB", "bytes", "", kSizeUnits};
constexpr Family kRate{"bandwidth", "GB/s", "bytes per second", "/s", kSizeUnits};

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

std::string_view take_digits(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && is_digit(text[length])) ++length;
  const std::string_view digits = text.substr(0, length);
  text.remove_prefix(length);
  return digits;
}

/// "µs" as "us": with the micro sign (U+00B5) or the Greek letter mu (U+03BC), which look alike.
std::string with_plain_micro(std::string_view unit) {
  for (const std::string_view micro : {"\xC2\xB5", "\xCE\xBC"})
    if (unit.starts_with(micro)) return fmt::format("u{}", unit.substr(micro.size()));
  return std::string(unit);
}

/// The unit of bits that "Gb/s", "Gbps" or "Gbit/s" spells; null: it is none.
const UnitName* find_bit_rate(std::string_view written) {
  for (const UnitName& unit : kBitRates)
    for (const std::string_view ending : {"/s", "ps", "it/s"})
      if (written.starts_with(unit.name) && written.substr(unit.name.size()) == ending) return &unit;
  return nullptr;
}

const UnitName* find_unit(const Family& family, std::string_view written) {
  if (&family == &kRate)
    if (const UnitName* bits = find_bit_rate(written)) return bits;
  const std::string plain = with_plain_micro(written);
  std::string_view text = plain;
  if (text.size() < family.suffix.size() || text.substr(text.size() - family.suffix.size()) != family.suffix) {
    return nullptr;
  }
  text.remove_suffix(family.suffix.size());
  const auto found =
      std::find_if(family.units.begin(), family.units.end(), [&](const UnitName& unit) { return unit.name == text; });
  return found == family.units.end() ? nullptr : &*found;
}

std::vector<std::string_view> views(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

std::string unit_list(const Family& family) {
  std::string list;
  for (const UnitName& unit : family.units) {
    if (!list.empty()) list += ", ";
    list += fmt::format("{}{}", unit.name, family.suffix);
  }
  return list;
}

/// Whether the unit counts bits ("400Gb/s", "100Gbps"). The nearest unit would be wrong by a factor of 8.
bool means_bits(std::string_view unit) {
  const auto is = [&](std::string_view ending) {
    return unit.size() >= ending.size() && unit.substr(unit.size() - ending.size()) == ending;
  };
  return is("b") || is("b/s") || is("bps") || is("bit") || is("bit/s") || is("bits") || is("bits/s");
}

Diagnostic unknown_unit(const Family& family, std::string_view text, std::string_view unit, const Place& place) {
  for (const Family* other : {&kTime, &kSize, &kRate}) {
    if (other != &family && find_unit(*other, unit) != nullptr) {
      return input_error(place, fmt::format("\"{}\" is a {} where a {} belongs", text, other->noun, family.noun),
                         fmt::format("a {} is written with {}", family.noun, unit_list(family)));
    }
  }
  if (means_bits(unit)) {
    return input_error(place, fmt::format("\"{}\" counts bits where bytes belong", text),
                       fmt::format("a {} is written with {}", family.noun, unit_list(family)),
                       "divide by 8 and write a capital B");
  }
  std::vector<std::string> spellings;
  for (const UnitName& candidate : family.units)
    spellings.push_back(fmt::format("{}{}", candidate.name, family.suffix));
  return input_error(place, fmt::format("unknown unit \"{}\" in \"{}\"", unit, text),
                     fmt::format("a {} is written with {}", family.noun, unit_list(family)),
                     did_you_mean(unit, views(spellings)));
}

/// count/worth in decimal, exactly; every unit's worth has only factors 2 and 5, so the digits end.
std::string exact_decimal(std::uint64_t count, std::uint64_t worth) {
  std::string text = fmt::format("{}", count / worth);
  std::uint64_t rest = count % worth;
  if (rest != 0) text += '.';
  for (; rest != 0; rest = rest * 10 % worth) text += static_cast<char>('0' + rest * 10 / worth);
  return text;
}

/// The shortest text; among equally short ones a whole number, then the smaller unit.
std::string shortest(const Family& family, std::int64_t count) {
  const bool negative = count < 0;
  const std::uint64_t magnitude = negative ? 0U - static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count);
  std::string best;
  bool best_is_whole = false;
  for (const UnitName& unit : family.units) {
    const auto worth = static_cast<std::uint64_t>(unit.worth);
    const bool whole = magnitude % worth == 0;
    const std::string text = fmt::format("{}{}{}", exact_decimal(magnitude, worth), unit.name, family.suffix);
    const bool better =
        best.empty() || text.size() < best.size() || (text.size() == best.size() && whole && !best_is_whole);
    if (better) {
      best = text;
      best_is_whole = whole;
    }
  }
  return negative ? "-" + best : best;
}

/// What a number without a unit may mean: as many base units, in their shortest spelling too, or many of a usual unit.
std::string with_some_unit(const Family& family, std::string_view number) {
  constexpr std::int64_t kFew = 1000;           // few bytes: a larger unit was meant
  constexpr std::int64_t kSlowest = 1'000'000;  // no link has so few bytes per second
  const auto count = read_number<std::int64_t>(number);
  if (!count || &family == &kTime || (&family == &kRate && *count < kSlowest))
    return fmt::format("write for instance \"{}{}\"", number, family.example);
  const std::string base = fmt::format("{}{}{}", *count, family.units.front().name, family.suffix);
  const std::string other = *count < kFew ? fmt::format("{}{}", *count, family.example) : shortest(family, *count);
  return other == base ? fmt::format("write \"{}\"", base) : fmt::format("write \"{}\" or \"{}\"", base, other);
}

/// Digits before and after the point, and the unit.
struct Split {
  std::string_view whole;
  std::string_view fraction;
  const UnitName* unit = nullptr;
};

Result<Split> split(const Family& family, std::string_view text, const Place& place) {
  const auto rule = [&] { return fmt::format("a {} is a number and one of {}", family.noun, unit_list(family)); };
  if (text.empty()) return input_error(place, fmt::format("an empty text is no {}", family.noun), rule());
  std::string_view rest = text;
  if (rest.front() == '-' || rest.front() == '+') {
    return input_error(
        place, rest.front() == '-' ? fmt::format("\"{}\" is negative", text) : fmt::format("\"{}\" has a sign", text),
        fmt::format("a {} is written without a sign", family.noun),
        fmt::format("write \"{}\"", trimmed(rest.substr(1))));
  }
  Split parts;
  parts.whole = take_digits(rest);
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    parts.fraction = take_digits(rest);
    if (parts.whole.empty() || parts.fraction.empty()) {
      return input_error(place, fmt::format("\"{}\" needs digits on both sides of its point", text), rule());
    }
  }
  if (parts.whole.empty()) return input_error(place, fmt::format("\"{}\" is not a {}", text, family.noun), rule());
  const std::string_view number = text.substr(0, text.size() - rest.size());
  if (rest.empty()) {
    return input_error(place, fmt::format("\"{}\" has no unit", text), rule(), with_some_unit(family, number));
  }
  if (rest.front() == ' ' || rest.front() == '\t') {
    return input_error(place, fmt::format("\"{}\" has a space before its unit", text), rule(),
                       fmt::format("write \"{}{}\"", number, trimmed(rest)));
  }
  parts.unit = find_unit(family, rest);
  if (parts.unit == nullptr) return unknown_unit(family, text, rest, place);
  return parts;
}

/// I*u by Horner's rule; nothing on overflow.
std::optional<std::int64_t> multiply_whole(std::string_view digits, std::int64_t worth) {
  std::int64_t value = 0;
  for (const char digit : digits) {
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit - '0', &value)) return {};
  }
  if (__builtin_mul_overflow(value, worth, &value)) return {};
  return value;
}

/// F*u/10^digits; nothing when it is not a whole number.
std::optional<std::int64_t> multiply_fraction(std::string_view digits, std::int64_t worth) {
  std::int64_t carry = 0;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    const std::int64_t sum = (*digit - '0') * worth + carry;
    if (sum % 10 != 0) return {};
    carry = sum / 10;
  }
  return carry;
}

Result<std::int64_t> parse(const Family& family, std::string_view untrimmed, const Place& place) {
  const std::string_view text = trimmed(untrimmed);
  const Result<Split> parts = split(family, text, place);
  if (!parts) return parts.errors();
  const auto fraction = multiply_fraction(parts->fraction, parts->unit->worth);
  if (!fraction) {
    return input_error(place, fmt::format("\"{}\" is not a whole number of {}", text, family.base),
                       fmt::format("a {} is counted in {}", family.noun, family.base));
  }
  const auto whole = multiply_whole(parts->whole, parts->unit->worth);
  if (!whole || *whole > kLargest - *fraction) {
    return input_error(place, fmt::format("\"{}\" is too large", text),
                       fmt::format("a {} is at most {} {}", family.noun, kLargest, family.base));
  }
  return *whole + *fraction;
}

template <class T>
Result<AnyQuantity> widen(const Result<T>& quantity) {
  if (!quantity) return quantity.errors();
  return AnyQuantity(*quantity);
}

std::string rounded(const Family& family, double count) {
  if (!std::isfinite(count)) return fmt::format("{}", count);
  if (count == 0) return fmt::format("0{}{}", family.units.front().name, family.suffix);
  const UnitName* chosen = nullptr;
  double amount = 0;
  for (const UnitName& unit : family.units) {
    if (!unit.rounded) continue;
    const double scaled = count / static_cast<double>(unit.worth);
    // 0.9995 prints as 1 with three digits: so 999.6us is 1ms and never 1000us.
    if (chosen != nullptr && std::abs(scaled) < 0.9995) break;
    chosen = &unit;
    amount = scaled;
  }
  const std::string number = std::abs(amount) >= 999.5 ? fmt::format("{:.0f}", amount) : fmt::format("{:.3g}", amount);
  return fmt::format("{}{}{}", number, chosen->name, family.suffix);
}

}  // namespace

Result<SimTime> parse_time(std::string_view text, const Place& place) {
  const Result<std::int64_t> count = parse(kTime, text, place);
  if (!count) return count.errors();
  return SimTime::of(*count);
}

Result<Bytes> parse_bytes(std::string_view text, const Place& place) {
  const Result<std::int64_t> count = parse(kSize, text, place);
  if (!count) return count.errors();
  return Bytes::of(*count);
}

Result<Bandwidth> parse_bandwidth(std::string_view text, const Place& place) {
  const Result<std::int64_t> count = parse(kRate, text, place);
  if (!count) return count.errors();
  if (*count == 0) {
    return input_error(place, fmt::format("\"{}\" is zero", trimmed(text)), "a bandwidth is positive",
                       "leave out the link instead");
  }
  return Bandwidth::of(*count);
}

Result<AnyQuantity> parse_quantity(std::string_view text, const Place& place) {
  // The unit is what follows the number, and no two kinds share one.
  std::string_view unit = trimmed(text);
  if (unit.starts_with('$') || unit.ends_with("USD")) return widen(parse_money(unit, place));
  take_digits(unit);
  if (!unit.empty() && unit.front() == '.') unit.remove_prefix(1);
  take_digits(unit);
  if (find_unit(kTime, unit) != nullptr) return widen(parse_time(text, place));
  if (find_unit(kSize, unit) != nullptr) return widen(parse_bytes(text, place));
  if (find_unit(kRate, unit) != nullptr) return widen(parse_bandwidth(text, place));
  std::vector<std::string> spellings;
  for (const Family* family : {&kTime, &kSize, &kRate}) {
    for (const UnitName& known : family->units) spellings.push_back(fmt::format("{}{}", known.name, family->suffix));
  }
  return input_error(
      place, fmt::format("unknown unit \"{}\" in \"{}\"", unit, trimmed(text)),
      "units are those of times (us), sizes (KB, KiB; bytes, not bits), bandwidths (GB/s) and money (USD)",
      means_bits(unit) ? std::string() : did_you_mean(unit, views(spellings)));
}

std::string note_on_bits(std::string_view text) {
  std::string_view unit = trimmed(text);
  take_digits(unit);
  if (!unit.empty() && unit.front() == '.') unit.remove_prefix(1);
  take_digits(unit);
  if (find_bit_rate(unit) == nullptr) return {};
  const auto rate = parse_bandwidth(text);
  return rate ? fmt::format("{} is read as {} (8 bits are a byte)", trimmed(text), to_string(*rate)) : std::string();
}

std::string to_string(SimTime time) { return shortest(kTime, time.count()); }
std::string to_string(Bytes size) { return shortest(kSize, size.count()); }
std::string to_string(Bandwidth bandwidth) { return shortest(kRate, bandwidth.count()); }

std::string to_rounded(SimTime time) { return rounded(kTime, static_cast<double>(time.count())); }
std::string to_rounded_bytes(double size) { return rounded(kSize, size); }
std::string to_rounded_rate(double bytes_per_second) { return rounded(kRate, bytes_per_second); }

}  // namespace tenex
