// For views: a column of a batch as something that can be written.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

namespace tenex {

/// The column inside the buffer's own vector: copied there, unless that is where the storage has put it.
template <class T>
[[nodiscard]] std::span<T> own_column(std::span<const T> column, std::vector<T>& owned) {
  if (column.data() != owned.data()) owned.assign(column.begin(), column.end());
  return std::span(owned).first(column.size());
}

}  // namespace tenex
