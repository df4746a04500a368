// A schedule of timed sends as moves between buffers of NPUs: what formats that run are written from, and what
// execution.hpp runs.
//
// A move takes chunks from places of one NPU to places of another, or adds them there; sends over switches are joined
// to one move. Buffers are those of a collective in place (All-Gather, Reduce-Scatter and All-Reduce have one buffer,
// of which the format's input or output is the whole or a part), or input and output (All-to-All), and scratch: what an
// NPU passes on, and sums whose contributors the schedule states one by one. The order of what an NPU does is that of
// time; two that touch a place must keep it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/files/schedule_file.hpp"

namespace tenex::exchange {

/// A chunk's place in a buffer of an NPU: i, o or s.
struct MovePlace {
  char buffer = 'i';
  std::uint32_t index = 0;
  auto operator<=>(const MovePlace&) const = default;
};

struct Move {
  std::uint32_t source = 0;
  std::uint32_t target = 0;
  std::vector<MovePlace> from;  ///< by chunk
  std::vector<MovePlace> to;
  bool adds = false;  ///< the target adds to what it has
};

/// What an NPU does with its own buffers: to = from, or to += from.
struct LocalMove {
  std::uint32_t npu = 0;
  MovePlace from;
  MovePlace to;
  bool adds = false;
};

/// A thing that an NPU does: a move's begin or end, or a local move.
struct Deed {
  enum class Kind : std::uint8_t { send, receive, local } kind = Kind::send;
  std::uint32_t index = 0;  ///< of the move or local move
};

struct MovePlan {
  CollectiveKind kind = CollectiveKind::all_gather;
  std::size_t npus = 0;
  std::size_t chunks = 0;  ///< of the collective's larger side, on one NPU
  bool in_place = true;
  bool keeps_parts = false;            ///< sums are kept in parts, since the schedule states contributors
  std::vector<std::uint32_t> scratch;  ///< chunks, by NPU
  std::vector<Move> moves;
  std::vector<LocalMove> locals;
  std::vector<Deed> deeds;  ///< of all NPUs, in order of time
};

/// An access of a place: the n-th thing that a threadblock does.
struct Touch {
  std::uint32_t block = 0;
  std::size_t step = 0;
};
/// What comes after a place's last accesses must wait for them.
struct PlaceState {
  std::vector<Touch> writes = {};  ///< the last one
  std::vector<Touch> reads = {};   ///< since then, in order
};

/// The moves of a schedule. Errors (unsupported): another collective than All-Gather, Reduce-Scatter, All-Reduce and
/// All-to-All of all NPUs; sums formed in switches; chunks of several sizes; a part of a schedule; a sum that its NPU
/// cannot form of what it has. O(sends log sends).
[[nodiscard]] Result<MovePlan> plan_moves(const ScheduleFile& file);

/// For each move, the number of its lane among those from its source to its target. A lane is first in, first out, so
/// moves arrive in it in the order in which they are sent: one that overtakes another (over another way) takes another
/// lane. There is a lane for each `weight_per_lane` (> 0) of the pair's moves, and more where moves overtake. O(deeds *
/// lanes of a pair).
[[nodiscard]] std::vector<std::size_t> lanes_of(const MovePlan& plan,
                                                const std::function<std::size_t(const Move& move)>& weight,
                                                std::size_t weight_per_lane);

}  // namespace tenex::exchange
