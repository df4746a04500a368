// All settings, and the parsers that several entries share.
#include <algorithm>
#include <deque>
#include <functional>

#include <fmt/core.h>

#include "design/settings/entry.hpp"
#include "tenex/base/units.hpp"
#include "tenex/base/words.hpp"
#include "tenex/spec/table_reader.hpp"

namespace tenex {

const std::vector<Setting>& settings() {
  static std::deque<std::string> names;  // for columns whose names differ from their keys'
  static const std::vector<Setting> table = [] {
    std::vector<Setting> all;
    for (auto* const entries : {network_settings, switch_settings, collective_settings, algorithm_settings,
                                training_settings, codesign_settings, iteration_settings})
      for (Setting& each : entries()) {
        each.column.training = each.column.training || each.read_by == ReadBy::training;
        each.column.has_default = each.fallback.has_value();
        if (each.column.kind != SettingColumn::Kind::none)
          each.column.name =
              each.column.word_taken ? names.emplace_back(fmt::format("{}_setting", each.name)) : each.name;
        all.push_back(each);
      }
    std::ranges::sort(all, {}, &Setting::key);
    for (std::size_t i = 0; i < kKeyCount; ++i)
      ensure(i < all.size() && all[i].key == static_cast<Key>(i), "every key has one entry");
    for (const Setting& each : all) ensure(each.changes != Changes{}, "every key says what it changes");
    return all;
  }();
  return table;
}

const Setting& setting_of(Key key) { return settings()[index_of(key)]; }

const Setting* find_setting(std::string_view name) {
  const auto& table = settings();
  const auto found = std::ranges::find_if(
      table, [&](const Setting& each) { return name == each.name || (!each.alias.empty() && name == each.alias); });
  return found == table.end() ? nullptr : &*found;
}

PointView view_of(const DesignPoint& point) {
  if (point.trains()) return {point, plain_point().collective, point.training(), true};
  return {point, point.collective(), plain_point().training, false};
}

const PointView& plain_point() {
  static const DesignPoint point;
  static const TrainingPoint training;
  static const PointView plain{point, point.collective(), training, false};
  return plain;
}

namespace entry {

bool runs_collective(const PointView& view) { return !view.trains; }
bool trains(const PointView& view) { return view.trains; }
bool simulates(const PointView& view) { return !view.trains || is_simulated(view.training.collective_time); }
bool synthesizes(const PointView& view) { return !view.trains || is_synthesized(view.training.collective_time); }
bool has_stages(const PointView& view) { return view.trains && view.training.hp.pipeline > 1; }
bool uses_links(const PointView& view) {
  return simulates(view) || (has_stages(view) && view.training.pipeline_timing == PipelineTiming::simulated);
}
bool chooses_bandwidth(const PointView& view) { return view.trains && view.training.scheme; }

SettingValue value_at(const Node& node) {
  SettingValue value;
  value.place = node.place();
  value.text_place = node.is(NodeKind::string) ? node.text_place() : node.place();
  if (node.is(NodeKind::string)) value.text = node.text();
  value.expression = value.text;
  return value;
}

Diagnostics check_string(const Setting& setting, std::string_view name, const Node& node) {
  if (node.is(NodeKind::string)) return {};
  switch (setting.counts) {
    case Counts::time:
      return as_time(node, name).errors();
    case Counts::bytes:
      return as_bytes(node, name).errors();
    case Counts::bandwidth:
      return as_bandwidth(node, name).errors();
    case Counts::numbers:
    case Counts::nothing:
      break;
  }
  return as_string(node, name).errors();
}

namespace {

template <class T>
Result<SettingValue> list_value(const Node& node, Result<std::vector<T>> list) {
  if (!list) return list.errors();
  SettingValue value = value_at(node);
  const bool uniform = std::adjacent_find(list->begin(), list->end(), std::not_equal_to<>()) == list->end();
  if (uniform) value.expression = list->front();
  value.data = *std::move(list);
  return value;
}

}  // namespace

Result<SettingValue> parse_times(const Setting&, std::string_view name, const Node& node, ValueContext&) {
  return list_value(node, as_times(node, name));
}
Result<SettingValue> parse_bandwidths(const Setting&, std::string_view name, const Node& node, ValueContext& context) {
  auto value = list_value(node, as_bandwidths(node, name));
  if (value) add_notes_on_bits(name, node.text(), context.notes);
  return value;
}

Result<SettingValue> parse_size(const Setting&, std::string_view, const Node& node, ValueContext&) {
  const Result<Bytes> size = parse_bytes(node.text(), node.text_place());
  if (!size) return size.errors();
  SettingValue value = value_at(node);
  value.data = *size;
  value.expression = *size;
  return value;
}

Result<SettingValue> parse_number(const Setting& setting, std::string_view name, const Node& node, ValueContext&) {
  const Result<std::int64_t> number = as_integer(node, name);
  if (!number) return number.errors();
  if (*number < setting.least)
    return input_error(node.place(), fmt::format("\"{}\" is {}", name, *number),
                       fmt::format("it is at least {}", setting.least));
  if (*number > setting.most)
    return input_error(node.place(), fmt::format("\"{}\" is {}", name, *number),
                       fmt::format("it is at most {}", setting.most));
  SettingValue value = value_at(node);
  value.text = fmt::format("{}", *number);
  value.data = *number;
  value.expression = *number;
  return value;
}

Diagnostic refuse_word(const Setting& setting, std::string_view name, const Node& node) {
  return input_error(node.text_place(), fmt::format("\"{}\" is \"{}\"", name, shortened(node.text())),
                     fmt::format("it is a number, or \"{}\"", *setting.fallback),
                     fmt::format("write a number without quotes, for instance {}", setting.example));
}

Result<SettingValue> parse_flag(const Setting&, std::string_view name, const Node& node, ValueContext&) {
  const Result<bool> flag = as_boolean(node, name);
  if (!flag) return flag.errors();
  SettingValue value = value_at(node);
  value.text = *flag ? "true" : "false";
  value.data = *flag;
  value.expression = value.text;
  return value;
}

Result<std::size_t> parse_word(const Setting& setting, const Node& node) {
  const auto found = std::ranges::find(setting.words, node.text());
  if (found != setting.words.end()) return static_cast<std::size_t>(found - setting.words.begin());
  std::string what(setting.name);
  std::ranges::replace(what, '_', ' ');
  return unknown_word(node.text(), what, setting.words, node.text_place());
}

Result<SettingValue> parse_text(const Setting&, std::string_view, const Node& node, ValueContext&) {
  SettingValue value = value_at(node);
  value.data = node.text();
  return value;
}

}  // namespace entry

}  // namespace tenex
