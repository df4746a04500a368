// Memory on large pages for containers. A hop touches half a dozen positions in tables of many megabytes, and with
// small pages translating their addresses costs as much as reading them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "tenex/schedule/storage/raw_array.hpp"

namespace tenex {

/// An allocator that asks for large pages before the memory is first written.
template <class T>
struct LargePages {
  using value_type = T;
  LargePages() = default;
  template <class U>
  explicit(false) LargePages(const LargePages<U>& /*other*/) {}

  [[nodiscard]] T* allocate(std::size_t count) {
    auto* const items = std::allocator<T>().allocate(count);
    advise_large_pages(items, count * sizeof(T));
    return items;
  }
  void deallocate(T* items, std::size_t count) { std::allocator<T>().deallocate(items, count); }
  bool operator==(const LargePages&) const = default;
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace tenex
