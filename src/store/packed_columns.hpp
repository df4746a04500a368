// Columns of values that few rows tell apart: what the settings and texts of a million rows take little memory as.
// Private to this room.
//
// Most settings of a study are the same in all its points and the others have few values, so a column is one value
// until a second one comes, and texts are numbers of distinct texts from then on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tenex::store {

/// Integers of a known number of rows. Rows that were never set have the value that was set first, or 0.
class PackedIntegers {
 public:
  explicit PackedIntegers(std::size_t rows) : rows_(rows) {}

  void set(std::size_t row, std::int64_t value) {
    if (!any_) first_ = value;
    any_ = true;
    if (values_.empty() && value == first_) return;
    if (values_.empty()) values_.assign(rows_, first_);
    values_[row] = value;
  }
  /// One by one. O(rows).
  [[nodiscard]] std::vector<std::int64_t> unpacked() const {
    return values_.empty() ? std::vector<std::int64_t>(rows_, first_) : values_;
  }

 private:
  std::size_t rows_;
  bool any_ = false;
  std::int64_t first_ = 0;
  std::vector<std::int64_t> values_;  ///< empty while all are first_
};

/// Texts of a known number of rows. Rows that were never set have the text that was set first, or none.
class PackedTexts {
 public:
  explicit PackedTexts(std::size_t rows) : rows_(rows) {}
  PackedTexts(PackedTexts&&) = default;  // not copied: texts_ points into known_
  PackedTexts& operator=(PackedTexts&&) = default;

  void set(std::size_t row, std::string_view text) {
    // Neighbours are often equal.
    if (texts_.empty() || *texts_[last_] != text) last_ = number_of(text);
    if (numbers_.empty() && last_ == 0) return;
    if (numbers_.empty()) numbers_.assign(rows_, 0);
    numbers_[row] = last_;
  }
  [[nodiscard]] std::string_view at(std::size_t row) const {
    if (texts_.empty()) return {};
    return *texts_[numbers_.empty() ? 0 : numbers_[row]];
  }
  /// Of the longest text, at least 1: that of the column in a file.
  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  std::uint32_t number_of(std::string_view text) {
    if (const auto found = known_.find(text); found != known_.end()) return found->second;
    const auto added = known_.emplace(text, static_cast<std::uint32_t>(texts_.size())).first;
    texts_.push_back(&added->first);  // stays where it is
    width_ = std::max(width_, text.size());
    return added->second;
  }

  std::size_t rows_;
  std::size_t width_ = 1;
  std::uint32_t last_ = 0;  ///< the text that was set last
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> known_;
  std::vector<const std::string*> texts_;  ///< by number
  std::vector<std::uint32_t> numbers_;     ///< per row; empty while all have the first text
};

}  // namespace tenex::store
