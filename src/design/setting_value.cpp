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

}  // namespace tenex
