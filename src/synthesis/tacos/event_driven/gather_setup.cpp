// Builds the shared tables of a synthesis.
#include "synthesis/tacos/event_driven/gather_setup.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

namespace {

/// Clears bits [first, first + count) of a row.
void clear_range(std::uint64_t* row, std::size_t first, std::size_t count) {
  for (std::size_t i = first, end = first + count; i < end;) {
    const std::size_t in_word = i % 64;
    const std::size_t bits = std::min<std::size_t>(64 - in_word, end - i);
    const std::uint64_t mask = (bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1) << in_word;
    row[i / 64] &= ~mask;
    i += bits;
  }
}

/// Numbers the distinct delays in order of appearance.
class DelayTable {
 public:
  explicit DelayTable(std::vector<Delay>& delays) : delays_(delays) {}

  HopDelays add(const HopTime& hop) {
    const std::int64_t busy = hop.busy.count();
    const std::int64_t latency = hop.latency.count();
    if (busy != latency) return {busy, latency, delay_of({busy, true, false}), delay_of({latency, false, true})};
    const std::uint32_t both = delay_of({latency, true, true});
    return {busy, latency, both, both};
  }

 private:
  std::uint32_t delay_of(const Delay& delay) {
    const auto [entry, fresh] = index_.try_emplace({delay.after, delay.frees, delay.arrives}, delays_.size());
    if (fresh) delays_.push_back(delay);
    return static_cast<std::uint32_t>(entry->second);
  }

  std::vector<Delay>& delays_;
  std::map<std::tuple<std::int64_t, bool, bool>, std::size_t> index_;
};

/// The cost of each link: the time from start to arrival for the first chunk size.
std::vector<std::int64_t> link_costs(const GatherSetup& setup) {
  std::vector<std::int64_t> costs;
  for (const std::uint16_t link_class : setup.class_of) costs.push_back(setup.hops[link_class * setup.sizes].latency);
  return costs;
}

std::vector<std::uint32_t> ranks_of(const std::vector<std::int64_t>& costs, std::uint32_t& ranks) {
  auto sorted = costs;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  ranks = static_cast<std::uint32_t>(std::max<std::size_t>(1, sorted.size()));
  std::vector<std::uint32_t> rank_of;
  for (const std::int64_t cost : costs)
    rank_of.push_back(
        static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), cost) - sorted.begin()));
  return rank_of;
}

/// The hop time at that pace.
HopTime paced(HopTime hop, Pace pace) {
  if (pace == Pace::until_arrival) hop.busy = hop.latency;
  if (pace == Pace::without_alpha) hop.latency = hop.busy;
  return hop;
}

void set_times(GatherSetup& setup, Occupancy occupancy, Pace pace) {
  const auto& sizes = setup.collective.chunk_sizes();
  setup.sizes = sizes.size();
  DelayTable delays(setup.delays);
  for (const auto& link_class : setup.topology.classes())
    for (const Bytes size : sizes) setup.hops.push_back(delays.add(paced(hop_time(link_class, size, occupancy), pace)));
  if (sizes.size() > 1)
    for (std::size_t chunk = 0; chunk < setup.collective.chunks(); ++chunk)
      setup.size_of.push_back(static_cast<std::uint16_t>(setup.collective.size_class(ChunkId::at(chunk))));
  for (std::size_t link = 0; link < setup.topology.links(); ++link)
    setup.class_of.push_back(setup.topology.class_of(LinkId::at(link)));
}

void set_wants(GatherSetup& setup, const std::vector<Participants>& participants) {
  const auto& collective = setup.collective;
  setup.served = BitMatrix(setup.topology.vertices(), collective.chunks());
  setup.wanted.assign(setup.topology.vertices(), 0);
  std::fill_n(setup.served.row(0), setup.topology.vertices() * setup.served.words_per_row(), ~std::uint64_t{0});
  for (std::size_t g = 0; g < participants.size(); ++g) {
    const std::size_t first = collective.first_chunk(GroupId::at(g)).index();
    const std::size_t count = collective.chunks_in(GroupId::at(g));
    for (const VertexId vertex : participants[g].vertices) {
      clear_range(setup.served.row(vertex.index()), first, count);
      setup.wanted[vertex.index()] += static_cast<std::uint32_t>(count);
    }
  }
  setup.held_at_start = Csr<std::uint32_t>::group(
      setup.topology.vertices(), collective.chunks(),
      [&](std::size_t chunk) { return collective.owner(ChunkId::at(chunk)).index(); },
      [](std::size_t chunk) { return static_cast<std::uint32_t>(chunk); });
  setup.list_begin.assign(setup.topology.vertices() + 1, 0);
  for (std::size_t vertex = 0; vertex < setup.topology.vertices(); ++vertex)
    setup.list_begin[vertex + 1] = setup.list_begin[vertex] + setup.wanted[vertex];
  for (std::size_t vertex = 0; vertex < setup.topology.vertices(); ++vertex)
    for (const std::uint32_t chunk : setup.held_at_start.row(vertex)) {
      setup.served.set(vertex, chunk);
      --setup.wanted[vertex];
    }
}

}  // namespace

GatherSetup::GatherSetup(const SynthesisProblem& problem, const std::vector<Participants>& participants, Pace pace,
                         const std::vector<std::int64_t>& level_costs)
    : topology(problem.topology), collective(problem.collective) {
  set_times(*this, problem.occupancy, pace);
  const auto costs = link_costs(*this);
  rank_of = ranks_of(costs, ranks);
  if (!level_costs.empty())
    levels = CostLevels(topology, level_costs, participants);
  else if (ranks > 1)
    levels = CostLevels(topology, costs, participants);
  set_wants(*this, participants);
  required = collective.required_deliveries();
  relays = any_relays(participants);
}

}  // namespace tenex
