// The table's columns and its index.
//
// The index uses open addressing with linear probing over the points' numbers. It takes four bytes per slot and is at
// most two thirds full. A digest is random already, so its low bits are the slot. If several points have one key (only
// points added by hand can), it holds the first.
#include "tenex/design/point_table.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "design/row_source.hpp"
#include "tenex/base/diagnostic.hpp"

namespace tenex {

namespace {

constexpr std::uint32_t kWhole = std::uint32_t{1} << 31;  // marks a row that is an index into whole_
static_assert(kMostRows < kWhole);

/// Number of slots for this many points: at most two thirds of them are taken.
std::size_t slots_for(std::size_t points) { return points == 0 ? 0 : std::bit_ceil(points + points / 2 + 1); }

}  // namespace

PointTable::PointTable(std::initializer_list<DesignPoint> points) {
  reserve(points.size());
  for (const DesignPoint& point : points) push_back(point);
}

DesignPoint PointTable::operator[](std::size_t i) const {
  ensure(i < rows_.size(), "a point that the study does not have");
  const std::uint32_t row = rows_[i];
  if ((row & kWhole) != 0) return whole_[row & ~kWhole];
  return source_->build(row, groups_[groups_of_.empty() ? 0 : groups_of_[i]]);
}

std::string PointTable::sweep_of(std::size_t i) const {
  ensure(i < rows_.size(), "a point that the study does not have");
  return (rows_[i] & kWhole) != 0 ? std::string() : source_->sweep_of(rows_[i]).title;
}

std::optional<std::size_t> PointTable::find(const Digest& key) const {
  if (slots_.empty()) return std::nullopt;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = key.low & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    if (keys_[slots_[slot] - 1] == key) return slots_[slot] - 1;
  }
  return std::nullopt;
}

void PointTable::push_back(DesignPoint point) {
  if (!groups_of_.empty()) groups_of_.push_back(0);
  rows_.push_back(kWhole | static_cast<std::uint32_t>(whole_.size()));
  note(point);
  whole_.push_back(std::move(point));
}

void PointTable::set_source(std::shared_ptr<const RowSource> source) {
  ensure(source_ == nullptr, "the points of a table have one source");
  source_ = std::move(source);
}

void PointTable::add_row(std::uint32_t row, const DesignPoint& point) {
  if (!point.trains())
    note_groups(point.collective().groups);
  else
    note_groups({});
  rows_.push_back(row);
  note(point);
}

/// Call before the row is added.
void PointTable::note_groups(const Groups& groups) {
  auto known = group_numbers_.find(groups.text());
  if (known == group_numbers_.end()) {
    known = group_numbers_.emplace(groups.text(), static_cast<std::uint32_t>(groups_.size())).first;
    groups_.push_back(groups);
  }
  if (groups_of_.empty() && known->second == 0) return;
  if (groups_of_.empty()) groups_of_.assign(rows_.size(), 0);
  groups_of_.push_back(known->second);
}

void PointTable::reserve(std::size_t points) {
  rows_.reserve(points);
  keys_.reserve(points);
  if (const auto slots = slots_for(points); slots > slots_.size()) rehash(slots);
}

void PointTable::shrink_to_fit() {
  rows_.shrink_to_fit();
  keys_.shrink_to_fit();
  groups_of_.shrink_to_fit();
  if (const auto slots = slots_for(keys_.size()); slots < slots_.size()) rehash(slots);
}

void PointTable::note(const DesignPoint& point) {
  longest_canonical_ = std::max(longest_canonical_, point.canonical.size());
  keys_.push_back(point.key);
  if (const auto slots = slots_for(keys_.size()); slots > slots_.size()) {
    rehash(slots);
  } else {
    put(keys_.size() - 1);
  }
}

void PointTable::put(std::size_t point) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = keys_[point].low & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    if (keys_[slots_[slot] - 1] == keys_[point]) return;  // the first point stays
  }
  slots_[slot] = static_cast<std::uint32_t>(point + 1);
}

void PointTable::rehash(std::size_t slots) {
  slots_ = {};
  slots_.assign(slots, 0);
  for (std::size_t point = 0; point < keys_.size(); ++point) put(point);
}

}  // namespace tenex
