// A product of dimensions as copies inside a product of more dimensions.
//
// Encoding of the copies: an NPU id of the larger product has one digit per dimension. The digits of the inner
// dimensions give the NPU inside its copy, the others give the copy, both in the mixed radix of their dimensions. Both
// numberings keep the order of NPU ids, and links are ordered by dimension, then by NPU id. So the links of a copy, in
// the order of their ids, correspond to those of the smaller product in order.
#include "training/dimension_network.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "tenex/topology/block.hpp"

namespace tenex {
namespace {

/// The copy of an NPU of the larger product, and its id there.
struct PlaceInCopies {
  std::size_t copy = 0;
  std::size_t npu = 0;
};

std::vector<PlaceInCopies> places_of(const Shape& shape, const Dimensions& inner, const Dimensions& outer) {
  std::size_t npus = 1;
  for (const auto dimension : outer) npus *= shape.blocks[dimension].size;
  std::vector<PlaceInCopies> places(npus);
  for (std::size_t npu = 0; npu < npus; ++npu) {
    auto rest = npu;
    PlaceInCopies weight{1, 1};
    for (const auto dimension : outer) {
      const std::size_t size = shape.blocks[dimension].size;
      const bool inside = std::ranges::binary_search(inner, dimension);
      auto& index = inside ? places[npu].npu : places[npu].copy;
      auto& step = inside ? weight.npu : weight.copy;
      index += rest % size * step;
      step *= size;
      rest /= size;
    }
  }
  return places;
}

/// The dimension (of `shape`) of each link of the product of `dimensions`.
class LinkDimensions {
 public:
  LinkDimensions(const Shape& shape, const Dimensions& dimensions, const Topology& topology)
      : shape_(shape), dimensions_(dimensions), topology_(topology) {
    for (const auto dimension : dimensions) {
      const auto& block = shape.blocks[dimension];
      const auto of_line = static_cast<std::size_t>(count_shape({{block}}).switches);
      switches_.insert(switches_.end(), topology.npus() / block.size * of_line, dimension);
    }
  }

  [[nodiscard]] std::size_t of(LinkId link) const {
    const auto source = topology_.source(link);
    const auto target = topology_.target(link);
    const auto last = std::max(source, target);
    if (!topology_.is_npu(last)) return switches_[last.index() - topology_.npus()];
    auto a = source.index();
    auto b = target.index();
    for (const auto dimension : dimensions_) {
      const std::size_t size = shape_.blocks[dimension].size;
      if (a % size != b % size) return dimension;
      a /= size;
      b /= size;
    }
    ensure(false, "a link joins NPUs that differ in one dimension");
    return 0;
  }

 private:
  const Shape& shape_;
  const Dimensions& dimensions_;
  const Topology& topology_;
  std::vector<std::size_t> switches_;  // per switch
};

/// An NPU for every link: the lower of its ends or, for a link between switches, the first NPU below the lower one.
/// Switches are numbered from the leaves up, and so are the links into them.
class NpuEnds {
 public:
  explicit NpuEnds(const Topology& topology) : topology_(topology), first_(topology.vertices(), VertexId::none()) {
    for (std::size_t npu = 0; npu < topology.npus(); ++npu) first_[npu] = VertexId::at(npu);
    for (std::size_t link = 0; link < topology.links(); ++link) {
      const auto source = topology.source(LinkId::at(link));
      const auto target = topology.target(LinkId::at(link));
      if (topology.is_npu(target) || source > target) continue;
      first_[target.index()] = std::min(first_[target.index()], first_[source.index()]);
    }
  }
  [[nodiscard]] VertexId operator()(LinkId link) const {
    return first_[std::min(topology_.source(link), topology_.target(link)).index()];
  }

