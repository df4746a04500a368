// Building blocks for entries of settings: functions that set, reset and print a field of a point, given its accessor.
//
// An accessor is a lambda without captures that works on points under construction (PointDraft) and on finished ones
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
#include "tenex/design/faults.hpp"
#include "tenex/design/setting.hpp"

namespace tenex {

/// A point that is being built or normalised. Its collective and training parts are both there: a row has values for
/// both, and the part that the point does not run gets defaults.
struct PointDraft {
  DesignPoint& point;
  CollectivePoint& collective;
  TrainingPoint& training;
};

/// A finished point for reading; the part that it does not run has defaults.
struct PointView {
  const DesignPoint& point;
  const CollectivePoint& collective;
  const TrainingPoint& training;
  bool trains = false;
};
[[nodiscard]] PointView view_of(const DesignPoint& point);
/// Whether points of this kind have the key.
[[nodiscard]] inline bool has_key(const Setting& setting, bool trains) {
  return setting.read_by != (trains ? ReadBy::collectives : ReadBy::training);
}

/// Why points that train do not have a key of collectives.
inline constexpr std::string_view kSaidByCollectiveTime = "the key collective_time says how its collectives are timed";

/// Whether the point runs a textbook algorithm, or tries them.
[[nodiscard]] inline bool is_textbook(const PointView& view) {
  const auto family = view.point.family;
  return family == AlgorithmFamily::textbook || family == AlgorithmFamily::any_textbook ||
         family == AlgorithmFamily::unknown;
}

/// A point with only defaults.
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
inline std::string printed(const RouteChoice& routes) { return to_string(routes); }
inline std::string printed(const NpuChoice& npu) { return to_string(npu); }
inline std::string printed(const SwitchBuffer& buffer) { return to_string(buffer); }
inline std::string printed(const GoodEnough& share) { return to_string(share); }
inline std::string printed(const EpochChoice& epoch) { return to_string(epoch); }
inline std::string printed(const Priorities& priorities) { return to_string(priorities); }
inline std::string printed(const Stragglers& stragglers) { return to_string(stragglers); }
inline std::string printed(const NetworkFaults& faults) { return to_string(faults); }
inline std::string printed(const Groups& groups) { return std::string(groups.text()); }
inline std::string printed(const TrafficMatrix& matrix) { return std::string(matrix.text()); }
inline std::string printed(const ConditionList& list) { return std::string(list.text()); }
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

/// `Data` is the type of the parsed value.
template <auto Field, class Data = TypeOf<Field>>
void set(const PointDraft& draft, const SettingValue& value) {
  Field(draft) = static_cast<TypeOf<Field>>(value.as<Data>());
}
template <auto Field>
void reset(const PointDraft& draft) {
  Field(draft) = Field(plain_point());
}
/// Empty if the value is the default.
template <auto Field>
std::string unless_default(const PointView& view) {
  return Field(view) == Field(plain_point()) ? std::string() : printed(Field(view));
}
template <auto Field>
std::string always(const PointView& view) {
  return printed(Field(view));
}

/// A column for points for which `Has` holds; the others get "" and -1.
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

/// The value in each dimension of the point's shape, or each level of its family, also if a single quantity stands for
/// all. Machine files have none.
template <class T>
std::vector<std::int64_t> per_dimension(const PointView& view, const std::vector<T>& quantities) {
  std::vector<std::int64_t> list;
  for (const T& each : quantities) list.push_back(each.count());
  if (list.size() == 1) list.resize(view.point.topology.shape.dimensions(), list.front());
  return list;
}

// Predicates that say which points read a key.
[[nodiscard]] bool runs_collective(const PointView& view);
[[nodiscard]] bool trains(const PointView& view);
/// Whether the point runs a collective, or trains with collectives that are simulated (or synthesized) with its
/// settings.
[[nodiscard]] bool simulates(const PointView& view);
[[nodiscard]] bool synthesizes(const PointView& view);
/// Whether the point trains in several stages.
[[nodiscard]] bool has_stages(const PointView& view);
/// Whether the point simulates a collective, or the messages between stages.
[[nodiscard]] bool uses_links(const PointView& view);
/// Whether the point trains and a scheme chooses the bandwidths.
[[nodiscard]] bool chooses_bandwidth(const PointView& view);

/// A value at a node, with no data yet.
[[nodiscard]] SettingValue value_at(const Node& node);

// Parsers.
/// "0.5us, 1us": one quantity per dimension.
[[nodiscard]] Result<SettingValue> parse_times(const Setting&, std::string_view, const Node&, ValueContext&);
[[nodiscard]] Result<SettingValue> parse_bandwidths(const Setting&, std::string_view, const Node&, ValueContext&);
[[nodiscard]] Result<SettingValue> parse_size(const Setting&, std::string_view, const Node&, ValueContext&);
/// Integers within the entry's bounds.
[[nodiscard]] Result<SettingValue> parse_number(const Setting&, std::string_view, const Node&, ValueContext&);
[[nodiscard]] Result<SettingValue> parse_flag(const Setting&, std::string_view, const Node&, ValueContext&);
/// A number, or the entry's fallback as a word, which stands for `Absent`.
template <auto Absent>
Result<SettingValue> parse_number_or_word(const Setting& setting, std::string_view name, const Node& node,
                                          ValueContext& context);
/// Any text: the row's checks check it.
[[nodiscard]] Result<SettingValue> parse_text(const Setting&, std::string_view, const Node&, ValueContext&);
/// The index of the node's word among the entry's words.
[[nodiscard]] Result<std::size_t> parse_word(const Setting& setting, const Node& node);
/// A value of an enumeration; the entry's words are in its order.
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

/// The error of a text where a number or the entry's fallback belongs.
[[nodiscard]] Diagnostic refuse_word(const Setting& setting, std::string_view name, const Node& node);

template <auto Absent>
Result<SettingValue> parse_number_or_word(const Setting& setting, std::string_view name, const Node& node,
                                          ValueContext& context) {
  if (!node.is(NodeKind::string)) return parse_number(setting, name, node, context);
  if (node.text() != *setting.fallback) return refuse_word(setting, name, node);
  SettingValue value = value_at(node);
  value.data = std::int64_t{Absent};
  return value;
}

/// The errors if a node that must be a string is not one; for quantities they show how to write a unit.
[[nodiscard]] Diagnostics check_string(const Setting& setting, std::string_view name, const Node& node);

inline constexpr std::int64_t kMost32 = 0xFFFFFFFF;
inline constexpr std::int64_t kMost64 = 0x7FFFFFFFFFFFFFFF;

inline constexpr SettingColumn text_column() { return {SettingColumn::Kind::text}; }
inline constexpr SettingColumn integer_column(std::string_view units = {}) {
  return {SettingColumn::Kind::integer, units};
}
inline constexpr SettingColumn real_column(std::string_view units) { return {SettingColumn::Kind::real, units}; }
/// A column that only training points have, of a key that others read, too.
inline constexpr SettingColumn only_of_training(SettingColumn column) {
  column.training = true;
  return column;
}
inline constexpr SettingColumn list_column(std::string_view units = {}) { return {SettingColumn::Kind::list, units}; }

}  // namespace entry

// The entries by subject; settings() joins them.
[[nodiscard]] std::vector<Setting> network_settings();
[[nodiscard]] std::vector<Setting> switch_settings();
[[nodiscard]] std::vector<Setting> collective_settings();
[[nodiscard]] std::vector<Setting> algorithm_settings();
[[nodiscard]] Setting routes_setting();
[[nodiscard]] std::vector<Setting> training_settings();
[[nodiscard]] std::vector<Setting> iteration_settings();
[[nodiscard]] std::vector<Setting> codesign_settings();

}  // namespace tenex
