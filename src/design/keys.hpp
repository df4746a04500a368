// Finds keys by name, and names of later versions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/words.hpp"
#include "tenex/design/setting.hpp"

namespace tenex {

[[nodiscard]] inline std::string_view name_of(Key key) { return setting_of(key).name; }
/// By name or alias.
[[nodiscard]] std::optional<Key> find_key(std::string_view name);
/// All names and aliases.
[[nodiscard]] const std::vector<std::string_view>& key_names();
/// Whether only training points read the key.
[[nodiscard]] inline bool is_training(Key key) { return setting_of(key).read_by == ReadBy::training; }

/// A word of a later version. It is refused by name, so that a study never means less than it says.
struct LaterWord {
  std::string_view name;
  std::string_view purpose;  ///< "it draws link failures"
};
/// null if there is none with this name.
[[nodiscard]] const LaterWord* find_later_key(std::string_view name);

/// The error for an unknown key in a table whose keys are `known`.
[[nodiscard]] Diagnostic refuse_key(const Place& place, std::string_view name, std::string_view table,
                                    const std::vector<std::string_view>& known);

}  // namespace tenex
