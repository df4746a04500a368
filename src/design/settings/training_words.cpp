// The parsers of training keys. Files are named by path or are built-in ones.
#include "design/settings/training_words.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tenex/base/decimal.hpp"
#include "tenex/base/units.hpp"
#include "tenex/codesign/constraint.hpp"
#include "tenex/codesign/network_cost.hpp"
#include "tenex/codesign/region.hpp"

namespace tenex {

namespace entry {

namespace {

constexpr double kHeaviest = 1e9;  // largest weight of a workload

/// A part of a list without surrounding spaces, with its offset in characters.
struct WordPart {
  std::string_view text;
  std::uint32_t offset = 0;
};

std::vector<WordPart> split_text(std::string_view text, char separator) {
  std::vector<WordPart> parts;
  std::uint32_t column = 0;  // continuation bytes of UTF-8 do not count as columns
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

/// The place this many characters further on.
Place shifted(const Place& place, std::uint32_t characters) {
  auto moved = place;
  if (place.column > 0) moved.column += characters;
  return moved;
}

/// The word that the text is; nullopt for the word `absent`, which means that there is no value.
template <class Word>
Result<std::optional<Word>> one_of(std::initializer_list<Word> words, std::string_view absent, std::string_view what,
                                   std::string_view text, const Place& place) {
  if (text == absent) return std::optional<Word>();
  std::vector<std::string_view> known{absent};
  for (const Word word : words) {
    if (text == to_string(word)) return std::optional(word);
    known.push_back(to_string(word));
  }
  return unknown_word(text, what, known, place);
}

/// Adds the constraints of one text, separated by ";".
Diagnostics add_constraints(std::string_view text, const Place& place, std::vector<Constraint>& list) {
  if (text == "none") return {};
  Diagnostics errors;
  for (const auto& [part, offset] : split_text(text, ';')) {
    if (part.empty()) continue;
    auto constraint = parse_constraint(part, shifted(place, offset));
    if (constraint)
      list.push_back(*std::move(constraint));
    else
      append(errors, constraint.errors());
  }
  return errors;
}

/// A weight "x2", "x0.5"; nullopt if it is not one.
std::optional<double> weight_of(std::string_view word) {
  if (!word.starts_with('x')) return std::nullopt;
  double weight = 0;
  const auto [end, error] =
      std::from_chars(word.data() + 1, word.data() + word.size(), weight, std::chars_format::fixed);
  const bool whole = error == std::errc() && end == word.data() + word.size();
  return whole && weight > 0 && weight <= kHeaviest ? std::optional(weight) : std::nullopt;
}

/// "gpt3 HP-(16,256) x2" at `place`; `read`(name, its place) reads the file.
template <class Read>
Result<WeightedWorkload> weighted_workload(std::string_view text, const Place& place, const Read& read) {
  const auto refuse = [&](std::size_t offset, std::string problem, std::string why) {
    return input_error(shifted(place, static_cast<std::uint32_t>(offset)), std::move(problem), std::move(why),
                       "write \"gpt3 HP-(16,256); msft_1t HP-(128,32) x2\"");
  };
  const auto begin = text.rfind("HP-(");
  const auto end = begin == std::string_view::npos ? begin : text.find(')', begin);
  if (end == std::string_view::npos)
    return refuse(0, fmt::format("\"{}\" has no parallelization", text), "a workload is laid out as HP-(m,n)");
  const auto degrees =
      parse_parallelization(text.substr(begin, end + 1 - begin), shifted(place, static_cast<std::uint32_t>(begin)));
  if (!degrees) return degrees.errors();
  const auto name = split_text(text.substr(0, begin), ';').front().text;
  if (name.empty() || name.find(' ') != std::string_view::npos)
    return refuse(0, fmt::format("\"{}\" names no workload", text), "a name, or a path without spaces, comes first");
  const auto rest = split_text(text.substr(end + 1), ';').front();
  const auto weight = rest.text.empty() ? std::optional(1.0) : weight_of(rest.text);
  if (!weight)
    return refuse(end + 1 + rest.offset, fmt::format("\"{}\" is no weight", rest.text),
                  "a weight is x and a positive number up to 1e9");
  Result<NamedFile> file = read(std::string(name), place);
  if (!file) return file.errors();
  return WeightedWorkload{*std::move(file), *degrees, *weight};
}

}  // namespace

std::string printed(const Parallelization& degrees) {
  const auto text = to_string(degrees);  // HP-(m,n)
  return text.substr(4, text.size() - 5);
}

std::string printed(const std::vector<Constraint>& constraints) {
  std::string list;
  for (const auto& constraint : constraints) {
    if (!list.empty()) list += "; ";
    for (const char letter : constraint.text)
      if (letter != ' ' || list.back() != ' ') list += letter == '\t' ? ' ' : letter;
  }
  return list;
}

Result<SettingValue> parse_named_file(const Setting& setting, std::string_view, const Node& node,
                                      ValueContext& context) {
  Result<NamedFile> file = context.files.read_named(setting.name, node.text(), node.place());
  if (!file) return file.errors();
  SettingValue value = value_at(node);
  value.data = *std::move(file);
  return value;
}

Result<SettingValue> parse_total(const Setting&, std::string_view, const Node& node, ValueContext&) {
  const Result<Bandwidth> total = parse_bandwidth(node.text(), node.text_place());
  if (!total) return total.errors();
  SettingValue value = value_at(node);
  value.data = *total;
  value.expression = *total;
  return value;
}

Result<SettingValue> parse_budget(const Setting&, std::string_view, const Node& node, ValueContext&) {
  SettingValue value = value_at(node);
  value.expression = value.text;
  value.data = std::optional<Money>();
  if (node.text().empty() || node.text() == "none") return value;
  const Result<Money> budget = parse_money(node.text(), node.text_place());
  if (!budget) return budget.errors();
  value.expression = *budget;
  value.data = std::optional(*budget);
  return value;
}

Result<SettingValue> parse_degrees(const Setting&, std::string_view, const Node& node, ValueContext&) {
  const Result<Parallelization> degrees = parse_parallelization(node.text(), node.text_place());
  if (!degrees) return degrees.errors();
  SettingValue value = value_at(node);
  value.data = *degrees;
  value.expression = printed(*degrees);  // "HP-(16,256)" and "16,256" are the same parallelization
  return value;
}

Result<SettingValue> parse_workload_set(const Setting&, std::string_view, const Node& node, ValueContext& context) {
  std::vector<WeightedWorkload> set;
  Diagnostics errors;
  for (const auto& [part, offset] : split_text(node.text(), ';')) {
    if (part.empty()) continue;
    auto one = weighted_workload(
        part, shifted(node.text_place(), offset),
        [&](const std::string& name, const Place& place) { return context.files.read_named("workload", name, place); });
    if (one)
      set.push_back(*std::move(one));
    else
      append(errors, one.errors());
  }
  if (!errors.empty()) return errors;
  SettingValue value = value_at(node);
  value.data = std::move(set);
  return value;
}

Result<SettingValue> parse_constraints(const Setting&, std::string_view name, const Node& node, ValueContext&) {
  std::vector<Constraint> list;
  Diagnostics errors;
  const auto add = [&](const Node& one) {
    if (one.is(NodeKind::string)) return append(errors, add_constraints(one.text(), one.text_place(), list));
    errors.push_back(input_error(one.place(), fmt::format("an item of \"{}\" is {}", name, describe(one.kind())),
                                 "constraints are texts", "write for instance \"B1 >= B2\""));
  };
  if (node.is(NodeKind::array)) {
    for (const Node& item : node.items()) add(item);
  } else {
    add(node);
  }
  if (!errors.empty()) return errors;
  SettingValue value = value_at(node);
  if (node.is(NodeKind::array)) value.text = printed(list);
  value.expression = value.text;
  value.data = std::move(list);
  return value;
}

Result<std::optional<ComputeRate>> read_compute(std::string_view text, const Place& place) {
  if (text == "shipped") return std::optional<ComputeRate>();
  const auto rate = parse_compute_rate(text, place);
  if (rate) return std::optional(*rate);
  auto errors = rate.errors();
  for (auto& error : errors) error.suggestion = "write \"shipped\", or a rate such as \"234TFLOPS\"";
  return errors;
}

Result<BandwidthScheme> read_scheme(std::string_view text, const Place& place) {
  return one_of({SplitScheme::equal, SplitScheme::perf_opt, SplitScheme::perf_per_cost}, "given", "scheme", text,
                place);
}

Result<std::optional<TimingModel>> read_optimized_model(std::string_view text, const Place& place) {
  return one_of({TimingModel::libra, TimingModel::libra_derated}, "auto", "model to optimize with", text, place);
}

Result<std::vector<bool>> read_dimensions(std::string_view text, const Place& place) {
  std::vector<bool> flags;
  if (text == "none") return flags;
  for (const auto& [part, offset] : split_text(text, ',')) {
    const auto dimension = read_number<std::size_t>(part);
    if (!dimension || *dimension < 1 || *dimension > 64)
      return input_error(shifted(place, offset), fmt::format("\"{}\" is no dimension", part), "dimensions count from 1",
                         "write \"none\", or dimensions such as \"1,4\"");
    if (flags.size() < *dimension) flags.resize(*dimension);
    flags[*dimension - 1] = true;
  }
  return flags;
}

Result<std::vector<std::int64_t>> read_shares(std::string_view text, const Place& place) {
  constexpr std::int64_t largest = 1'000'000'000'000;  // so that a few of them can be added
  std::vector<std::int64_t> shares;
  if (text.empty()) return shares;
  std::int64_t common = 0;
  for (const auto& [part, offset] : split_text(text, ':')) {
    const auto share = read_number<std::int64_t>(part);
    if (!share || *share < 1 || *share > largest)
      return input_error(shifted(place, offset), fmt::format("\"{}\" is no share of bandwidth", part),
                         "a share is a whole number from 1 to 1e12", "write one per dimension: \"4:2:1:1\"");
    shares.push_back(*share);
    common = std::gcd(common, *share);
  }
  for (auto& share : shares) share /= common;
  return shares;
}

Result<std::vector<std::string>> read_dimension_kinds(std::string_view text, const Place& place) {
  std::vector<std::string> kinds;
  if (text == "auto") return kinds;
  Diagnostics errors;
  for (const auto& [part, offset] : split_text(text, ',')) {
    if (!is_kind_name(part))
      errors.push_back(input_error(shifted(place, offset), fmt::format("\"{}\" is no dimension kind", part),
                                   "a kind is named as in the cost model, by small letters, digits and _, and not auto",
                                   "write one per dimension: \"node, pod\""));
    else
      kinds.emplace_back(part);
  }
  if (!errors.empty()) return errors;
  return kinds;
}

}  // namespace entry

Result<SharedValue> default_cost_model(const Place& place, ValueContext& context) {
  constexpr const char* kDefault = "libra";
  if (!find_builtin(context.vocabulary.cost_models, kDefault)) return SharedValue();
  const Setting& setting = setting_of(Key::cost_model);
  Result<SettingValue> value =
      entry::parse_named_file(setting, setting.name, Node::make_string(place, kDefault, place), context);
  if (!value) return value.errors();
  return SharedValue(std::make_shared<const SettingValue>(*std::move(value)));
}

}  // namespace tenex
