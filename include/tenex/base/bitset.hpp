// A bitset whose size is known at run time, and a dense matrix of them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenex {

/// `size` bits in 64-bit words, all clear at first. Word access lets kernels work 64 bits at a time.
class Bitset {
 public:
  Bitset() = default;
  explicit Bitset(std::size_t size) : size_(size), words_((size + 63) / 64, 0) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool test(std::size_t i) const { return ((words_[i / 64] >> (i % 64)) & 1U) != 0; }
  void set(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  void reset(std::size_t i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }
  /// Sets bit i; true when it was clear before.
  bool insert(std::size_t i) {
    const bool fresh = !test(i);
    set(i);
    return fresh;
  }
  /// The number of set bits. O(size / 64).
  [[nodiscard]] std::size_t count() const {
    std::size_t total = 0;
    for (const auto word : words_) total += static_cast<std::size_t>(std::popcount(word));
    return total;
  }
  [[nodiscard]] const std::vector<std::uint64_t>& words() const { return words_; }
  [[nodiscard]] std::vector<std::uint64_t>& words() { return words_; }
  bool operator==(const Bitset&) const = default;

 private:
  std::size_t size_ = 0;
  std::vector<std::uint64_t> words_;
};

/// rows x columns bits; every row starts at a word of its own, so rows can be written by different threads.
class BitMatrix {
 public:
  BitMatrix() = default;
  BitMatrix(std::size_t rows, std::size_t columns)
      : words_per_row_((columns + 63) / 64), words_(rows * words_per_row_, 0) {}

  [[nodiscard]] bool test(std::size_t row, std::size_t column) const {
    return ((words_[row * words_per_row_ + column / 64] >> (column % 64)) & 1U) != 0;
  }
  void set(std::size_t row, std::size_t column) {
    words_[row * words_per_row_ + column / 64] |= std::uint64_t{1} << (column % 64);
  }
  /// Sets the bit; true when it was clear before.
  bool insert(std::size_t row, std::size_t column) {
    auto& word = words_[row * words_per_row_ + column / 64];
    const auto bit = std::uint64_t{1} << (column % 64);
    const bool fresh = (word & bit) == 0;
    word |= bit;
    return fresh;
  }
  [[nodiscard]] std::uint64_t* row(std::size_t r) { return words_.data() + r * words_per_row_; }
  [[nodiscard]] const std::uint64_t* row(std::size_t r) const { return words_.data() + r * words_per_row_; }
  [[nodiscard]] std::size_t words_per_row() const { return words_per_row_; }
  /// Bytes that a matrix of this size takes, for memory plans.
  static constexpr std::size_t bytes_for(std::size_t rows, std::size_t columns) {
    return rows * ((columns + 63) / 64) * 8;
  }

 private:
  std::size_t words_per_row_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace tenex
