// The synthesis key: a digest of all inputs of a synthesizer except the seed and the number of attempts.
//
// Times are divided by their greatest common divisor: problems that differ only in scale draw equal random
// numbers and get the same schedule, scaled.
#include <cstdint>
#include <numeric>
#include <vector>

#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/wires.hpp"

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

/// What switches do changes what is possible; how paths over them share links does, too.
void add_switches(DigestText& key, const Topology& topology) {
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v) {
    const auto& [copy, reduce, forwarding, buffer] = topology.switch_properties(VertexId::at(v));
    key.add((copy ? 1 : 0) + (reduce ? 2 : 0) + static_cast<int>(forwarding) * 4);
    key.add(buffer);
  }
  if (topology.wires() == nullptr) return;
  add_switches(key, topology.wires()->network());
  for (std::size_t wire = 0; wire < topology.wires()->size(); ++wire)
    for (const WireSpan& span : topology.wires()->spans(LinkId::at(wire))) key.add(span.link.value());
}

void add_times(DigestText& key, const SynthesisProblem& problem) {
  std::vector<std::int64_t> times;
  for (const auto& link_class : problem.topology.classes())
    for (const Bytes size : problem.collective.chunk_sizes()) {
      const HopTime hop = hop_time(link_class, size, problem.occupancy);
      times.push_back(hop.busy.count());
      times.push_back(hop.latency.count());
    }
  if (const Wires* wires = problem.topology.wires())
    for (const auto& link_class : wires->network().classes()) times.push_back(link_class.alpha.count());
  std::int64_t divisor = 0;
  for (const std::int64_t time : times) divisor = std::gcd(divisor, time);
  for (const auto& late : problem.start_delays) {
    times.push_back(late.time.count());
    divisor = std::gcd(divisor, late.time.count());
    key.add(late.npu.value());
  }
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
  add_switches(key, problem.topology);
  add_times(key, problem);
  add_collective(key, problem.collective);
  return key.digest();
}

}  // namespace tenex
