// The most that re-timing can gain for an All-Reduce, in O(links) memory.
//
// Re-timing keeps the order of the sends on each link. So a link whose sends take b1, b2, ... bk cannot end the last of
// them before b1 + ... + bk. If the last partial sum over a link goes to the owner of its chunk c, then c is not
// complete before that. If the owner's first send over another link in the gather is c, then that link's last send
// cannot end before the sum of both. Where both links are busy without a pause, one through the whole reduction and the
// other through the whole gather, this is the time of the given schedule itself, and nothing can be gained. One such
// pair of links is enough.
#include <algorithm>
#include <optional>
#include <vector>

#include "schedule/segments.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/schedule/timing/retime.hpp"

namespace tenex {
namespace {

/// A summary of a link's sends.
struct LinkSummary {
  ChunkId first_chunk;
  ChunkId last_chunk;
  SimTime last_arrival;
  SimTime least;  ///< the last arrival is not before this, however the sends are timed
  SimTime busy;   ///< of all sends together
};

class Runs {
 public:
  Runs(const Instance& instance, const Schedule& schedule)
      : topology_(instance.topology),
        collective_(instance.collective),
        times_(instance.topology, instance.collective.chunk_sizes(), instance.occupancy),
        schedule_(schedule),
        end_(last_arrival(instance, schedule)) {
    if (schedule.tiles() > 0) return;
    all_.resize(instance.topology.links());
    for_each_send(schedule,
                  [&](const Send& send) { append(all_[send.link.index()], send.link, send.chunk, send.start); });
  }

  [[nodiscard]] SimTime end() const { return end_; }

  /// The summary of the link's sends if it makes the schedule's last arrival.
  std::optional<LinkSummary> last_to_arrive(LinkId link) {
    LinkSummary run;
    if (schedule_.tiles() == 0) {
      run = all_[link.index()];
    } else {
      for (std::size_t tile = schedule_.tiles(); tile-- > 0 && !run.last_chunk.exists();) append_tile(run, tile, link);
      if (run.last_arrival != end_) return std::nullopt;  // most links, after one tile
      run = {};
      for (std::size_t tile = 0; tile < schedule_.tiles(); ++tile) append_tile(run, tile, link);
    }
    return run.last_chunk.exists() && run.last_arrival == end_ ? std::optional(run) : std::nullopt;
  }

 private:
  void append(LinkSummary& run, LinkId link, ChunkId chunk, SimTime start) const {
    const HopTime& hop = times_.at(topology_.class_of(link), collective_.size_class(chunk));
    if (!run.first_chunk.exists()) run.first_chunk = chunk;
    run.last_chunk = chunk;
    run.last_arrival = start + hop.latency;
    run.least = run.busy + hop.latency;
    run.busy += hop.busy;
  }

  void append_tile(LinkSummary& run, std::size_t tile, LinkId link) {
    schedule_.read_link(tile, link, buffer_);
    for (std::size_t i = 0; i < buffer_.batch.size(); ++i)
      append(run, link, buffer_.batch.chunk[i], buffer_.batch.start_of(i));
  }

  const Topology& topology_;
  const Collective& collective_;
  HopTimes times_;
  const Schedule& schedule_;
  SimTime end_;
  std::vector<LinkSummary> all_;  ///< of all links, if links cannot be read one by one
  SendBuffer buffer_;
};

}  // namespace

SimTime retiming_limit(const Instance& instance, const Schedule& reduction, const Schedule& gather) {
  SimTime limit;
  if (!instance.topology.direct() || reduction.may_carry_messages() || gather.may_carry_messages()) return limit;
  Runs reducing(instance, reduction);
  Runs gathering(instance, gather);
  for (std::size_t l = 0; l < instance.topology.links(); ++l) {
    const auto out = gathering.last_to_arrive(LinkId::at(l));
    if (!out) continue;
    const VertexId owner = instance.topology.source(LinkId::at(l));
    if (vertex_of(instance.collective.owner(out->first_chunk)) != owner) continue;
    for (const LinkId in : instance.topology.in_links(owner))
      if (const auto sum = reducing.last_to_arrive(in); sum && sum->last_chunk == out->first_chunk)
        limit = std::max(limit, sum->least + out->least);
  }
  TENEX_ENSURES(limit <= reducing.end() + gathering.end(), "no more than the time without overlap");
  return limit;
}

}  // namespace tenex
