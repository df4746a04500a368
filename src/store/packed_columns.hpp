// Columns with few distinct values, packed so that the settings and texts of a million rows take little memory.
//
// Most settings of a study are the same in all its points and the others have few values. So a column is one value
// until a second one comes, and from then on a column of texts holds numbers of distinct texts.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/hash.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex::store {

/// Integers of a known number of rows. Rows that were never set have the value that was set first, or 0.
class PackedIntegers {
 public:
  using Value = std::int64_t;
  explicit PackedIntegers(std::size_t rows) : rows_(rows) {}

  void set(std::size_t row, std::int64_t value) {
    if (!any_) first_ = value;
    any_ = true;
    if (values_.empty() && value == first_) return;
    if (values_.empty()) values_.assign(rows_, first_);
    values_[row] = value;
  }
  /// One value per row. O(rows).
  [[nodiscard]] std::vector<std::int64_t> unpacked() const {
    return values_.empty() ? std::vector<std::int64_t>(rows_, first_) : values_;
  }

 private:
  std::size_t rows_;
  bool any_ = false;
  std::int64_t first_ = 0;
  std::vector<std::int64_t> values_;  ///< empty while all are first_
};

/// The same for reals; reals with equal bits are equal.
class PackedReals {
 public:
  using Value = double;
  explicit PackedReals(std::size_t rows) : bits_(rows) {}

  void set(std::size_t row, double value) { bits_.set(row, std::bit_cast<std::int64_t>(value)); }
  /// One value per row. O(rows).
  [[nodiscard]] std::vector<double> unpacked() const {
    std::vector<double> values;
    for (const auto bits : bits_.unpacked()) values.push_back(std::bit_cast<double>(bits));
    return values;
  }

 private:
  PackedIntegers bits_;
};

/// Distinct texts, each stored once, end to end. The reasons for which a search left points out are all different, and
/// a map of strings would take twice their length.
class TextPool {
 public:
  /// The number of a text. Numbers are given in the order in which texts come.
  [[nodiscard]] std::uint32_t number_of(std::string_view text) {
    if (4 * (texts_.size() + 1) > 3 * slots_.size()) grow();
    auto& slot = slots_[slot_of(text)];
    if (slot == kFree) {
      slot = static_cast<std::uint32_t>(texts_.size());
      texts_.push_back(keep(text));
    }
    return slot;
  }
  [[nodiscard]] std::string_view at(std::uint32_t number) const { return texts_[number]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  static constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t kBlock = std::size_t{256} << 10;

  /// The slot of the text, or the slot where it would be put.
  [[nodiscard]] std::size_t slot_of(std::string_view text) const {
    auto slot = digest64(text) & (slots_.size() - 1);
    while (slots_[slot] != kFree && texts_[slots_[slot]] != text) slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }
  void grow() {
    slots_.assign(std::max<std::size_t>(16, 2 * slots_.size()), kFree);
    for (std::uint32_t number = 0; number < texts_.size(); ++number) slots_[slot_of(texts_[number])] = number;
  }
  std::string_view keep(std::string_view text) {
    if (text.size() > left_) {
      left_ = std::max(kBlock, text.size());
      blocks_.push_back(std::make_unique<char[]>(left_));
      end_ = blocks_.back().get();
    }
    std::copy(text.begin(), text.end(), end_);
    const std::string_view kept(end_, text.size());
    end_ += text.size();
    left_ -= text.size();
    return kept;
  }

  std::vector<std::unique_ptr<char[]>> blocks_;  ///< never moved
  char* end_ = nullptr;                          ///< end of the used bytes of the last block
  std::size_t left_ = 0;                         ///< unused bytes behind that
  std::vector<std::string_view> texts_;          ///< by number
  std::vector<std::uint32_t> slots_;             ///< open addressing: numbers; a power of two
};

/// Texts of a known number of rows. Rows that were never set have the text that was set first, or none.
class PackedTexts {
 public:
  using Value = std::string;
  explicit PackedTexts(std::size_t rows) : rows_(rows) {}

  void set(std::size_t row, std::string_view text) {
    // Neighbours are often equal.
    if (texts_.size() == 0 || texts_.at(last_) != text) {
      last_ = texts_.number_of(text);
      width_ = std::max(width_, text.size());
    }
    if (numbers_.empty() && last_ == 0) return;
    if (numbers_.empty()) numbers_.assign(rows_, 0);
    numbers_[row] = last_;
  }
  [[nodiscard]] std::string_view at(std::size_t row) const {
    if (texts_.size() == 0) return {};
    return texts_.at(numbers_.empty() ? 0 : numbers_[row]);
  }
  /// Length of the longest text, at least 1: the width of the column in a file.
  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }

 private:
  std::size_t rows_;
  std::size_t width_ = 1;
  std::uint32_t last_ = 0;  ///< the text that was set last
  TextPool texts_;
  std::vector<std::uint32_t> numbers_;  ///< per row; empty while all have the first text
};

/// Lists of integers >= 0 of a known number of rows. Rows that were never set have the list that was set first, or
/// none.
class PackedLists {
 public:
  using Value = std::vector<std::int64_t>;
  explicit PackedLists(std::size_t rows) : bytes_(rows) {}

  void set(std::size_t row, std::span<const std::int64_t> list) {
    bytes_.set(row, {reinterpret_cast<const char*>(list.data()), list.size_bytes()});
  }
  [[nodiscard]] std::vector<std::int64_t> at(std::size_t row) const {
    const std::string_view bytes = bytes_.at(row);
    std::vector<std::int64_t> list(bytes.size() / sizeof(std::int64_t));
    if (!list.empty()) std::memcpy(list.data(), bytes.data(), bytes.size());  // memcpy must not get null pointers
    return list;
  }
  /// A column of that width. O(cells).
  [[nodiscard]] ListColumn unpacked(std::size_t width) const {
    ListColumn lists(width, bytes_.rows());
    for (std::size_t row = 0; row < bytes_.rows(); ++row) lists.set(row, at(row));
    return lists;
  }

 private:
  PackedTexts bytes_;
};

}  // namespace tenex::store
