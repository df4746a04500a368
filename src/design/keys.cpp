// Tables of names.
#include "design/keys.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

namespace tenex {

namespace {

constexpr std::array kLaterKeys{
    LaterWord{"cost", "it prices the network"},
};

}  // namespace

std::optional<Key> find_key(std::string_view name) {
  const Setting* setting = find_setting(name);
  return setting == nullptr ? std::nullopt : std::optional(setting->key);
}

const std::vector<std::string_view>& key_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> list;
    for (const Setting& setting : settings()) list.push_back(setting.name);
    for (const Setting& setting : settings())
      if (!setting.alias.empty()) list.push_back(setting.alias);
    return list;
  }();
  return names;
}

const LaterWord* find_later_key(std::string_view name) {
  const auto* const found = std::ranges::find(kLaterKeys, name, &LaterWord::name);
  return found == kLaterKeys.end() ? nullptr : found;
}

Diagnostic refuse_key(const Place& place, std::string_view name, std::string_view table,
                      const std::vector<std::string_view>& known) {
  if (const LaterWord* later = find_later_key(name)) {
    return unsupported_error(place, fmt::format("\"{}\" is not supported by this version", name),
                             std::string(later->purpose), "remove the key");
  }
  std::string near = did_you_mean(name, known);
  if (near.empty()) near = "`tenex schema --markdown` explains every key";
  return input_error(place, fmt::format("unknown key \"{}\"", name),
                     known.size() <= kFewWords ? fmt::format("{} may have {}", table, join(known))
                                               : fmt::format("no key of {} has this name", table),
                     std::move(near));
}

}  // namespace tenex
