// ElementsAre() for elements of one type. GoogleTest's own is a type for each number of elements, which takes GCC half
// a second each; as an array it is one type for all.
#pragma once

#include <gmock/gmock.h>

#include <array>
#include <type_traits>

namespace tenex::support {

/// As ::testing::ElementsAre(): the elements of a container in order, as values or matchers.
template <class First, class... Rest>
[[nodiscard]] auto ElementsAre(const First& first, const Rest&... rest) {
  using Element = std::decay_t<const First&>;
  if constexpr ((std::is_same_v<Element, std::decay_t<const Rest&>> && ...)) {
    return ::testing::ElementsAreArray(std::array<Element, 1 + sizeof...(Rest)>{first, rest...});
  } else {
    return ::testing::ElementsAre(first, rest...);
  }
}

}  // namespace tenex::support
