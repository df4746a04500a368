// What the canonical text shares with result columns and with the enumeration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tenex/design/design_point.hpp"

namespace tenex {

/// "500000,1000000": the amounts of a list of quantities in their integer units.
template <class T>
[[nodiscard]] std::string comma_list(const std::vector<T>& quantities) {
  std::string text;
  for (const T& quantity : quantities) {
    if (!text.empty()) text += ',';
    text += fmt::format_int(quantity.count()).c_str();
  }
  return text;
}

/// "[[3,4],[5,6]]", or "none".
[[nodiscard]] std::string text_of_pairs(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs);

/// One more than the largest number in a text of groups: NPUs enough to parse it where the topology's are not known.
[[nodiscard]] std::size_t npus_named_in(std::string_view groups);

/// normalise() of a point whose groups are canonical already: O(1) where normalise() is O(members).
void normalise_but_groups(DesignPoint& point);

/// seal() of a point on which normalise() has been called.
void seal_normalised(DesignPoint& point);

}  // namespace tenex
