// Parts, the links between them, and the search.
#include "bound/zero_one_paths.hpp"

#include <algorithm>
#include <bit>

#include "bound/vertex_partition.hpp"
#include "tenex/base/contract.hpp"

namespace tenex {

namespace {

using Step = std::pair<std::uint32_t, std::uint32_t>;  // from, to

/// Ascending, none twice.
std::vector<Step> steps_of(const Topology& topology, auto&& counts, auto&& end_of) {
  std::vector<Step> steps;
  for (std::size_t l = 0; l < topology.links(); ++l) {
    const auto link = LinkId::at(l);
    if (!counts(link)) continue;
    const Step step{end_of(topology.source(link)), end_of(topology.target(link))};
    if (step.first != step.second) steps.push_back(step);
  }
  std::ranges::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

}  // namespace

std::optional<ZeroOnePaths> ZeroOnePaths::of(const Topology& topology, const LinkWeights& weights,
                                             std::span<const VertexId> sources) {
  if (std::ranges::any_of(weights, [](std::uint32_t weight) { return weight > 1; })) return std::nullopt;
  const auto is_free = [&](LinkId link) { return weights[link.index()] == 0; };
  const auto free = steps_of(topology, is_free, [](VertexId vertex) { return vertex.value(); });
  const auto leads_back = [&](const Step& step) {
    return std::ranges::binary_search(free, Step{step.second, step.first});
  };
  if (!std::ranges::all_of(free, leads_back)) return std::nullopt;
  auto joined = join_ends(topology, is_free);
  std::vector<std::uint32_t> part_of(topology.vertices());
  for (std::uint32_t v = 0; v < part_of.size(); ++v) part_of[v] = joined.find(v);
  const auto steps = steps_of(
      topology, [&](LinkId link) { return !is_free(link); }, [&](VertexId vertex) { return part_of[vertex.index()]; });
  auto next = Csr<std::uint32_t>::group(
      topology.vertices(), steps.size(), [&](std::size_t i) { return steps[i].first; },
      [&](std::size_t i) { return steps[i].second; });
  return ZeroOnePaths(std::move(part_of), std::move(next), sources);
}

ZeroOnePaths::ZeroOnePaths(std::vector<std::uint32_t> part_of, Csr<std::uint32_t> next,
                           std::span<const VertexId> sources)
    : part_of_(std::move(part_of)),
      next_(std::move(next)),
      sources_(sources.begin(), sources.end()),
      hops_(part_of_.size() * kLanes),
      seen_(part_of_.size()),
      fresh_(part_of_.size()),
      coming_(part_of_.size()) {}

void ZeroOnePaths::search(VertexId source) {
  TENEX_EXPECTS(asked_ < sources_.size() && sources_[asked_] == source, "the sources in the order that was told");
  lane_ = asked_++ % kLanes;
  if (lane_ == 0)
    search_batch(std::span(sources_).subspan(asked_ - 1).first(std::min(kLanes, sources_.size() - asked_ + 1)));
}

void ZeroOnePaths::search_batch(std::span<const VertexId> sources) {
  std::ranges::fill(hops_, kUnreached);
  std::ranges::fill(seen_, 0);
  std::vector<std::uint32_t> front;
  std::vector<std::uint32_t> reached;
  const auto come = [&](std::uint32_t part, std::uint64_t lanes) {
    if (coming_[part] == 0 && lanes != 0) reached.push_back(part);
    coming_[part] |= lanes;
  };
  for (std::size_t lane = 0; lane < sources.size(); ++lane)
    come(part_of_[sources[lane].index()], std::uint64_t{1} << lane);
  for (std::uint32_t hops = 0; !reached.empty(); ++hops) {
    front.swap(reached);
    reached.clear();
    for (const auto part : front) {
      fresh_[part] = coming_[part];
      coming_[part] = 0;
      seen_[part] |= fresh_[part];
      for (auto lanes = fresh_[part]; lanes != 0; lanes &= lanes - 1)
        hops_[part * kLanes + static_cast<std::size_t>(std::countr_zero(lanes))] = hops;
    }
    for (const auto part : front)
      for (const auto next : next_.row(part)) come(next, fresh_[part] & ~seen_[next]);
  }
}

}  // namespace tenex