 private:
  const Topology& topology_;
  std::vector<VertexId> first_;
};

}  // namespace

Dimensions dimensions_of(const GroupSpan& span) {
  Dimensions dimensions;
  for (const auto& share : span.shares) dimensions.push_back(share.dimension);
  return dimensions;
}

Dimensions united(const Dimensions& a, const Dimensions& b) {
  Dimensions both;
  std::ranges::set_union(a, b, std::back_inserter(both));
  return both;
}

bool are_disjoint(const Dimensions& a, const Dimensions& b) { return united(a, b).size() == a.size() + b.size(); }

GroupNetwork dimension_network(const TrainingNetwork& network, const Dimensions& dimensions) {
  const auto& topology = network.point.topology;
  GroupNetwork result;
  result.links.per_npu = true;
  for (const auto dimension : dimensions) {
    result.shape.blocks.push_back(topology.shape.blocks[dimension]);
    result.dimensions.push_back(dimension);
    result.links.alpha.push_back(of_dimension(topology.links.alpha, dimension));
    result.links.bandwidth.push_back(of_dimension(network.bandwidth, dimension));
  }
  return result;
}

std::vector<ProcessGroup> groups_within(const Mapping& mapping, Scope scope, const Dimensions& dimensions) {
  Dimensions all(mapping.shape().dimensions());
  for (std::size_t dimension = 0; dimension < all.size(); ++dimension) all[dimension] = dimension;
  const auto places = places_of(mapping.shape(), dimensions, all);
  std::vector<ProcessGroup> groups;
  for (auto& group : mapping.groups(scope)) {
    if (places[group.members.front().index()].copy != 0) continue;
    for (auto& npu : group.members) npu = NpuId::at(places[npu.index()].npu);
    groups.push_back(std::move(group));
  }
  return groups;
}

Copies::Copies(const Shape& shape, const Dimensions& inner, const Topology& inner_topology, const Dimensions& outer,
               const Topology& outer_topology) {
  const auto places = places_of(shape, inner, outer);
  const auto count = places.size() / inner_topology.npus();
  npus_.assign(count, std::vector<NpuId>(inner_topology.npus()));
  links_.resize(count);
  for (std::size_t npu = 0; npu < places.size(); ++npu) npus_[places[npu].copy][places[npu].npu] = NpuId::at(npu);
  const LinkDimensions dimensions(shape, outer, outer_topology);
  const NpuEnds inner_end(inner_topology);
  const NpuEnds outer_end(outer_topology);
  for (std::size_t index = 0; index < outer_topology.links(); ++index) {
    const auto link = LinkId::at(index);
    if (!std::ranges::binary_search(inner, dimensions.of(link))) continue;
    const auto& place = places[outer_end(link).index()];
    auto& links = links_[place.copy];
    const auto twin = LinkId::at(links.size());
    ensure(twin.index() < inner_topology.links() && inner_end(twin).index() == place.npu &&
               outer_topology.link(link).bandwidth == inner_topology.link(twin).bandwidth &&
               outer_topology.link(link).alpha == inner_topology.link(twin).alpha,
           "copies of dimensions have the same links in the same order");
    links.push_back(link);
  }
  for (const auto& links : links_)
    ensure(links.size() == inner_topology.links(), "copies of dimensions have the same links");
}

Schedule spread(const Schedule& schedule, const Collective& inner, const Collective& outer, const Copies& copies) {
  const auto* payloads = schedule.payloads();
  Payloads spread_payloads;
  std::vector<ChunkId> carried;
  std::vector<Send> sends;
  sends.reserve(schedule.sends() * copies.count());
  std::size_t messages = 0;
  const auto batches = list_sends(schedule);
  for (const auto& send : batches)
    if (send.message.exists()) messages = std::max(messages, send.message.index() + 1);
  for (std::size_t copy = 0; copy < copies.count(); ++copy) {
    const auto chunk_of = [&](ChunkId chunk) {
      const auto group = inner.group_of(chunk);
      const auto there = outer.group_of(copies.npu(copy, inner.groups()[group.index()].members.front()));
      return ChunkId::at(outer.first_chunk(there).index() + chunk.index() - inner.first_chunk(group).index());
    };
    for (auto send : batches) {
      send.link = copies.link(copy, send.link);
      send.chunk = send.chunk.index() < inner.chunks()
                       ? chunk_of(send.chunk)
                       : ChunkId::at(send.chunk.index() - inner.chunks() + outer.chunks() + copy * payloads->size());
      if (send.message.exists()) {
        send.message = MessageId::at(send.message.index() + copy * messages);
        send.destination = copies.npu(copy, send.destination);
      }
      sends.push_back(send);
    }
    for (std::size_t payload = 0; payloads != nullptr && payload < payloads->size(); ++payload) {
      carried.clear();
      for (const auto chunk : payloads->of(payload)) carried.push_back(chunk_of(chunk));
      spread_payloads.add(carried, payloads->contributors_of(payload));
    }
  }
  return make_list_schedule(std::move(sends), std::move(spread_payloads));
}

std::size_t spread_bytes(std::size_t sends, std::size_t listed_bytes, std::size_t copies) {
  constexpr std::size_t kBytesOfSend = 2 * sizeof(Send);  // while the list is sorted into columns
  __extension__ using Wide = unsigned __int128;
  const auto bytes = static_cast<Wide>(sends) * (copies + 1) * kBytesOfSend + static_cast<Wide>(listed_bytes) * copies;
  return static_cast<std::size_t>(std::min<Wide>(bytes, SIZE_MAX));
}

std::size_t spread_bytes(const Schedule& schedule, std::size_t copies) {
  const auto* payloads = schedule.payloads();
  const auto listed = payloads != nullptr
                          ? (payloads->chunks.size() + payloads->contributors.size()) * sizeof(ChunkId) +
                                (payloads->size() + payloads->first_contributor.size()) * 8
                          : 0;
  return spread_bytes(schedule.sends(), listed, copies);
}

}  // namespace tenex
