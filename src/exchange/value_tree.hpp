// Internal to exchange: YAML and JSON as a bounded tree with places. JSON is read as YAML, of which it is a part in
// what the formats use, so that every value has its line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenex/base/diagnostic.hpp"

namespace tenex::exchange {

struct TreeValue {
  enum class Kind : std::uint8_t { scalar, list, map } kind = Kind::scalar;
  Place place = {};
  std::string text = {};                                        ///< of a scalar; empty where it is null
  std::vector<TreeValue> items = {};                            ///< of a list
  std::vector<std::pair<std::string, TreeValue>> entries = {};  ///< of a map, in the order of the file

  [[nodiscard]] bool is(Kind other) const { return kind == other; }
  /// Null where it is no map or has no such key.
  [[nodiscard]] const TreeValue* find(std::string_view key) const;
  /// The scalar under a key, or nothing.
  [[nodiscard]] std::string_view text_of(std::string_view key) const;
  /// The list under a key; empty where there is none.
  [[nodiscard]] const std::vector<TreeValue>& list_of(std::string_view key) const;
};

/// Limits: 1 MiB, 64 levels, 2^17 values. Errors (input, with line and column): not well formed, over a limit, an alias
/// (a few of which may stand for a billion values), a key given twice, several documents. O(length + pairs of keys of a
/// map).
[[nodiscard]] Result<TreeValue> parse_values(std::string_view file, std::string_view text);

}  // namespace tenex::exchange
