// Rings: All-Gather, Reduce-Scatter and All-Reduce along Hamiltonian cycles that are packed on the machine so that
// their total rate is largest. A group's members may be joined by links or by paths over switches.
//
// Each chunk goes once round one ring, one way. Chunks are dealt to the rings in proportion to their rates, those of an
// owner one after the other. A packing with fewer rings serves few chunks better, because a chunk passes each hop
// alone: of the packings found, the one is taken that the chunks leave first. Where no cycle is found (a line, a mesh
// of odd sides), the ring follows the ranks over shortest routes, as `ring` does: both ways round if that has the
// larger total rate.
//
// All-Gather: a chunk's owner sends it to the next member, which passes it on, until the member before the owner has
// it. Reduce-Scatter: the member after the owner begins, and each adds its own contribution. All-Reduce: the owner
// begins the gather when its sum is complete.
//
// Encoding: per group, the ring of each chunk, and per ring the next member. A message's chunk gives both.
// Source: Patarasuk and Yuan 2009 for one ring. Several rings per machine: NVIDIA's NCCL; the three cycles of a DGX-1:
// Wang et al., "Blink", MLSys 2020, section 2. The packing is this project's own (ring_packing.hpp).
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "algorithm/ring_network.hpp"
#include "algorithm/ring_packing.hpp"
#include "algorithm/seats.hpp"
#include "algorithm/textbook.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/topology/routes.hpp"

