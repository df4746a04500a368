#include "exchange/symbolic_memory.hpp"

#include <algorithm>
#include <utility>

namespace tenex::exchange {
namespace {

constexpr std::size_t kMostRaces = 16;

std::uint64_t hash_of(const Value& value) {
  std::uint64_t hash = static_cast<std::uint64_t>(value.taint) * 0x9e3779b97f4a7c15ULL + value.origin;
  for (const auto item : value.items) hash = (hash ^ (hash >> 29)) * 0x9e3779b97f4a7c15ULL + item;
  return hash;
}

}  // namespace

void join(VectorClock& clock, const VectorClock& other) {
  if (clock.size() < other.size()) clock.resize(other.size(), 0);
  for (std::size_t t = 0; t < other.size(); ++t) clock[t] = std::max(clock[t], other[t]);
}

ValueId ValueTable::intern(Value value) {
  const auto hash = hash_of(value);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto known = first; known != last; ++known)
    if (values_[known->second] == value) return known->second;
  if (full()) return kNothing;
  items_ += value.items.size() + 16;  // with what a table of values takes beside its items
  values_.push_back(std::move(value));
  const auto id = static_cast<ValueId>(values_.size() - 1);
  by_hash_.emplace(hash, id);
  return id;
}

ValueId ValueTable::sum(ValueId a, ValueId b, std::uint32_t operation) {
  a = read(a, operation);
  b = read(b, operation);
  if (values_[a].taint != Taint::none) return a;
  if (values_[b].taint != Taint::none) return b;
  const auto pair = (static_cast<std::uint64_t>(std::min(a, b)) << 32) | std::max(a, b);
  if (const auto known = sums_.find(pair); known != sums_.end()) return known->second;
  const auto& left = values_[a].items;
  const auto& right = values_[b].items;
  Value value;
  value.items.reserve(left.size() + right.size());
  std::ranges::set_union(left, right, std::back_inserter(value.items));
  if (value.items.size() < left.size() + right.size()) {
    std::vector<std::uint32_t> both;
    std::ranges::set_intersection(left, right, std::back_inserter(both));
    return intern({std::move(value.items), Taint::twice, operation, both.front()});  // of this operation: not kept
  }
  const auto id = intern(std::move(value));
  if (!full()) {
    sums_.emplace(pair, id);
    items_ += 12;
  }
  return id;
}

void SymbolicMemory::add_race(const Stamp& earlier, bool earlier_writes, const Access& access, bool writes) {
  if (races_.size() < kMostRaces) races_.push_back({earlier.operation, access.operation, earlier_writes, writes});
}

ValueId SymbolicMemory::read(std::size_t place, const Access& access) {
  Cell& cell = places_[place];
  if (cell.written && !before(cell.write, true, access)) add_race(cell.write, true, access, false);
  const auto known = std::ranges::find(cell.reads, access.thread, &Stamp::thread);
  const Stamp stamp{access.operation, access.thread, access.epoch};
  if (known == cell.reads.end())
    cell.reads.push_back(stamp);
  else
    *known = stamp;
  return cell.value;
}

void SymbolicMemory::write(std::size_t place, ValueId value, const Access& access) {
  Cell& cell = places_[place];
  if (cell.written && !before(cell.write, true, access)) add_race(cell.write, true, access, true);
  for (const Stamp& read : cell.reads)
    if (!before(read, false, access)) add_race(read, false, access, true);
  cell.reads.clear();
  cell.value = value;
  cell.written = true;
  cell.write = {access.operation, access.thread, access.epoch};
}

}  // namespace tenex::exchange
