// One forward search per source gives the distances of all of its conditions.
#include "synthesis/pccl/paths/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "synthesis/pccl/paths/distances.hpp"

namespace tenex {
namespace {

constexpr std::uint32_t kStays = kUnreached<std::uint32_t>;  ///< the distance of a chunk that moves nowhere
constexpr std::uint32_t kMostClasses = 1 << 16;
constexpr std::size_t kMostErrors = 8;
constexpr std::size_t kMostRanges = 6;  ///< of a list of NPUs in a message

/// "0-3, 5" of the NPUs that a row reaches.
std::string reached_npus(std::span<const std::uint32_t> row) {
  std::string text;
  std::size_t ranges = 0;
  for (std::size_t v = 0; v < row.size(); ++v) {
    if (row[v] == kUnreached<std::uint32_t>) continue;
    const std::size_t first = v;
    while (v + 1 < row.size() && row[v + 1] != kUnreached<std::uint32_t>) ++v;
    if (++ranges > kMostRanges) return text + ", ...";
    text += fmt::format("{}{}", text.empty() ? "" : ", ", first);
    if (v > first) text += fmt::format("-{}", v);
  }
  return text;
}

Diagnostic unreached(std::uint32_t source, VertexId destination, std::span<const std::uint32_t> row, bool confined) {
  return input_error({}, fmt::format("NPU {} cannot be reached from NPU {}", destination.value(), source),
                     fmt::format("no link leaves the NPUs that NPU {} reaches{}: {}", source,
                                 confined ? " inside its process group" : "", reached_npus(row)),
                     confined ? "allow paths over NPUs outside the group, or add links"
                              : "add links, or leave the NPU out of the collective");
}

/// The distances of all chunks.
class Measure {
 public:
  Measure(const SynthesisProblem& problem, const PathNetwork& network, const std::vector<Bitset>& members)
      : conditions_(problem.collective),
        members_(members),
        search_(network),
        npus_(network.npus()),
        row_(network.vertices()) {}

  Result<std::vector<std::uint32_t>> distances() {
    std::vector<std::uint32_t> all(conditions_.count(), kStays);
    for (std::size_t c = 0; c < all.size() && errors_.size() < kMostErrors; ++c) all[c] = distance(ChunkId::at(c));
    if (!errors_.empty()) return errors_;
    return all;
  }

 private:
  std::uint32_t distance(ChunkId chunk) {
    const GroupId group = conditions_.group(chunk);
    const std::uint32_t source = conditions_.source(chunk).value();
    const std::size_t size = conditions_.size_class(chunk);
    if (source != source_ || size != size_ || (group != group_ && !members_.empty())) {
      search_.fill(source, size, LinkDirection::forward, members_.empty() ? nullptr : &members_[group.index()], row_);
    }
    std::tie(source_, size_, group_) = std::tuple(source, size, group);
    std::uint32_t farthest = 0;
    bool moves = false;
    conditions_.for_each_destination(chunk, [&](VertexId destination) {
      const std::uint32_t distance = row_[destination.index()];
      if (distance == kUnreached<std::uint32_t> && (errors_.empty() || source != last_error_)) {
        errors_.push_back(unreached(source, destination, std::span(row_).first(npus_), !members_.empty()));
        last_error_ = source;
      }
      farthest = std::max(farthest, distance);
      moves = true;
    });
    return moves ? farthest : kStays;
  }

  Conditions conditions_;
  const std::vector<Bitset>& members_;
  DistanceSearch<std::uint32_t> search_;
  std::size_t npus_;
  std::vector<std::uint32_t> row_;
  std::uint32_t source_ = VertexId::none().value();
  std::size_t size_ = 0;
  GroupId group_ = GroupId::none();
  std::uint32_t last_error_ = 0;
  Diagnostics errors_;
};

}  // namespace

std::vector<std::uint32_t> ConditionOrder::shuffled(Random& random) const {
  std::vector<std::uint32_t> result = chunks;
  for (std::size_t c = 0; c + 1 < class_begin.size(); ++c)
    random.shuffle(std::span(result).subspan(class_begin[c], class_begin[c + 1] - class_begin[c]));
  return result;
}

std::vector<std::uint32_t> ConditionOrder::in_rounds(const Collective& collective, Random* random) const {
  struct Place {
    std::uint32_t copy;
    std::uint32_t offset;
    std::uint32_t chunk;
    auto operator<=>(const Place&) const = default;
  };
  const Conditions conditions(collective);
  const auto npus = static_cast<std::uint32_t>(collective.npus());
  std::vector<std::uint32_t> round(npus);  // by distance in the order of NPUs
  std::iota(round.begin(), round.end(), 0U);
  if (random != nullptr) random->shuffle(std::span(round));
  std::vector<Place> places;
  places.reserve(chunks.size());
  for (const std::uint32_t number : chunks) {
    const ChunkId chunk(number);
    const GroupId group = conditions.group(chunk);
    const std::uint32_t local = number - collective.first_chunk(group).value();
    const auto copies = static_cast<std::uint32_t>(collective.chunks_per_npu(group));
    const VertexId only = conditions.only_destination(chunk);
    const std::uint32_t source = conditions.source(chunk).value();
    places.push_back({local % copies, only.exists() ? round[(only.value() + npus - source) % npus] : 0, number});
  }
  std::sort(places.begin(), places.end());
  std::vector<std::uint32_t> result;
  result.reserve(places.size());
  for (const Place& place : places) result.push_back(place.chunk);
  return result;
}

Result<ConditionOrder> order_conditions(const SynthesisProblem& problem, const PathNetwork& network,
                                        const std::vector<Bitset>& members) {
  const auto distances = Measure(problem, network, members).distances();
  if (!distances) return distances.errors();
  std::uint32_t farthest = 0;
  for (const std::uint32_t distance : *distances)
    if (distance != kStays) farthest = std::max(farthest, distance);
  const std::uint32_t quantum = farthest / kMostClasses + 1;
  const std::size_t classes = farthest / quantum + 1;
  const auto class_of = [&](std::uint32_t distance) { return classes - 1 - distance / quantum; };
  ConditionOrder order;
  std::vector<std::size_t> begin(classes + 1, 0);
  for (const std::uint32_t distance : *distances)
    if (distance != kStays) ++begin[class_of(distance) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  order.chunks.resize(begin.back());
  order.class_begin = begin;
  for (std::uint32_t c = 0; c < distances->size(); ++c)
    if ((*distances)[c] != kStays) order.chunks[begin[class_of((*distances)[c])]++] = c;
  return order;
}

}  // namespace tenex