namespace tenex {
namespace {

constexpr std::size_t kMostMembers = 1024;  // arcs join all pairs on a switch

/// The rings of a group and their chunks.
struct GroupRings {
  std::vector<std::vector<std::uint32_t>> next;    ///< by ring, by rank
  std::vector<std::vector<std::uint32_t>> before;  ///< by ring, by rank
  std::vector<std::uint16_t> ring_of;              ///< by chunk of the group
};

/// Deals chunks in proportion to rates: each goes to the ring that will have passed its share first.
std::vector<std::uint16_t> deal(const std::vector<Ring>& rings, std::size_t chunks) {
  std::vector<std::int64_t> dealt(rings.size(), 0);
  std::vector<std::uint16_t> ring_of(chunks);
  const auto later = [&](std::size_t r) {
    return static_cast<double>(dealt[r] + 1) / static_cast<double>(rings[r].rate);
  };
  for (auto& chosen : ring_of) {
    std::size_t first = 0;
    for (std::size_t r = 1; r < rings.size(); ++r)
      if (later(r) < later(first)) first = r;
    ++dealt[first];
    chosen = static_cast<std::uint16_t>(first);
  }
  return ring_of;
}

/// The time in which a packing passes all chunks by one member, in units of seconds per byte of a chunk. A ring's
/// chunks share its rate, and a chunk takes as long as its hops do.
double pace(const RingNetwork& network, const RingPacking& packing, std::size_t chunks_per_npu) {
  const auto n = network.members();
  std::vector<std::int64_t> dealt(packing.rings.size(), 0);
  for (const auto ring : deal(packing.rings, n * chunks_per_npu)) ++dealt[ring];
  double slowest = 0;
  for (std::size_t r = 0; r < packing.rings.size(); ++r) {
    const auto& [order, rate] = packing.rings[r];
    if (dealt[r] == 0) continue;
    double hops = 0;
    for (std::uint32_t i = 0; i < n; ++i)
      for (const auto link : network.links(network.arc(order[i], order[i + 1 == n ? 0 : i + 1])))
        hops += 1 / static_cast<double>(network.capacities()[link]);
    slowest = std::max({slowest, hops / n, static_cast<double>(dealt[r]) / n / static_cast<double>(rate)});
  }
  return slowest;
}

/// The ring in order of ranks, in both directions if they have the larger total rate on their routes.
std::vector<Ring> in_order_of_ranks(const Topology& topology, const std::vector<NpuId>& members, RouteChoice routes) {
  Router router(topology, routes);
  std::vector<std::int64_t> load(topology.links(), 0);
  const auto lay = [&](bool forward) {
    double slowest = 0;
    for (std::size_t rank = 0; rank < members.size(); ++rank) {
      const auto after = members[(rank + 1) % members.size()];
      for (const auto link : forward ? router.route(members[rank], after) : router.route(after, members[rank]))
        ++load[link.index()];
    }
    for (std::size_t link = 0; link < load.size(); ++link)
      slowest = std::max(
          slowest, static_cast<double>(load[link]) / static_cast<double>(topology.bandwidth(LinkId::at(link)).count()));
    return slowest;
  };
  std::vector<std::uint32_t> order(members.size());
  std::iota(order.begin(), order.end(), 0U);
  std::vector<Ring> rings{{order, 1}};
  const double one = lay(true);
  const double both = lay(false);
  if (both >= 2 * one || members.size() < 3) return rings;
  std::ranges::reverse(order);
  rings.push_back({std::move(order), 1});
  return rings;
}

/// The packings of at most so many rings. Many numbers of chunks have the same ones, and they take seconds.
std::shared_ptr<const std::vector<RingPacking>> packings_of(const RingNetwork& network, std::uint32_t most_rings,
                                                            ProgramParts* parts) {
  if (parts == nullptr) return std::make_shared<const std::vector<RingPacking>>(pack_rings(network, most_rings));
  const auto bytes_of = [&](const auto& found) {
    std::size_t rings = 1;
    for (const RingPacking& packing : *std::static_pointer_cast<const std::vector<RingPacking>>(found))
      rings += packing.rings.size();
    return rings * (sizeof(Ring) + sizeof(std::uint32_t) * network.members());
  };
  const auto kept = parts->get(
      fmt::format("packed rings {} {}", to_string(network.digest()), most_rings),
      [&]() -> std::shared_ptr<const void> {
        return std::make_shared<const std::vector<RingPacking>>(pack_rings(network, most_rings));
      },
      bytes_of);
  return std::static_pointer_cast<const std::vector<RingPacking>>(*kept);
}

/// The rings for a group: of the packings, the one with the best pace.
std::vector<Ring> rings_of(const RingNetwork& network, std::size_t chunks_per_npu, ProgramParts* parts) {
  const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(2 * chunks_per_npu, most_packed_rings(network)));
  const auto found = packings_of(network, most, parts);
  const auto& packings = *found;
  if (packings.empty()) return {};
  std::size_t best = 0;
  for (std::size_t i = 1; i < packings.size(); ++i)
    if (pace(network, packings[i], chunks_per_npu) < pace(network, packings[best], chunks_per_npu)) best = i;
  return packings[best].rings;
}

/// The rings of all groups. Groups on equal networks have equal rings, which are sought once.
std::vector<GroupRings> lay_rings(const Topology& topology, const Collective& collective,
                                  const AlgorithmOptions& options) {
  const auto networks = ring_networks(topology, collective, options.routes);
  const auto chunks_per_npu = static_cast<std::size_t>(collective.chunks_per_npu());
  std::vector<std::vector<Ring>> rings;
  std::vector<GroupRings> laid;
  for (std::size_t g = 0; g < networks.size(); ++g) {
    const auto& members = collective.groups()[g].members;
    const auto same = std::ranges::find(networks, networks[g]) - networks.begin();
    rings.push_back(static_cast<std::size_t>(same) < g ? rings[static_cast<std::size_t>(same)]
                                                       : rings_of(networks[g], chunks_per_npu, options.parts));
    const auto& sought = rings.back();
    const auto chosen = sought.empty() ? in_order_of_ranks(topology, members, options.routes) : sought;
    auto& group = laid.emplace_back();
    group.ring_of = deal(chosen, members.size() * chunks_per_npu);
    for (const auto& ring : chosen) {
      auto& next = group.next.emplace_back(members.size());
      auto& before = group.before.emplace_back(members.size());
      for (std::size_t i = 0; i < members.size(); ++i) {
        const auto after = ring.order[(i + 1) % members.size()];
        next[ring.order[i]] = after;
        before[after] = ring.order[i];
      }
    }
  }
  return laid;
}

/// A collective and the rings of its groups.
struct PackedRings {
  Seats seats;
  std::vector<GroupRings> of_group;
};

class RingsState final : public ProgramState {
 public:
  explicit RingsState(std::shared_ptr<const PackedRings> packed)
      : packed_(std::move(packed)), seats_(packed_->seats), kind_(seats_.kind()) {}

