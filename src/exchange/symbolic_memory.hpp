// Internal to exchange: buffers that hold symbolic values, and who may see what.
//
// A value is a set of contributions: (rank, index of its input). Equal values have one number. A value that cannot be a
// result is tainted by what is wrong with it: made of a place that nobody wrote, or with a contribution twice.
//
// Two accesses of a place race if one of them writes and neither happens before the other. Happens-before is told by
// vector clocks (Fidge; Mattern; both 1988): thread t has passed epoch e for whoever has clock[t] >= e. An access in
// epoch e of t happens before what has such a clock, and before what the same operation does. Where a format has
// signals that order without making data visible, a second clock tells that weaker order: it suffices for a write after
// a read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tenex/exchange/foreign_schedule.hpp"

namespace tenex::exchange {

/// By thread: the epochs that are known to have passed.
using VectorClock = std::vector<std::uint32_t>;

/// clock = max(clock, other), thread by thread. An empty clock knows nothing. O(threads).
void join(VectorClock& clock, const VectorClock& other);

/// The number of a value.
using ValueId = std::uint32_t;
inline constexpr ValueId kNothing = 0;  ///< of places that nobody wrote

/// Why a value cannot be a result.
enum class Taint : std::uint8_t { none, unwritten, twice };

struct Value {
  std::vector<std::uint32_t> items;  ///< contributions, in increasing order
  Taint taint = Taint::none;
  std::uint32_t origin = 0;  ///< of a taint: the operation that made it
  std::uint32_t detail = 0;  ///< of a taint: the contribution that is there twice
  bool operator==(const Value&) const = default;
};

/// All values of a run. Memory: its values, at most the limit.
class ValueTable {
 public:
  explicit ValueTable(std::size_t most_items) : most_items_(most_items) { values_.emplace_back(); }
  [[nodiscard]] const Value& operator[](ValueId id) const { return values_[id]; }
  [[nodiscard]] ValueId of(std::uint32_t contribution) { return intern({{contribution}}); }
  /// The sum of two values, by an operation. O(items).
  [[nodiscard]] ValueId sum(ValueId a, ValueId b, std::uint32_t operation);
  /// A value that is read where nobody wrote becomes tainted by the operation; others stay.
  [[nodiscard]] ValueId read(ValueId id, std::uint32_t operation) {
    return id == kNothing ? intern({{}, Taint::unwritten, operation, 0}) : id;
  }
  /// Whether all fits; what is made afterwards has no meaning.
  [[nodiscard]] bool full() const { return items_ > most_items_; }

 private:
  ValueId intern(Value value);

  std::vector<Value> values_;
  std::unordered_multimap<std::uint64_t, ValueId> by_hash_;
  std::unordered_map<std::uint64_t, ValueId> sums_;
  std::size_t items_ = 0;
  std::size_t most_items_;
};

/// Who accesses: an operation (a number that names it), the thread and the epoch in which it runs there, and what its
/// thread knows.
struct Access {
  std::uint32_t operation = 0;
  std::uint32_t thread = 0;
  std::uint32_t epoch = 0;
  const VectorClock* clock = nullptr;
  const VectorClock* order = nullptr;  ///< the weaker order; null: the same
};

/// Two operations that race.
struct Race {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  bool first_writes = false;
  bool second_writes = false;
};

/// Places that hold values, by number.
class SymbolicMemory {
 public:
  explicit SymbolicMemory(std::size_t places) : places_(places) {}
  void set(std::size_t place, ValueId value) { places_[place].value = value; }
  [[nodiscard]] ValueId value(std::size_t place) const { return places_[place].value; }
  /// What touched a place last: its last write, and the reads of each thread since.
  struct Stamp {
    std::uint32_t operation = 0;
    std::uint32_t thread = 0;
    std::uint32_t epoch = 0;
  };
  [[nodiscard]] const Stamp* last_write(std::size_t place) const {
    return places_[place].written ? &places_[place].write : nullptr;
  }
  [[nodiscard]] const std::vector<Stamp>& last_reads(std::size_t place) const { return places_[place].reads; }
  /// The operation that wrote last; nothing where none did.
  [[nodiscard]] std::optional<std::uint32_t> writer(std::size_t place) const {
    return places_[place].written ? std::optional(places_[place].write.operation) : std::nullopt;
  }
  /// O(threads that read since the last write).
  [[nodiscard]] ValueId read(std::size_t place, const Access& access);
  void write(std::size_t place, ValueId value, const Access& access);
  /// The first races, at most 16.
  [[nodiscard]] const std::vector<Race>& races() const { return races_; }

 private:
  struct Cell {
    ValueId value = kNothing;
    bool written = false;
    Stamp write = {};
    std::vector<Stamp> reads = {};  ///< the last of each thread since the write
  };
  [[nodiscard]] static bool before(const Stamp& earlier, bool earlier_writes, const Access& access) {
    if (earlier.operation == access.operation) return true;
    if (earlier.thread == access.thread && earlier.epoch < access.epoch) return true;
    const VectorClock& clock = earlier_writes || access.order == nullptr ? *access.clock : *access.order;
    return earlier.thread < clock.size() && clock[earlier.thread] >= earlier.epoch;
  }
  void add_race(const Stamp& earlier, bool earlier_writes, const Access& access, bool writes);

  std::vector<Cell> places_;
  std::vector<Race> races_;
};

}  // namespace tenex::exchange
