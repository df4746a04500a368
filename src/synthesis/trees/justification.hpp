// Plays chunks over trees again and again, forward and backward in time: each play orders sends by the one before it.
//
// Idea (Li and Willis, "An iterative scheduling technique for resource-constrained project scheduling", 1992; Valls,
// Ballestin and Quintanilla, "Justification and RCPSP: a technique that pays", 2005): sends are tasks with
// predecessors, and each link does one at a time. Backward in time, from the last arrival, every link takes, of the
// sends whose successors are placed, the one that started last before. What is not urgent moves to the end, so the
// starts tell how long each send can wait. Forward in time, every link then takes the ready send that started first.
// Sends of one link take equally long, so a play backward is a play forward with predecessors and successors exchanged.
//
// First orders are by ranks of chunks, or by due times (Baker and Kanet, "Job shop scheduling with modified due dates",
// 1983): chunks are due one after another, and a send of a chunk as much sooner as its way to the end is longer. Time
// counts there, not links, so that what has slow links to come goes first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "synthesis/trees/player.hpp"
#include "tenex/base/csr.hpp"

namespace tenex {

/// When each send of a SendGraph starts, and the last arrival.
struct SendStarts {
  std::vector<SimTime> of;
  SimTime time;
};

/// An order by due times.
struct DueTimes {
  SimTime pace;                ///< a chunk is due so much later than the one a rank before
  std::int64_t margin = 4;     ///< a send is due before its chunk by so many times what its way to the end takes; to 16
  std::uint32_t copy_lag = 0;  ///< as in PlayOptions
};

/// All sends of all chunks over their trees, and which must have arrived before which starts. Less than 2^31 sends.
/// The network and the trees must outlive it. O(sends) memory.
class SendGraph {
 public:
  /// `sums`: as in PlayOptions.
  SendGraph(const TreeNetwork& network, const DealtTrees& dealt, bool sums);

  [[nodiscard]] std::size_t sends() const { return tasks_.size(); }
  /// A play in the order of play_trees(), with its options but for `sums` and `start_delays`. O(sends log sends).
  [[nodiscard]] SendStarts play(const PlayOptions& options) const;
  /// A play in the order of due times. O(sends log sends).
  [[nodiscard]] SendStarts play_by_due(const DueTimes& due) const;
  /// A play backward, and one forward in its order. It may be longer than before. O(sends log sends).
  [[nodiscard]] SendStarts justified(const SendStarts& before) const;
  /// The schedule. O(sends log sends).
  [[nodiscard]] Schedule schedule(const SendStarts& starts) const;

 private:
  /// A send, or the moment at which a root has all sums of a chunk, which has no link and takes no time.
  struct Task {
    LinkId link;
    std::uint32_t number = 0;  ///< of the dealt chunk
    bool copy = false;
    std::uint32_t turn = 0;  ///< of copies alone, among equals: roots begin with different NPUs
  };
  using Arc = std::pair<std::uint32_t, std::uint32_t>;  ///< two tasks, the first before the second
  class Play;

  [[nodiscard]] std::size_t tasks_of(const std::vector<DealtChunk>& chunks) const;
  [[nodiscard]] std::uint32_t add(const Task& task);
  [[nodiscard]] std::uint32_t add_way(WayId way, Task like, const std::vector<std::uint32_t>& before,
                                      std::vector<Arc>& arcs);
  void add_chunk(std::uint32_t number, std::vector<Arc>& arcs);

  const TreeNetwork& network_;
  const DealtTrees& dealt_;
  bool sums_;
  std::vector<Task> tasks_;  ///< each after those before it
  Csr<std::uint32_t> before_;
  Csr<std::uint32_t> after_;
};

/// Expected bytes for `sends` sends, without a schedule, and work of one play.
[[nodiscard]] std::size_t justification_bytes(std::uint64_t sends, bool sums);
[[nodiscard]] Work justification_work(std::uint64_t sends);

}  // namespace tenex
