// Re-timing keeps the order of the sends on each link, so a link that carries sends from time zero to the schedule's
// end without a pause takes as long however its sends are timed. If the last partial sum over such a link completes the
// chunk that the receiver, its owner, sends first over another such link of the gather, then the second link cannot
// begin before the first has ended, and nothing can be gained. One such pair of links is enough. So it is with one
// chunk per NPU where the reduction is the mirror image of a gather that meets its bound.
#include "synthesis/overlap_proof.hpp"

#include <optional>
#include <vector>

#include "tenex/topology/timing.hpp"

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

class FullLinks {
 public:
  FullLinks(const Instance& instance, const Schedule& schedule)
      : instance_(instance),
        times_(instance.topology, instance.collective.chunk_sizes(), instance.occupancy),
        schedule_(schedule),
        end_(last_arrival(instance, schedule)) {
    if (schedule.tiles() > 0) return;
    all_.resize(instance.topology.links());
    for (std::size_t segment = 0; segment < schedule.segments(); ++segment) {
      schedule.read(segment, buffer_);
      for (std::size_t i = 0; i < buffer_.batch.size(); ++i) add(all_[buffer_.batch.link[i].index()], i);
    }
  }

  /// The link's sends if they follow each other from time zero to the schedule's end.
  std::optional<LinkSummary> find(LinkId link) {
    LinkSummary use;
    if (schedule_.tiles() == 0) {
      use = all_[link.index()];
    } else {
      for (std::size_t tile = schedule_.tiles(); tile-- > 0 && !use.last_chunk.exists();) add_tile(use, tile, link);
      if (use.last_arrival != end_) return std::nullopt;  // most links, after one tile
      use = {};
      for (std::size_t tile = 0; tile < schedule_.tiles(); ++tile) add_tile(use, tile, link);
    }
    return use.last_chunk.exists() && use.least == end_ ? std::optional(use) : std::nullopt;
  }

 private:
  /// Adds a send of the buffer.
  void add(LinkSummary& use, std::size_t i) const {
    const ChunkId chunk = buffer_.batch.chunk[i];
    const HopTime& hop =
        times_.at(instance_.topology.class_of(buffer_.batch.link[i]), instance_.collective.size_class(chunk));
    if (!use.first_chunk.exists()) use.first_chunk = chunk;
    use.last_chunk = chunk;
    use.last_arrival = buffer_.batch.start_of(i) + hop.latency;
    use.least = use.busy + hop.latency;
    use.busy += hop.busy;
  }
  void add_tile(LinkSummary& use, std::size_t tile, LinkId link) {
    schedule_.read_link(tile, link, buffer_);
    for (std::size_t i = 0; i < buffer_.batch.size(); ++i) add(use, i);
  }

  const Instance& instance_;
  HopTimes times_;
  const Schedule& schedule_;
  SimTime end_;
  std::vector<LinkSummary> all_;  ///< of all links, if links cannot be read one by one
  SendBuffer buffer_;
};

}  // namespace

bool gains_nothing(const Instance& instance, const Schedule& reduction, const Schedule& gather) {
  const Topology& topology = instance.topology;
  if (!topology.direct() || topology.varies()) return false;
  if (reduction.may_carry_messages() || gather.may_carry_messages()) return false;
  FullLinks reducing(instance, reduction);
  FullLinks gathering(instance, gather);
  for (std::size_t l = 0; l < topology.links(); ++l) {
    const auto out = gathering.find(LinkId::at(l));
    if (!out) continue;
    const VertexId owner = topology.source(LinkId::at(l));
    if (vertex_of(instance.collective.owner(out->first_chunk)) != owner) continue;
    for (const LinkId in : topology.in_links(owner))
      if (const auto sum = reducing.find(in); sum && sum->last_chunk == out->first_chunk) return true;
  }
  return false;
}

}  // namespace tenex
