// One communication while a joint replay plays it.
//
// Encoding: its sends by link, each link's in planned order, as columns; two cursors per link, the next to start and
// the next to arrive (a link delivers in the order in which it was taken). A link whose next send lacks something waits
// at that chunk's word or at that message; at most one send of a link waits. A message is at a switch with virtual
// cut-through once its hop there has started, and its next hop may start before that hop has arrived.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulation/replay/joint_slots.hpp"
#include "simulation/replay/played_sends.hpp"
#include "tenex/schedule/storage/carried_chunks.hpp"
#include "tenex/simulation/joint_replay.hpp"

namespace tenex {

class PlayingPart {
 public:
  PlayingPart(const Topology& topology, Occupancy occupancy, const JointPart& part, SimTime begin);

  /// Why the schedule cannot be replayed beside another; empty where it can.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] SimTime begin() const { return begin_; }

  [[nodiscard]] bool has_next(LinkId link) const { return next(link) < sends_.first[link.index() + 1]; }
  /// When the given schedule lets the next send of a link start.
  [[nodiscard]] SimTime release(LinkId link) const { return begin_ + sends_.start[next(link)]; }
  /// From when on what the link's next send carries may leave its source: a time that has passed, but at a switch with
  /// virtual cut-through. nullopt: a delivery, or the hop before, will wake the link. Not to be asked again before
  /// that.
  [[nodiscard]] std::optional<SimTime> ready(LinkId link);
  /// Starts the link's next send. How long it takes. `wake(link)` is called for a link that waited for it at a switch
  /// with virtual cut-through.
  template <class Wake>
  HopTime take(LinkId link, SimTime now, Wake&& wake) {
    woken_.clear();
    const auto hop = start(link, now);
    for (const auto each : woken_) wake(each);
    return hop;
  }
  /// Sends of the link have started and have not arrived.
  [[nodiscard]] bool is_under_way(LinkId link) const {
    return links_[link.index()].arrived < links_[link.index()].started;
  }
  /// When the oldest send under way on the link arrives.
  [[nodiscard]] SimTime arrival(LinkId link) const {
    const auto position = arriving(link);
    const SimTime start = sends_.start[position];
    return saturating_sum(begin_ + start, carried_.hop(link, sends_.chunk[position], start).latency);
  }
  /// The oldest send under way on the link arrives; `wake(link)` is called for links that may have waited for it.
  template <class Wake>
  void deliver(LinkId link, SimTime now, Wake&& wake) {
    woken_.clear();
    arrive(link, now);
    for (const auto each : woken_) wake(each);
  }
  /// All sends have arrived.
  [[nodiscard]] bool done() const { return arrived_ == sends_.size(); }
  /// Its last useful arrival, once every NPU has what it must have.
  [[nodiscard]] bool complete() const { return required_ == 0; }
  [[nodiscard]] SimTime end() const { return end_; }
  /// The schedule as it was played, once it is done; nothing remains here.
  [[nodiscard]] Schedule take_played() { return make_played_schedule(std::move(sends_), given_); }

  /// A message under way: where it set out, where its last hop brought it, the last of the links that wait for it.
  struct Message {
    VertexId origin = VertexId::none();
    VertexId at = VertexId::none();
    LinkId waiting = LinkId::none();
  };
  /// The hop that brings a message to a switch with virtual cut-through.
  struct HopIn {
    SimTime whole;  ///< when it has arrived
    LinkId link = LinkId::none();
  };
  struct Link {
    std::uint32_t started = 0;
    std::uint32_t arrived = 0;
    LinkId next_waiting = LinkId::none();  ///< the next one where it waits
    std::uint32_t kept_word = 0;           ///< of the chunk that it waits for
  };

 private:
  void note(const Send& send);
  [[nodiscard]] bool sets_out(const Send& send, VertexId source);
  [[nodiscard]] bool is_own_input(ChunkId chunk, VertexId source) const;
  [[nodiscard]] bool has_chunk(Stage stage, LinkId link, ChunkId chunk);
  [[nodiscard]] SimTime passed_on(MessageId message, LinkId link, Bytes size) const;
  HopTime start(LinkId link, SimTime now);
  void arrive(LinkId link, SimTime now);
  void unpack(Stage stage, ChunkId chunk, NpuId npu, SimTime now);
  void hold(NpuId npu, ChunkId chunk, std::uint32_t& contents, SimTime now);
  void wake(LinkId last);
  void bring(MessageId message, VertexId at);
  [[nodiscard]] std::size_t next(LinkId link) const {
    return sends_.first[link.index()] + links_[link.index()].started;
  }
  [[nodiscard]] std::size_t arriving(LinkId link) const {
    return sends_.first[link.index()] + links_[link.index()].arrived;
  }

  const Topology& topology_;
  const Collective& collective_;
  Schedule given_;
  CarriedChunks carried_;
  SimTime begin_;
  SimTime end_;
  std::string problem_;
  PlayedSends sends_;
  std::vector<Link> links_;
  std::vector<Message> messages_;
  std::vector<HopIn> hops_in_;  ///< by message; empty where no switch has virtual cut-through
  JointSlots slots_;
  std::vector<LinkId> woken_;
  std::size_t arrived_ = 0;
  std::uint64_t required_ = 0;
};

}  // namespace tenex
