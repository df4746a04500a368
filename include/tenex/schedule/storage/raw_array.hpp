// RawArray: an array whose memory is not cleared first.
//
// Memory that is written once and read later need not be set to zero. Each page is then placed by the thread that first
// writes it (first touch): on machines with several memory nodes, where it is used. The array asks for large pages,
// because a table of gigabytes costs more in page faults and address translation than in arithmetic.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace tenex {

/// Asks the operating system for large pages where it can give them; a hint. O(1).
void advise_large_pages(void* begin, std::size_t bytes);

/// Makes room for so many items in an empty vector, in large pages. O(1).
template <class T>
void reserve_in_large_pages(std::vector<T>& items, std::size_t size) {
  items.reserve(size);
  advise_large_pages(items.data(), items.capacity() * sizeof(T));
}

/// `size` items of a trivial type, unset at first. Movable, not copyable.
template <class T>
class RawArray {
 public:
  RawArray() = default;
  explicit RawArray(std::size_t size) : size_(size), items_(std::make_unique_for_overwrite<T[]>(size)) {
    advise_large_pages(items_.get(), size * sizeof(T));
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(T); }
  [[nodiscard]] T* data() { return items_.get(); }
  [[nodiscard]] const T* data() const { return items_.get(); }
  T& operator[](std::size_t i) { return items_[i]; }
  const T& operator[](std::size_t i) const { return items_[i]; }

 private:
  std::size_t size_ = 0;
  std::unique_ptr<T[]> items_;
};

}  // namespace tenex
