// PointTable: the points of a study, built when they are asked for.
//
// A point takes about a kilobyte; a million of them would take too much of a rank's memory. But a point is only a
// choice of one value per axis, and the values of all axes are few. So the table owns the parsed sweeps, and for each
// point keeps only: the number of its row (which the axes' lengths decode, the last axis turning fastest), its process
// groups where they differ between points, and its key. This takes about 30 bytes per point, with the index from keys
// to points.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/hash.hpp"
#include "tenex/design/design_point.hpp"

namespace tenex {

class RowSource;

/// Points in the order in which they were added. It reads like a vector of values: `table[i]` builds point i (a few
/// microseconds), so a loop that needs several fields of a point should get it once. Any number of threads may read at
/// once. Copies share the sweeps.
class PointTable {
 public:
  /// Builds a point at each access.
  class Iterator {
   public:
    using value_type = DesignPoint;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::random_access_iterator_tag;
    using iterator_category = std::input_iterator_tag;  ///< in the sense of C++17: `*it` is a value

    Iterator() = default;
    Iterator(const PointTable* table, std::size_t at) : table_(table), at_(at) {}
    [[nodiscard]] DesignPoint operator*() const { return (*table_)[at_]; }
    /// The current point, valid until the end of the expression.
    [[nodiscard]] auto operator->() const {
      struct Held {
        DesignPoint point;
        const DesignPoint* operator->() const { return &point; }
      };
      return Held{**this};
    }
    [[nodiscard]] DesignPoint operator[](difference_type by) const { return *(*this + by); }
    Iterator& operator+=(difference_type by) {
      at_ += static_cast<std::size_t>(by);
      return *this;
    }
    Iterator& operator-=(difference_type by) { return *this += -by; }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this += -1; }
    Iterator operator++(int) { return Iterator(table_, at_++); }
    Iterator operator--(int) { return Iterator(table_, at_--); }
    friend Iterator operator+(Iterator it, difference_type by) { return it += by; }
    friend Iterator operator+(difference_type by, Iterator it) { return it += by; }
    friend Iterator operator-(Iterator it, difference_type by) { return it -= by; }
    friend difference_type operator-(const Iterator& a, const Iterator& b) {
      return static_cast<difference_type>(a.at_) - static_cast<difference_type>(b.at_);
    }
    /// Compares iterators of one table.
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }
    friend auto operator<=>(const Iterator& a, const Iterator& b) { return a.at_ <=> b.at_; }

   private:
    const PointTable* table_ = nullptr;
    std::size_t at_ = 0;
  };

  PointTable() = default;
  PointTable(std::initializer_list<DesignPoint> points);

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Builds the point. O(keys and text of the point). Precondition: i < size().
  [[nodiscard]] DesignPoint operator[](std::size_t i) const;
  [[nodiscard]] DesignPoint front() const { return (*this)[0]; }
  [[nodiscard]] DesignPoint back() const { return (*this)[size() - 1]; }
  [[nodiscard]] Iterator begin() const { return {this, 0}; }
  [[nodiscard]] Iterator end() const { return {this, size()}; }

  /// The key of a point, without building it. O(1).
  [[nodiscard]] const Digest& key(std::size_t i) const { return keys_[i]; }
  /// The first point with this key, if any. O(1).
  [[nodiscard]] std::optional<std::size_t> find(const Digest& key) const;

  /// The name of the first sweep that has the point as a row, as the study writes it, or the sweep's number, counted
  /// from 1. Empty for a point that is not a row of a sweep. O(log sweeps).
  [[nodiscard]] std::string sweep_of(std::size_t i) const;

  /// The length of the longest canonical text. O(1).
  [[nodiscard]] std::size_t longest_canonical() const { return longest_canonical_; }

  /// Adds a point that is not a row of a sweep, and stores all of it. Not while others read; nor may the functions
  /// below.
  void push_back(DesignPoint point);

  /// Sets the sweeps whose rows are numbered. Call once, before the first add_row().
  void set_source(std::shared_ptr<const RowSource> source);
  /// Adds a row of the source; `point` is the point that it builds. Amortized O(1).
  void add_row(std::uint32_t row, const DesignPoint& point);
  /// Reserves room for this many points in all.
  void reserve(std::size_t points);
  /// Frees room that no point needs.
  void shrink_to_fit();

 private:
  void note(const DesignPoint& point);
  void put(std::size_t point);
  void rehash(std::size_t slots);
  void note_groups(const Groups& groups);

  std::shared_ptr<const RowSource> source_;
  std::vector<std::uint32_t> rows_;   ///< per point: its row, or with the top bit set its index in whole_
  std::vector<Digest> keys_;          ///< per point
  std::vector<std::uint32_t> slots_;  ///< open addressing over keys: point + 1, 0 where free; a power of two, or none
  std::vector<Groups> groups_;        ///< the distinct process groups of rows
  std::map<std::string, std::uint32_t, std::less<>> group_numbers_;  ///< index of each in groups_
  std::vector<std::uint32_t> groups_of_;  ///< per point, index in groups_; empty while all have the first
  std::vector<DesignPoint> whole_;
  std::size_t longest_canonical_ = 0;
};

}  // namespace tenex
