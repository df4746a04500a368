// One communication while a joint replay plays it.
//
// Encoding: its sends by link, each link's in planned order, as columns; two cursors per link, the next to start and
// the next to arrive (a link delivers in the order in which it was taken). A link whose next send lacks something waits
// at that chunk's word or at that message; at most one send of a link waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "simulation/replay/joint_slots.hpp"
#include "tenex/schedule/carried_chunks.hpp"
#include "tenex/simulation/joint_replay.hpp"

namespace tenex {

class PlayingPart {
 public:
  PlayingPart(const Topology& topology, Occupancy occupancy, const JointPart& part, SimTime begin);

  /// Why the schedule cannot be replayed beside another; empty where it can.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] SimTime begin() const { return begin_; }

  [[nodiscard]] bool has_next(LinkId link) const { return next_[link.index()] < first_[link.index() + 1]; }
  /// When the plan lets the next send of a link start.
  [[nodiscard]] SimTime release(LinkId link) const { return begin_ + start_[next_[link.index()]]; }
  /// Whether what the link's next send carries is at its source; if not, a delivery will wake the link. Not to be asked
  /// again before that.
  [[nodiscard]] bool is_ready(LinkId link);
  /// Starts the link's next send. How long it takes.
  HopTime take(LinkId link, SimTime now);
  /// The oldest send under way on the link arrives; `wake(link)` is called for links that may have waited for it.
  template <class Wake>
  void deliver(LinkId link, SimTime now, Wake&& wake) {
    woken_.clear();
    arrive(link, now);
    for (const auto each : woken_) wake(each);
  }
  /// All sends have arrived.
  [[nodiscard]] bool done() const { return arrived_ == chunk_.size(); }
  /// Its last useful arrival, once every NPU has what it must have.
  [[nodiscard]] bool complete() const { return required_ == 0; }
  [[nodiscard]] SimTime end() const { return end_; }
  /// The schedule as it was played, once it is done.
  [[nodiscard]] Schedule played() const;

 private:
  /// A message under way: where it set out, where its last hop brought it, the first of the links that wait for it.
  struct Message {
    VertexId origin = VertexId::none();
    VertexId at = VertexId::none();
    LinkId first_waiting = LinkId::none();
  };

  void load(const Schedule& schedule);
  void note(std::size_t position, const Send& send);
  [[nodiscard]] bool has_chunk(std::size_t position, LinkId link, ChunkId chunk);
  void arrive(LinkId link, SimTime now);
  void unpack(std::size_t position, NpuId npu, SimTime now);
  void hold(NpuId npu, ChunkId chunk, std::uint32_t& word, SimTime now);
  /// Puts a link before those that wait somewhere, `first` the first of them; and takes all of them away.
  void wait(LinkId& first, LinkId link);
  void wake(LinkId& first);
  void wake_at(std::size_t slot);
  [[nodiscard]] bool is_later_hop(std::size_t position, VertexId source) const {
    return !message_.empty() && messages_[message_[position].index()].origin != source;
  }

  const Topology& topology_;
  const Collective& collective_;
  Schedule plan_;
  CarriedChunks carried_;
  SimTime begin_;
  SimTime end_;
  std::string problem_;
  std::vector<std::size_t> first_;    // per link, and one more
  std::vector<std::size_t> next_;     // per link: to start
  std::vector<std::size_t> landing_;  // per link: to arrive
  std::vector<SimTime> start_;        // planned, then actual, from begin_
  std::vector<ChunkId> chunk_;
  std::vector<Stage> stage_;
  std::vector<MessageId> message_;  // empty, like the next, where every send is unpacked at its link's target
  std::vector<NpuId> destination_;
  std::vector<Message> messages_;
  JointSlots slots_;
  std::unordered_map<std::size_t, LinkId> waiting_;  // slot to the first link that waits there
  std::vector<LinkId> next_waiting_;                 // per link: the next one where it waits
  std::vector<LinkId> woken_;
  std::size_t arrived_ = 0;
  std::uint64_t required_ = 0;
};

}  // namespace tenex
