#include "schedule/verifier/walk_checks.hpp"

#include <bit>

#include "tenex/base/csr.hpp"

namespace tenex::verifier {
namespace {

/// A vertex and a time in 64 bits.
class PlaceCode {
 public:
  explicit PlaceCode(std::size_t vertices) : bits_(static_cast<unsigned>(std::bit_width(vertices))) {}

  [[nodiscard]] bool fits(SimTime time) const { return static_cast<std::uint64_t>(time.count()) >> (63 - bits_) == 0; }
  [[nodiscard]] std::uint64_t code(VertexId vertex, SimTime time) const {
    return static_cast<std::uint64_t>(time.count()) << bits_ | vertex.value();
  }
  [[nodiscard]] std::uint32_t vertex(std::uint64_t code) const {
    return static_cast<std::uint32_t>(code & ((std::uint64_t{1} << bits_) - 1));
  }
  [[nodiscard]] SimTime time(std::uint64_t code) const { return SimTime::of(static_cast<std::int64_t>(code >> bits_)); }

 private:
  unsigned bits_;
};

/// Hops from one vertex to all others, by breadth-first search.
class HopSearch {
 public:
  explicit HopSearch(const Topology& topology) : topology_(topology), hops_(topology.vertices()) {
    queue_.reserve(topology.vertices());
  }

  void start_at(VertexId source) {
    std::fill(hops_.begin(), hops_.end(), kUnreached);
    queue_.assign(1, source);
    hops_[source.index()] = 0;
    for (std::size_t next = 0; next < queue_.size(); ++next) {
      const VertexId at = queue_[next];
      for (const LinkId link : topology_.out_links(at)) {
        auto& hops = hops_[topology_.target(link).index()];
        if (hops != kUnreached) continue;
        hops = hops_[at.index()] + 1;
        queue_.push_back(topology_.target(link));
      }
    }
  }
  [[nodiscard]] std::uint32_t to(VertexId vertex) const { return hops_[vertex.index()]; }

 private:
  static constexpr std::uint32_t kUnreached = std::numeric_limits<std::uint32_t>::max();
  const Topology& topology_;
  std::vector<std::uint32_t> hops_;
  std::vector<VertexId> queue_;
};

}  // namespace

std::optional<WalkTally> check_links(const WalkRules& rules, const Schedule& schedule, std::size_t first,
                                     std::size_t last, LinkSpan& links) {
  WalkTally tally;
  SendBuffer buffer;
  for (std::size_t segment = first; segment < last; ++segment) {
    schedule.read(segment, buffer);
    const SendBatch batch = buffer.batch;
    if (!WalkRules::plain(batch)) return std::nullopt;
    tally.sends += batch.size();
    const std::size_t size = batch.size();
    std::uint64_t fingerprint = 0;  // stays in a register, as do the names
    for (std::size_t i = 0; i < size; ++i) {
      const LinkId link = batch.link[i];
      const ChunkId chunk = batch.chunk[i];
      const SimTime start = batch.start_of(i);
      if (!rules.names_exist(link, chunk) || !rules.may_start(link, start)) return std::nullopt;
      if (!links.take(link, start, rules.hop(link, chunk).busy)) return std::nullopt;
      fingerprint += send_hash(start, link, chunk);
    }
    tally.fingerprint += fingerprint;
  }
  return tally;
}

std::optional<WalkTally> follow_chunks(const WalkRules& rules, const Schedule& schedule, ChunkId first, ChunkId last,
                                       SendBuffer& buffer) {
  schedule.read_chunks(first, last, buffer);
  const SendBatch batch = buffer.batch;
  if (!WalkRules::plain(batch)) return std::nullopt;
  const auto& topology = rules.topology();
  WalkTally tally;
  const std::size_t size = batch.size();
  tally.sends = size;
  std::size_t i = 0;
  for (std::uint32_t c = first.value(); c < last.value(); ++c) {
    const ChunkId chunk(c);
    VertexId at = vertex_of(rules.collective().source(chunk));
    SimTime from;
    std::uint64_t fingerprint = 0;
    for (; i < size && batch.chunk[i] == chunk; ++i) {
      const LinkId link = batch.link[i];
      const SimTime start = batch.start_of(i);
      if (!rules.names_exist(link, chunk) || !rules.may_start(link, start)) return std::nullopt;
      if (topology.source(link) != at || start < from) return std::nullopt;
      at = topology.target(link);
      from = start + rules.hop(link, chunk).latency;
      fingerprint += send_hash(start, link, chunk);
    }
    tally.fingerprint += fingerprint;
    if (at != vertex_of(rules.collective().destination(chunk))) return std::nullopt;
    tally.last_arrival = std::max(tally.last_arrival, from);
  }
  if (i != size) return std::nullopt;
  return tally;
}

std::optional<WalkTally> follow_in_time(const WalkRules& rules, const Schedule& schedule, const WalkShare& share) {
  constexpr std::size_t kAhead = 24;  // sends whose places are fetched early
  const auto& topology = rules.topology();
  const auto& collective = rules.collective();
  const PlaceCode place(topology.vertices());
  RawArray<std::uint64_t> places(share.chunks);
  for (std::size_t i = 0; i < share.chunks; ++i)
    places[i] = place.code(vertex_of(collective.source(ChunkId::at(share.first_chunk + i))), SimTime::zero());
  std::vector<SimTime> free(share.links);
  WalkTally tally;
  SendBuffer buffer;
  for (std::size_t segment = 0; segment < schedule.segments(); ++segment) {
    schedule.read(segment, buffer);
    const SendBatch batch = buffer.batch;
    if (!WalkRules::plain(batch)) return std::nullopt;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (i + kAhead < batch.size())
        if (const std::size_t later = batch.chunk[i + kAhead].index() - share.first_chunk; later < share.chunks)
          __builtin_prefetch(places.data() + later, 1);
      const LinkId link = batch.link[i];
      const ChunkId chunk = batch.chunk[i];
      const SimTime start = batch.start_of(i);
      if (!rules.names_exist(link, chunk) || !rules.may_start(link, start)) return std::nullopt;
      if (const std::size_t own = link.index() - share.first_link; own < share.links) {
        if (start < free[own]) return std::nullopt;
        free[own] = start + rules.hop(link, chunk).busy;
      }
      const std::size_t own = chunk.index() - share.first_chunk;
      if (own >= share.chunks) continue;
      ++tally.sends;
      const std::uint64_t before = places[own];
      const SimTime arrival = start + rules.hop(link, chunk).latency;
      if (place.vertex(before) != topology.source(link).value() || start < place.time(before) || !place.fits(arrival))
        return std::nullopt;
      places[own] = place.code(topology.target(link), arrival);
      tally.last_arrival = std::max(tally.last_arrival, arrival);
    }
  }
  for (std::size_t i = 0; i < share.chunks; ++i)
    if (place.vertex(places[i]) != collective.destination(ChunkId::at(share.first_chunk + i)).value())
      return std::nullopt;
  return tally;
}

