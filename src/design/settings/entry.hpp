// What entries of settings are made of: how a field of a point is set, reset and printed, given a way to reach it.
//
// A field is reached by a lambda without captures that serves points as they are built (PointDraft) and as they are
// (PointView), for instance [](auto& point) -> auto& { return point.point.chunks; }.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "design/canonical.hpp"
#include "design/setting_value.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/design/setting.hpp"

namespace tenex {

/// A point that is being built or normalised. What it runs stands apart: a row has values of both kinds, and what the
/// point does not read gets its default.
struct PointDraft {
  DesignPoint& point;
  CollectivePoint& collective;
  TrainingPoint& training;
};

/// A point that is read; what it does not run has defaults.
struct PointView {
  const DesignPoint& point;
  const CollectivePoint& collective;
  const TrainingPoint& training;
  bool trains = false;
};
[[nodiscard]] PointView view_of(const DesignPoint& point);
/// Whether a point of this kind has the key at all.
[[nodiscard]] inline bool has_key(const Setting& setting, bool trains) {
  return setting.read_by != (trains ? ReadBy::collectives : ReadBy::training);
}

/// A point with nothing but defaults.
[[nodiscard]] const PointView& plain_point();

namespace entry {

inline std::string printed(const std::string& text) { return text; }
template <class Unit>
std::string printed(Quantity<Unit> quantity) {
  return fmt::format_int(quantity.count()).c_str();
}
inline std::string printed(bool value) { return value ? "true" : "false"; }
template <class Integer>
requires std::is_integral_v<Integer> std::string printed(Integer value) { return fmt::format_int(value).c_str(); }
template <class T>
std::string printed(const std::vector<T>& quantities) {
  return comma_list(quantities);
}
inline std::string printed(const LinkPairs& pairs) { return text_of_pairs(pairs); }
inline std::string printed(const Stragglers& stragglers) { return to_string(stragglers); }
inline std::string printed(const Groups& groups) { return std::string(groups.text()); }
/// "B1 + B2 = 500GB/s; B1 >= B2", with single spaces.
[[nodiscard]] std::string printed(const std::vector<Constraint>& constraints);
/// "16,256".
[[nodiscard]] std::string printed(const Parallelization& degrees);
template <class Word>
requires std::is_enum_v<Word> std::string printed(Word word) { return std::string(to_string(word)); }

/// The words of an enumeration up to its last value, in its order.
template <auto Last>
std::span<const std::string_view> words_to() {
  static const auto words = [] {
    std::array<std::string_view, static_cast<std::size_t>(Last) + 1> list;
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = to_string(static_cast<decltype(Last)>(i));
    return list;
  }();
  return words;
}

template <auto Field>
using TypeOf = std::remove_cvref_t<decltype(Field(std::declval<const PointDraft&>()))>;

/// Data is what the parsed value holds.
template <auto Field, class Data = TypeOf<Field>>
void set(const PointDraft& draft, const SettingValue& value) {
  Field(draft) = static_cast<TypeOf<Field>>(value.as<Data>());
}
template <auto Field>
void reset(const PointDraft& draft) {
  Field(draft) = Field(plain_point());
}
/// Empty at the default.
template <auto Field>
std::string unless_default(const PointView& view) {
  return Field(view) == Field(plain_point()) ? std::string() : printed(Field(view));
}
template <auto Field>
std::string always(const PointView& view) {
  return printed(Field(view));
}

/// A column of points for which `Has` holds; "" and -1 of the others.
template <auto Field, bool (*Has)(const PointView&)>
std::string text_if(const PointView& view) {
  return Has(view) ? printed(Field(view)) : std::string();
}
template <auto Field, bool (*Has)(const PointView&)>
std::int64_t integer_if(const PointView& view) {
  if (!Has(view)) return -1;
  if constexpr (requires { Field(view).count(); })
    return Field(view).count();
  else
    return static_cast<std::int64_t>(Field(view));
}

/// What holds in each dimension of the point's shape, where a single quantity stands for all. Machine files have no
/// dimensions.
template <class T>
std::vector<std::int64_t> per_dimension(const PointView& view, const std::vector<T>& quantities) {
  std::vector<std::int64_t> list;
  for (const T& each : quantities) list.push_back(each.count());
  if (list.size() == 1) list.resize(view.point.topology.shape.blocks.size(), list.front());
  return list;
}

// Which points read what.
[[nodiscard]] bool runs_collective(const PointView& view);
[[nodiscard]] bool trains(const PointView& view);
/// Runs a collective, or trains with collectives that are simulated (or synthesized) with the point's settings.
[[nodiscard]] bool simulates(const PointView& view);
[[nodiscard]] bool synthesizes(const PointView& view);
/// Trains, and a scheme chooses the bandwidths.
[[nodiscard]] bool chooses_bandwidth(const PointView& view);

/// A value at a node, without its data.
[[nodiscard]] SettingValue value_at(const Node& node);

// Parsers.
/// "0.5us, 1us": one quantity per dimension.
[[nodiscard]] Result<SettingValue> parse_times(const Setting&, std::string_view, const Node&, ValueContext&);
[[nodiscard]] Result<SettingValue> parse_bandwidths(const Setting&, std::string_view, const Node&, ValueContext&);
[[nodiscard]] Result<SettingValue> parse_size(const Setting&, std::string_view, const Node&, ValueContext&);
/// Whole numbers within the entry's bounds.
[[nodiscard]] Result<SettingValue> parse_number(const Setting&, std::string_view, const Node&, ValueContext&);
[[nodiscard]] Result<SettingValue> parse_flag(const Setting&, std::string_view, const Node&, ValueContext&);
/// Any text: it is checked with the row.
[[nodiscard]] Result<SettingValue> parse_text(const Setting&, std::string_view, const Node&, ValueContext&);
/// Which of the entry's words it is.
[[nodiscard]] Result<std::size_t> parse_word(const Setting& setting, const Node& node);
/// A value of an enumeration, whose words in its order are the entry's.
template <class Word>
Result<SettingValue> parse_choice(const Setting& setting, std::string_view, const Node& node, ValueContext&) {
  const Result<std::size_t> number = parse_word(setting, node);
  if (!number) return number.errors();
  SettingValue value = value_at(node);
  value.data = static_cast<Word>(*number);
  return value;
}
/// A text that `Parse`(text, place) reads.
template <auto Parse>
Result<SettingValue> parse_with(const Setting&, std::string_view, const Node& node, ValueContext&) {
  auto parsed = Parse(node.text(), node.text_place());
  if (!parsed) return parsed.errors();
  SettingValue value = value_at(node);
  value.data = *std::move(parsed);
  return value;
}

/// What is wrong with the kind of a node that must be a string, if anything; of quantities it shows how to write a
/// unit.
[[nodiscard]] Diagnostics check_string(const Setting& setting, std::string_view name, const Node& node);

inline constexpr std::int64_t kMost32 = 0xFFFFFFFF;
inline constexpr std::int64_t kMost64 = 0x7FFFFFFFFFFFFFFF;

inline constexpr SettingColumn text_column() { return {SettingColumn::Kind::text}; }
inline constexpr SettingColumn integer_column(std::string_view units = {}) {
  return {SettingColumn::Kind::integer, units};
}
inline constexpr SettingColumn real_column(std::string_view units) { return {SettingColumn::Kind::real, units}; }
inline constexpr SettingColumn list_column(std::string_view units = {}) { return {SettingColumn::Kind::list, units}; }

}  // namespace entry

// The entries, by what they are about; settings() joins them.
[[nodiscard]] std::vector<Setting> network_settings();
[[nodiscard]] std::vector<Setting> collective_settings();
[[nodiscard]] std::vector<Setting> algorithm_settings();
[[nodiscard]] std::vector<Setting> training_settings();
[[nodiscard]] std::vector<Setting> codesign_settings();

}  // namespace tenex
