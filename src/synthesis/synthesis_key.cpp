// The synthesis key: a digest of all inputs of a synthesizer except the seed and the number of attempts.
//
// Times are divided by their greatest common divisor: problems that differ only in scale draw equal random
// numbers and get the same schedule, scaled.
#include <cstdint>
#include <numeric>
#include <vector>

#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

namespace {

void add_topology(DigestText& key, const Topology& topology) {
  key.add_size(topology.npus());
  key.add_size(topology.switches());
  key.add_size(topology.links());
  for (std::size_t i = 0; i < topology.links(); ++i) {
    const LinkId link = LinkId::at(i);
    key.add(topology.source(link).value());
    key.add(topology.target(link).value());
    key.add(topology.class_of(link));
  }
}

void add_times(DigestText& key, const SynthesisProblem& problem) {
  std::vector<std::int64_t> times;
  for (const auto& link_class : problem.topology.classes())
    for (const Bytes size : problem.collective.chunk_sizes()) {
      const HopTime hop = hop_time(link_class, size, problem.occupancy);
      times.push_back(hop.busy.count());
      times.push_back(hop.latency.count());
    }
  std::int64_t divisor = 0;
  for (const std::int64_t time : times) divisor = std::gcd(divisor, time);
  key.add_size(times.size());
  for (const std::int64_t time : times) key.add(divisor == 0 ? 0 : time / divisor);
}

void add_collective(DigestText& key, const Collective& collective) {
  key.add(static_cast<std::int64_t>(collective.kind()));
  key.add(collective.chunks_per_npu());
  key.add(collective.root());
  key.add_size(collective.groups().size());
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    key.add_size(
        collective.chunks_in(GroupId::at(g)) == 0 ? 0 : collective.size_class(collective.first_chunk(GroupId::at(g))));
    key.add_size(collective.groups()[g].members.size());
    for (const NpuId member : collective.groups()[g].members) key.add(member.value());
  }
  if (stores_conditions(collective.kind()) || collective.kind() == CollectiveKind::mixed) key.add(collective.work());
}

}  // namespace

Digest synthesis_key(const SynthesisProblem& problem) {
  DigestText key;
  add_topology(key, problem.topology);
  add_times(key, problem);
  add_collective(key, problem.collective);
  return key.digest();
}

}  // namespace tenex
