// For views: makes a column of a batch writable.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

namespace tenex {

/// Returns the column inside the buffer's own vector; copies it there unless the storage has put it there already.
template <class T>
[[nodiscard]] std::span<T> own_column(std::span<const T> column, std::vector<T>& owned) {
  if (column.data() != owned.data()) owned.assign(column.begin(), column.end());
  return std::span(owned).first(column.size());
}

}  // namespace tenex
