// The stand-in of a problem, its key, and the search on it.
#include "tenex/bound/certificates.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "bound/sized_needs.hpp"
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
  for (std::size_t k = 0; k < classes.size(); ++k)
    measure.push_back(pure ? classes[k].effective_bandwidth().count() : problem.hop(k, smallest).busy.count());
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

/// Bytes that each NPU or condition of a group has, chunks put together: group by group, and in their ratio. The
/// largest is about kChunk.
std::vector<std::vector<std::int64_t>> amounts_of(const Collective& given) {
  std::vector<std::vector<std::int64_t>> amounts;
  std::int64_t divisor = 0;
  std::int64_t most = 1;
  for (std::size_t g = 0; g < given.groups().size(); ++g) {
    const auto group = GroupId::at(g);
    const auto chunks = static_cast<std::size_t>(given.chunks_per_npu(group));
    const std::size_t count = stores_conditions(given.kind(group)) ? given.conditions(group).size() : 1;
    auto& own = amounts.emplace_back();
    for (std::size_t q = 0; q < count; ++q) {
      const auto chunk = ChunkId::at(given.first_chunk(group).index() + q * chunks);
      own.push_back(given.chunk_bytes(chunk).count() * given.chunks_per_npu(group));
      divisor = std::gcd(divisor, own.back());
      most = std::max(most, own.back());
    }
  }
  most /= divisor;
  __extension__ using Wide = __int128;
  const std::int64_t largest = kChunk.count();
  for (auto& own : amounts)
    for (auto& each : own) {
      each /= divisor;
      each = most <= largest ? each * (largest / most)
                             : std::max<std::int64_t>(1, static_cast<std::int64_t>(Wide{each} * largest / most));
    }
  return amounts;
}

/// One chunk per NPU, pair or condition, of sizes in the ratio of what they stand for.
Collective in_proportion(const Collective& given) {
  const auto amounts = amounts_of(given);
  CollectiveRequest request;
  request.npus = given.npus();
  for (std::size_t g = 0; g < amounts.size(); ++g) {
    const auto id = GroupId::at(g);
    ProcessGroup group{given.groups()[g].members};
    const auto members = static_cast<std::int64_t>(group.members.size());
    group.kind = given.kind(id);
    group.chunks = 1;
    group.root = given.root(id);
    group.size = bytes(amounts[g].front() * (owned_by_root(given.kind(id)) ? 1 : members));
    if (stores_conditions(given.kind(id))) {
      auto conditions = std::make_shared<std::vector<Condition>>();
      for (const Condition& condition : given.conditions(id))
        conditions->push_back({condition.source, condition.destinations, bytes(amounts[g][conditions->size()])});
      group.conditions = std::move(conditions);
    }
    request.groups.push_back(std::move(group));
  }
  return Collective::make(std::move(request)).value();
}

Collective of_large_chunks(const Collective& given) {
  if (!is_classic(given)) return in_proportion(given);
  std::size_t most_members = 1;
  for (const auto& group : given.groups()) most_members = std::max(most_members, group.members.size());
  const auto chunks = static_cast<std::int64_t>(has_root(given.kind()) ? 1 : most_members);
  return Collective::make({given.kind(), given.npus(), given.groups(), 1, kChunk * chunks, given.root()}).value();
}

/// What groups with collectives of their own do.
void add_work(DigestText& text, const Collective& collective) {
  const auto amounts = amounts_of(collective);
  for (std::size_t g = 0; g < amounts.size(); ++g) {
    const auto group = GroupId::at(g);
    text.add(static_cast<std::int64_t>(collective.kind(group)));
    text.add(collective.root(group));
    text.add_size(amounts[g].size());
    for (const auto amount : amounts[g]) text.add(amount);
    for (const Condition& condition : collective.conditions(group)) {
      text.add(condition.source);
      text.add_size(condition.destinations.size());
      for (const auto rank : condition.destinations) text.add(rank);
    }
  }
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
  if (!is_classic(collective)) add_work(text, collective);
  return text.digest();
}

StandIn::StandIn(const BoundProblem& problem)
    : topology_(with_speeds(problem.topology, speeds_of(problem))), collective_(of_large_chunks(problem.collective)) {}

std::optional<CertifiedBound> StandIn::find(const BoundMethod& method, std::uint64_t work_limit) const {
  ensure(method.certify != nullptr, "the method has certificates");
  if (!method.concerns(collective_.kind())) return std::nullopt;  // groups that differ in chunks alone are alike here
  BoundProblem stand_in{{topology_, collective_, Occupancy::serialization}, true, false};
  stand_in.divisible = true;
  auto found = method.certify(stand_in, work_limit);
  if (found) ensure(method.check(stand_in, *found) == found->time, "a certificate proves the bound's time");
  return found;
}

}  // namespace tenex
