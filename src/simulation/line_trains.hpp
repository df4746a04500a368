// Trains: messages in a row on a ring or a line, moved from link to link as a unit.
//
// In an open loop all messages are injected at time zero, so every link takes its own NPU's messages first. The
// messages that it forwards come over one link alone, the one before it in its direction, in that link's order. So a
// link's order is known: its own messages, then its predecessor's own, then those of the one before, and so on:
// generation g are the messages of the NPU g places back that have not arrived yet. One pass over all links per
// generation gives all times.
//
// A run of messages that arrive at equal distances is a train. Over a link it stays one or becomes two. If it meets
// waiting messages, its first ones follow them at the distance of the link's busy time, until the rest arrives after
// the link is free. Messages that have arrived leave the train, which may cut it. Encoding: a list of trains per NPU
// and direction; a train is a range of positions in the list of what that NPU sends in that direction.
#pragma once

#include <cstdint>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex {

/// The links of one direction of a ring or line, in the order in which messages pass them, and the messages that enter
/// at each.
class LineTrains {
 public:
  /// A link and, for each message that enters at its source, the number of links that it passes, in order of injection.
  struct Entry {
    LinkId link;
    NpuId target;
    HopTime hop;
    std::vector<std::uint32_t> distances;
  };

  /// `closed`: the last link leads to the first one.
  LineTrains(std::vector<Entry> entries, bool closed);

  /// Moves all messages to their destinations. O(trains on all links).
  void run();

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// The last arrival at the target of an entry's link; zero if no message ends there.
  [[nodiscard]] SimTime finish(std::size_t entry) const { return finish_[entry]; }
  /// How many messages passed the link.
  [[nodiscard]] std::uint64_t messages(std::size_t entry) const { return messages_[entry]; }

 private:
  struct Train {
    SimTime first;
    SimTime gap;
    std::uint32_t begin;
    std::uint32_t count;
  };

  void sort_leavers();
  void pass(const std::vector<Train>& in, std::size_t link, std::vector<Train>& out);
  void pass_one(Train train, std::size_t link, std::vector<Train>& out);
  void drop_leavers(std::size_t list, std::uint32_t generation, std::size_t link, std::vector<Train>& trains);

  std::vector<Entry> entries_;
  bool closed_;
  std::uint32_t farthest_ = 0;
  std::vector<std::vector<std::uint32_t>> by_distance_;  ///< per list: positions, nearest first, then in order
  std::vector<std::size_t> left_;                        ///< per list: how many of these have arrived
  std::vector<std::vector<Train>> trains_;               ///< per list
  std::vector<Train> passed_;
  std::vector<SimTime> free_;
  std::vector<SimTime> finish_;
  std::vector<std::uint64_t> messages_;
};

}  // namespace tenex
