// Words of training keys: parsing, and the one spelling of each meaning.
#include "choice_words.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tenex/codesign/constraint.hpp"
#include "tenex/codesign/optimizer.hpp"
#include "tenex/workload/training.hpp"
#include "tenex/workload/workload_model.hpp"

namespace tenex {
namespace {

constexpr std::size_t kMostDimensions = 16;  // of the optimizer
constexpr double kHeaviest = 1e9;            // weight of a workload

/// One of a list of words.
Result<std::string> one_of(const std::vector<std::string_view>& known, std::string_view what, std::string_view text,
                           const Place& place) {
  if (std::find(known.begin(), known.end(), text) != known.end()) return std::string(text);
  const auto near = nearest_spelling(text, known);
  return input_error(place, fmt::format("unknown {} \"{}\"", what, text),
                     fmt::format("known are {}", fmt::join(known, ", ")),
                     near.empty() ? std::string() : fmt::format("did you mean \"{}\"?", near));
}

template <class Value>
Result<std::string> printed(const Result<Value>& value) {
  if (!value) return value.errors();
  return std::string(to_string(*value));
}

std::string bare(const Parallelization& degrees) {
  const auto text = to_string(degrees);  // HP-(m,n)
  return text.substr(4, text.size() - 5);
}

Result<std::string> canonical_hp(std::string_view text, const Place& place) {
  const auto degrees = parse_parallelization(text, place);
  if (!degrees) return degrees.errors();
  return bare(*degrees);
}

Result<std::string> canonical_compute(std::string_view text, const Place& place) {
  if (text == "shipped") return std::string(text);
  auto rate = parse_compute_rate(text, place);
  if (rate) return std::to_string(rate->count());
  auto errors = rate.errors();
  for (auto& error : errors) error.suggestion = "write \"shipped\", or a rate such as \"234TFLOPS\"";
  return errors;
}

Result<std::string> canonical_in_network(std::string_view text, const Place& place) {
  const auto flags = parse_dimension_list(text, place);
  if (!flags) return flags.errors();
  std::string list;
  for (std::size_t dimension = 0; dimension < flags->size(); ++dimension)
    if ((*flags)[dimension]) list += fmt::format("{}{}", list.empty() ? "" : ",", dimension + 1);
  return list.empty() ? "none" : list;
}

Result<std::string> canonical_optimize_for(std::string_view text, const Place& place) {
  if (text.empty()) return std::string();
  const auto entries = parse_optimize_for(text, place);
  if (!entries) return entries.errors();
  std::string list;
  for (const auto& entry : *entries)
    list += fmt::format("{}{} {} x{}", list.empty() ? "" : "; ", entry.name, to_string(entry.degrees), entry.weight);
  return list;
}

Result<std::string> canonical_split(std::string_view text, const Place& place) {
  if (text.empty()) return std::string();
  auto shares = parse_shares(text, place);
  if (!shares) return shares.errors();
  std::int64_t common = 0;
  for (const auto share : *shares) common = std::gcd(common, share);
  for (auto& share : *shares) share /= common;
  return fmt::format("{}", fmt::join(*shares, ":"));
}

/// Prices that make every word of a constraint readable: whether a shape has this dimension is checked with the shape.
CostRates any_rates() { return {std::vector<Money>(kMostDimensions, dollars(1))}; }

Result<std::string> canonical_constraints(std::string_view text, const Place& place) {
  if (text == "none") return std::string();
  const auto rates = any_rates();
  std::string list;
  Diagnostics errors;
  for (const auto& [part, offset] : split_text(text, ';')) {
    if (part.empty()) continue;
    if (auto parsed = parse_constraint(part, {kMostDimensions, &rates}, shifted(place, offset)); !parsed)
      append(errors, parsed.errors());
    if (!list.empty()) list += "; ";
    for (const char letter : part)
      if (letter != ' ' || list.back() != ' ') list += letter == '\t' ? ' ' : letter;
  }
  if (!errors.empty()) return errors;
  return list;
}

Result<std::string> canonical_cost_budget(std::string_view text, const Place& place) {
  if (text == "none") return std::string();
  if (text.empty()) return std::string();
  const auto budget = parse_money(text, place);
  if (!budget) return budget.errors();
  return std::to_string(budget->count());
}

Result<std::string> canonical_dimension_kinds(std::string_view text, const Place& place) {
  const auto kinds = parse_dimension_kinds(text, place);
  if (!kinds) return kinds.errors();
  std::string list;
  for (const auto kind : *kinds) list += (list.empty() ? "" : ",") + std::string(to_string(kind));
  return list.empty() ? "auto" : list;
}

using Canonical = Result<std::string> (*)(std::string_view, const Place&);
struct KeyRule {
  std::string_view key;
  Canonical canonical;
};

constexpr std::array kRules{
    KeyRule{"hp", canonical_hp},
    KeyRule{"compute", canonical_compute},
    KeyRule{"training_loop",
            [](std::string_view text, const Place& at) { return printed(parse_training_loop(text, at)); }},
    KeyRule{"batch_rule", [](std::string_view text, const Place& at) { return printed(parse_batch_rule(text, at)); }},
    KeyRule{"collective_time",
            [](std::string_view text, const Place& at) {
              return one_of({kTimingModels.begin(), kTimingModels.end()}, "collective time model", text, at);
            }},
    KeyRule{"contention",
            [](std::string_view text, const Place& at) {
              return one_of({"none", "links"}, "contention", text, at);
            }},
    KeyRule{"in_network", canonical_in_network},
    KeyRule{"scheme",
            [](std::string_view text, const Place& at) {
              return one_of({"given", "equal", "perf_opt", "perf_per_cost"}, "scheme", text, at);
            }},
    KeyRule{"optimize_with",
            [](std::string_view text, const Place& at) {
              return one_of({"auto", "libra", "libra_derated"}, "model to optimize with", text, at);
            }},
    KeyRule{"optimize_for", canonical_optimize_for},
    KeyRule{"split", canonical_split},
    KeyRule{"constraints", canonical_constraints},
    KeyRule{"cost_budget", canonical_cost_budget},
    KeyRule{"price_level", [](std::string_view text, const Place& at) { return printed(parse_price_level(text, at)); }},
    KeyRule{"dimension_kinds", canonical_dimension_kinds},
};

/// A weight "x2", "x0.5"; nullopt-like 0 where it is none.
double weight_of(std::string_view word) {
  double weight = 0;
  const auto [end, error] =
      std::from_chars(word.data() + 1, word.data() + word.size(), weight, std::chars_format::fixed);
  const bool whole = error == std::errc() && end == word.data() + word.size();
  return whole && weight > 0 && weight <= kHeaviest ? weight : 0;
}

Result<WeightedWorkload> parse_weighted(std::string_view text, const Place& place) {
  const auto refuse = [&](std::uint32_t offset, std::string problem, std::string why) {
    return input_error(shifted(place, offset), std::move(problem), std::move(why),
                       "write \"gpt3 HP-(16,256); msft_1t HP-(128,32) x2\"");
  };
  const auto begin = text.rfind("HP-(");
  const auto end = begin == std::string_view::npos ? begin : text.find(')', begin);
  if (end == std::string_view::npos)
    return refuse(0, fmt::format("\"{}\" says no parallelization", text), "a workload is laid out as HP-(m,n)");
  const auto degrees =
      parse_parallelization(text.substr(begin, end + 1 - begin), shifted(place, static_cast<std::uint32_t>(begin)));
  if (!degrees) return degrees.errors();
  const auto name = split_text(text.substr(0, begin), ';').front().text;
  if (name.empty() || name.find(' ') != std::string_view::npos)
    return refuse(0, fmt::format("\"{}\" names no workload", text), "a name, or a path without spaces, comes first");
  const auto rest = split_text(text.substr(end + 1), ';').front();
  if (rest.text.empty()) return WeightedWorkload{std::string(name), *degrees, 1};
  const double weight = rest.text.front() == 'x' ? weight_of(rest.text) : 0;
  if (weight == 0)
    return refuse(static_cast<std::uint32_t>(end + 1) + rest.offset, fmt::format("\"{}\" is no weight", rest.text),
                  "a weight is x and a positive number up to 1e9");
  return WeightedWorkload{std::string(name), *degrees, weight};
}

}  // namespace

Result<TimingModel> parse_timing_model(std::string_view text, const Place& place) {
  const std::vector<std::string_view> names(kTimingModels.begin(), kTimingModels.end());
  const auto known = one_of(names, "collective time model", text, place);
  if (!known) return known.errors();
  return static_cast<TimingModel>(std::find(names.begin(), names.end(), text) - names.begin());
}

Result<std::string> canonical_training_word(std::string_view key, std::string_view text, const Place& place) {
  const auto rule = std::find_if(kRules.begin(), kRules.end(), [&](const KeyRule& each) { return each.key == key; });
  ensure(rule != kRules.end(), "a training key that has no words");
  return rule->canonical(text, place);
}

Result<std::vector<WeightedWorkload>> parse_optimize_for(std::string_view text, const Place& place) {
  std::vector<WeightedWorkload> entries;
  Diagnostics errors;
  for (const auto& [part, offset] : split_text(text, ';')) {
    if (part.empty()) continue;
    auto entry = parse_weighted(part, shifted(place, offset));
    if (entry)
      entries.push_back(*std::move(entry));
    else
      append(errors, entry.errors());
  }
  if (!errors.empty()) return errors;
  return entries;
}

Result<std::vector<bool>> parse_dimension_list(std::string_view text, const Place& place) {
  std::vector<bool> flags;
  if (text == "none") return flags;
  for (const auto& [part, offset] : split_text(text, ',')) {
    std::size_t dimension = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), dimension);
    if (error != std::errc() || end != part.data() + part.size() || dimension < 1 || dimension > 64)
      return input_error(shifted(place, offset), fmt::format("\"{}\" is no dimension", part), "dimensions count from 1",
                         "write \"none\", or dimensions such as \"1,4\"");
    if (flags.size() < dimension) flags.resize(dimension);
    flags[dimension - 1] = true;
  }
  return flags;
}