std::uint64_t least_hops(const WalkRules& rules, int threads) {
  const auto& collective = rules.collective();
  const std::size_t chunks = collective.chunks();
  const auto npus = static_cast<std::int64_t>(rules.topology().npus());
  // Each source's chunks: their range where chunks are in the order of sources, else a list.
  std::vector<std::size_t> begin(static_cast<std::size_t>(npus) + 1, 0);
  bool ordered = true;
  for (std::size_t c = 0, before = 0; c < chunks; ++c) {
    const std::size_t source = collective.source(ChunkId::at(c)).index();
    ordered = ordered && source >= before;
    before = source;
    ++begin[source + 1];
  }
  for (std::size_t npu = 1; npu < begin.size(); ++npu) begin[npu] += begin[npu - 1];
  Csr<ChunkId> lists;
  if (!ordered)
    lists = Csr<ChunkId>::group(
        static_cast<std::size_t>(npus), chunks,
        [&](std::size_t c) { return collective.source(ChunkId::at(c)).index(); },
        [](std::size_t c) { return ChunkId::at(c); });
  std::uint64_t total = 0;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    HopSearch search(rules.topology());
#pragma omp for schedule(dynamic, 16) reduction(+ : total)
    for (std::int64_t i = 0; i < npus; ++i) {
      const auto npu = static_cast<std::size_t>(i);
      if (begin[npu] == begin[npu + 1]) continue;
      search.start_at(VertexId::at(npu));
      for (std::size_t c = begin[npu]; c < begin[npu + 1]; ++c) {
        const ChunkId chunk = ordered ? ChunkId::at(c) : lists.row(npu)[c - begin[npu]];
        total += search.to(vertex_of(collective.destination(chunk)));
      }
    }
  }
  return total;
}

bool never_returns(const WalkRules& rules, const Schedule& schedule) {
  std::vector<std::uint64_t> visits;
  visits.reserve(schedule.sends());
  SendBuffer buffer;
  for (std::size_t segment = 0; segment < schedule.segments(); ++segment) {
    schedule.read(segment, buffer);
    for (std::size_t i = 0; i < buffer.batch.size(); ++i) {
      const ChunkId chunk = buffer.batch.chunk[i];
      const VertexId target = rules.topology().target(buffer.batch.link[i]);
      if (target == vertex_of(rules.collective().source(chunk))) return false;
      visits.push_back(std::uint64_t{chunk.value()} << 32U | target.value());
    }
  }
  std::sort(visits.begin(), visits.end());
  return std::adjacent_find(visits.begin(), visits.end()) == visits.end();
}

}  // namespace tenex::verifier
