// Turns the TOML value of a key into a typed value, by the entry's parser.
#include "design/setting_value.hpp"

#include <fmt/core.h>

#include "design/settings/entry.hpp"

namespace tenex {

namespace {

/// The error for an array where one value is required.
Diagnostic refuse_array(const Setting& setting, std::string_view name, const Node& node) {
  const bool per_dimension =
      setting.key == Key::alpha || setting.key == Key::bandwidth || setting.key == Key::npu_bandwidth;
  return input_error(
      node.place(), fmt::format("\"{}\" is an array", name), "one value belongs here",
      per_dimension ? fmt::format("separate dimensions with commas in one string, or write axes.{} for an axis", name)
                    : fmt::format("write axes.{} for an axis", name));
}

}  // namespace

Result<SharedValue> parse_value(Key key, std::string_view name, const Node& node, ValueContext& context) {
  const Setting& setting = setting_of(key);
  const bool takes_array = setting.written == Written::pairs || setting.written == Written::texts;
  if (node.is(NodeKind::array) && !takes_array) return refuse_array(setting, name, node);
  const bool is_text =
      setting.written == Written::string || (setting.written == Written::texts && !node.is(NodeKind::array));
  if (is_text) {
    Diagnostics errors = entry::check_string(setting, name, node);
    if (!errors.empty()) return errors;
  }
  Result<SettingValue> value = setting.parse(setting, name, node, context);
  if (!value) return value.errors();
  return SharedValue(std::make_shared<const SettingValue>(*std::move(value)));
}

Result<std::vector<SharedValue>> parse_item(Key key, const Node& item, ValueContext& context) {
  const Setting& setting = setting_of(key);
  if (setting.parse_item == nullptr || !item.is(NodeKind::string)) {
    auto value = parse_value(key, setting.name, item, context);
    if (!value) return value.errors();
    return std::vector{*std::move(value)};
  }
  auto values = setting.parse_item(item);
  if (!values) return values.errors();
  std::vector<SharedValue> shared;
  for (SettingValue& value : *values) shared.push_back(std::make_shared<const SettingValue>(std::move(value)));
  return shared;
}

}  // namespace tenex