Result<std::vector<std::int64_t>> parse_shares(std::string_view text, const Place& place) {
  constexpr std::int64_t largest = 1'000'000'000'000;  // so that a handful of them add up
  std::vector<std::int64_t> shares;
  for (const auto& [part, offset] : split_text(text, ':')) {
    std::int64_t share = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), share);
    if (error != std::errc() || end != part.data() + part.size() || share < 1 || share > largest)
      return input_error(shifted(place, offset), fmt::format("\"{}\" is no share of bandwidth", part),
                         "a share is a whole number from 1 to 1e12", "write one per dimension: \"4:2:1:1\"");
    shares.push_back(share);
  }
  return shares;
}

std::vector<Bandwidth> share_out(Bandwidth total, const std::vector<std::int64_t>& shares) {
  __extension__ using Wide = __int128;
  const auto sum = std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
  std::vector<Bandwidth> parts;
  parts.reserve(shares.size());
  auto left = total.count();
  for (const auto share : shares) {
    const auto part = static_cast<std::int64_t>(static_cast<Wide>(total.count()) * share / sum);
    parts.push_back(Bandwidth::of(part));
    left -= part;
  }
  for (auto part = parts.begin(); left > 0; ++part, --left) *part += bytes_per_second(1);
  return parts;
}

Result<std::vector<DimensionKind>> parse_dimension_kinds(std::string_view text, const Place& place) {
  std::vector<DimensionKind> kinds;
  if (text == "auto") return kinds;
  Diagnostics errors;
  for (const auto& [part, offset] : split_text(text, ',')) {
    const auto kind = parse_dimension_kind(part, shifted(place, offset));
    if (kind)
      kinds.push_back(*kind);
    else
      append(errors, kind.errors());
  }
  if (!errors.empty()) return errors;
  return kinds;
}

std::vector<WordPart> split_text(std::string_view text, char separator) {
  std::vector<WordPart> parts;
  std::uint32_t column = 0;  // continuation bytes of UTF-8 are no columns
  for (bool more = true; more;) {
    const auto at = text.find(separator);
    more = at != std::string_view::npos;
    auto part = text.substr(0, at);
    auto offset = column;
    for (const char letter : text.substr(0, more ? at + 1 : at))
      column += (static_cast<unsigned char>(letter) & 0xC0U) != 0x80U ? 1 : 0;
    while (!part.empty() && (part.front() == ' ' || part.front() == '\t')) part.remove_prefix(1), ++offset;
    while (!part.empty() && (part.back() == ' ' || part.back() == '\t')) part.remove_suffix(1);
    parts.push_back({part, offset});
    if (more) text.remove_prefix(at + 1);
  }
  return parts;
}

Place shifted(const Place& place, std::uint32_t characters) {
  auto moved = place;
  if (place.column > 0) moved.column += characters;
  return moved;
}

}  // namespace tenex