  void start(NpuId npu, std::vector<Message>& out) override {
    if (!seats_.takes_part(npu)) return;
    const auto me = seats_.of(npu);
    const auto stage = kind_ == CollectiveKind::all_gather ? Stage::copy : Stage::reduce;
    for (std::uint32_t k = 0; k < seats_.chunks_per_npu(); ++k) {
      if (stage == Stage::copy)
        send_on(me, seats_.chunk(me, me.rank, k), stage, out);
      else
        begin_sums(me, k, out);
    }
  }

  void arrive(const Message& message, std::vector<Message>& out) override {
    const auto me = seats_.of(message.destination);
    const auto owner = seats_.part(me, message.chunk).owner;
    if (message.stage == Stage::copy) {
      if (next(me, message.chunk) != owner) send_on(me, message.chunk, Stage::copy, out);
    } else if (me.rank != owner) {
      send_on(me, message.chunk, Stage::reduce, out);
    } else if (kind_ == CollectiveKind::all_reduce) {
      send_on(me, message.chunk, Stage::copy, out);
    }
  }

 private:
  [[nodiscard]] const GroupRings& rings(const Seat& me) const { return packed_->of_group[me.group.index()]; }
  [[nodiscard]] std::uint32_t next(const Seat& me, ChunkId chunk) const {
    const auto& group = rings(me);
    return group.next[group.ring_of[chunk.value() - me.first_chunk]][me.rank];
  }
  void send_on(const Seat& me, ChunkId chunk, Stage stage, std::vector<Message>& out) const {
    emit(out, me.npu, seats_.npu_at(me.group, next(me, chunk)), chunk, stage);
  }
  /// Starts the sums of the k-th chunks of those members that are before this one in the rings of these chunks.
  void begin_sums(const Seat& me, std::uint32_t k, std::vector<Message>& out) const {
    const auto& group = rings(me);
    for (std::size_t r = 0; r < group.before.size(); ++r) {
      const auto owner = group.before[r][me.rank];
      const auto chunk = seats_.chunk(me, owner, k);
      if (group.ring_of[chunk.value() - me.first_chunk] == r) send_on(me, chunk, Stage::reduce, out);
    }
  }

  std::shared_ptr<const PackedRings> packed_;
  const Seats& seats_;
  CollectiveKind kind_;
};

class RingsProgram final : public Program {
 public:
  explicit RingsProgram(std::shared_ptr<const PackedRings> packed) : packed_(std::move(packed)) {}

  [[nodiscard]] std::unique_ptr<ProgramState> begin() const override { return std::make_unique<RingsState>(packed_); }
  [[nodiscard]] std::uint64_t messages() const override { return messages_of_all_pairs(packed_->seats.collective()); }
  /// Each NPU sends only to the members after it in the rings.
  [[nodiscard]] std::string_view destination_order() const override { return "absolute"; }

 private:
  std::shared_ptr<const PackedRings> packed_;
};

}  // namespace

Status fits_rings(std::string_view name, const Topology& /*topology*/, const Collective& collective) {
  for (const auto& group : collective.groups())
    if (group.members.size() > kMostMembers)
      return input_error({}, fmt::format("algorithm \"{}\" for a process group of {} NPUs", name, group.members.size()),
                         fmt::format("it packs cycles for at most {}", kMostMembers),
                         "choose \"ring\", or smaller groups");
  return success();
}

Result<std::shared_ptr<const Program>> make_rings(const Topology& topology, const Collective& collective,
                                                  const AlgorithmOptions& options) {
  if (auto fits = check_fits("rings", topology, collective); !fits) return fits.errors();
  auto packed = std::make_shared<PackedRings>(PackedRings{Seats(collective), lay_rings(topology, collective, options)});
  return std::shared_ptr<const Program>(std::make_shared<RingsProgram>(std::move(packed)));
}

}  // namespace tenex
