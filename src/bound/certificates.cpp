// The stand-in of a problem, its key, and the search on it.
#include "tenex/bound/certificates.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

namespace {

/// The fastest class of the stand-in, about, in bytes per second: its chunk of 1 MiB takes a microsecond.
constexpr std::int64_t kFastest = std::int64_t{1} << 40;
constexpr std::int64_t kSlowest = kFastest >> 20U;  // so that times of a billion chunks fit
constexpr Bytes kChunk = mebibytes(1);

/// Whether the speed of a link is that of its bandwidth alone: not if every chunk keeps it busy for its alpha too.
bool is_pure_bandwidth(const BoundProblem& problem) {
  return problem.occupancy == Occupancy::serialization || problem.topology.homogeneous();
}

/// The classes' speeds, the same for all problems in which they have the same ratios.
std::vector<std::int64_t> speeds_of(const BoundProblem& problem) {
  const auto classes = problem.topology.classes();
  const auto smallest = *std::ranges::min_element(problem.collective.chunk_sizes());
  const bool pure = is_pure_bandwidth(problem);
  std::vector<std::int64_t> measure;  // a bandwidth, or the time of a hop
  for (const auto& link : classes)
    measure.push_back(pure ? link.effective_bandwidth().count()
                           : hop_time(link, smallest, problem.occupancy).busy.count());
  std::int64_t divisor = 0;
  for (const auto each : measure) divisor = std::gcd(divisor, each);
  for (auto& each : measure) each /= divisor;
  if (measure.empty()) return {};
  const auto [least, most] = std::ranges::minmax(measure);
  __extension__ using Wide = __int128;
  std::vector<std::int64_t> speeds;
  for (const auto each : measure)  // bandwidths in exactly their ratio, as long as that fits
    speeds.push_back(std::max<std::int64_t>(kSlowest, pure ? std::max<std::int64_t>(1, kFastest / most) * each
                                                           : static_cast<std::int64_t>(Wide{kFastest} * least / each)));
  return speeds;
}

void add_vertices(DigestText& text, const Topology& topology) {
  text.add_size(topology.npus());
  text.add_size(topology.switches());
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v) {
    const auto& properties = topology.switch_properties(VertexId::at(v));
    text.add((properties.copy ? 1 : 0) + (properties.reduce ? 2 : 0));
  }
  const auto shape =
      topology.shape() ? to_string(*topology.shape()) : std::string();  // closed forms and planes read it
  text.add(static_cast<std::int64_t>(digest64(shape)));
  text.add_size(topology.links());
  for (std::size_t l = 0; l < topology.links(); ++l) {
    const auto link = LinkId::at(l);
    text.add(static_cast<std::int64_t>(topology.source(link).value()) << 32U | topology.target(link).value());
  }
}

Topology with_speeds(const Topology& topology, const std::vector<std::int64_t>& speeds) {
  TopologyBuilder builder(topology.npus());
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v)
    builder.add_switch(topology.switch_properties(VertexId::at(v)));
  builder.reserve_links(topology.links());
  for (std::size_t l = 0; l < topology.links(); ++l) {
    const auto link = LinkId::at(l);
    builder.add_link({topology.source(link), topology.target(link), SimTime::zero(),
                      Bandwidth::of(speeds[topology.class_of(link)])});
  }
  if (topology.shape()) builder.declare_shape(*topology.shape());
  return std::move(builder).build().value();
}

Collective of_large_chunks(const Collective& given) {
  std::size_t most_members = 1;
  for (const auto& group : given.groups()) most_members = std::max(most_members, group.members.size());
  const auto chunks = static_cast<std::int64_t>(has_root(given.kind()) ? 1 : most_members);
  return Collective::make({given.kind(), given.npus(), given.groups(), 1, kChunk * chunks, given.root()}).value();
}

}  // namespace

Digest certificate_key(const BoundProblem& problem) {
  const auto& topology = problem.topology;
  const auto& collective = problem.collective;
  DigestText text;
  add_vertices(text, topology);
  const auto speeds = speeds_of(problem);
  text.add_size(speeds.size());
  for (std::size_t l = 0; speeds.size() > 1 && l < topology.links(); ++l)
    text.add(speeds[topology.class_of(LinkId::at(l))]);
  text.add(static_cast<std::int64_t>(collective.kind()));
  text.add(has_root(collective.kind()) ? collective.root() : 0);
  text.add_size(collective.groups().size());
  for (const auto& group : collective.groups()) {
    text.add_size(group.members.size());
    for (const auto member : group.members) text.add(member.value());
  }
  return text.digest();
}

StandIn::StandIn(const BoundProblem& problem)
    : topology_(with_speeds(problem.topology, speeds_of(problem))), collective_(of_large_chunks(problem.collective)) {}

std::optional<CertifiedBound> StandIn::find(const BoundMethod& method, std::uint64_t work_limit) const {
  ensure(method.certify != nullptr && method.concerns(collective_.kind()), "the method has certificates");
  const BoundProblem stand_in{{topology_, collective_, Occupancy::serialization}, true, false};
  auto found = method.certify(stand_in, work_limit);
  if (found) ensure(method.check(stand_in, *found) == found->time, "a certificate proves the bound's time");
  return found;
}

}  // namespace tenex
