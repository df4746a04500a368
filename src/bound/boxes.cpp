// The strength of boxes in closed form: NPUs that fast links join, directly or over switches, or that hang below the
// same switches, and what leaves them.
//
// Bound: T >= 4 (p-1) S / sum(w * bandwidth), with p boxes that have a member, and w one for each box that a link
// leaves or enters.
//
// Join vertices over all links that are no slower than some rate, or over all links between NPUs and switches up to
// some level (a leaf with its NPUs, a pod of a fat tree). The parts with an NPU are boxes, as are those with a switch
// that adds or copies; all other switches stand outside. A link weighs one if it leaves a box and one if it enters a
// box, so two from one box to another, and nothing inside a box and outside all. Claim: each chunk of an All-Reduce
// needs links of 4(p-1) together, p being the boxes with a member. Proof. A spanning tree of ways between these boxes
// has p-1 ways. Each leaves a box and enters another one, so it weighs at least 2, and the strength bound
// (tenex/bound/strength.hpp) asks for twice the lightest tree. Other collectives need one crossing where that needs
// two.
//
// Example: 16 boxes of eight NPUs, each NPU with one slow link up and one down to a switch outside. A chunk weighs 60,
// and the 256 slow links weigh one each. The searches of the strength bound find these weights, too, but only with time
// for more than boxes need: O(rates * links).
#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "bound/crossings.hpp"
#include "bound/methods.hpp"
#include "bound/vertex_partition.hpp"
#include "bound/weighted_links.hpp"

namespace tenex {

namespace {

constexpr std::size_t kMostPartitions = 8;

/// Rates from which on links join vertices: those after the largest relative steps down, the fastest first.
std::vector<double> joining_rates(std::vector<double> rates) {
  std::ranges::sort(rates, std::greater{});
  std::vector<std::pair<double, double>> steps;  // ratio to the next slower rate, rate
  for (std::size_t i = 0; i + 1 < rates.size(); ++i)
    if (rates[i] > rates[i + 1]) steps.emplace_back(rates[i] / rates[i + 1], rates[i]);
  std::ranges::stable_sort(steps, std::greater{}, [](const auto& step) { return step.first; });
  if (steps.size() > kMostPartitions) steps.resize(kMostPartitions);
  std::vector<double> joining;
  for (const auto& step : steps) joining.push_back(step.second);
  return joining;
}

/// The box of each vertex: one of its vertices, or none where it stands outside.
std::vector<VertexId> boxes_of(const Topology& topology, DisjointSets& joined) {
  std::vector<bool> is_box(topology.vertices());
  for (std::size_t v = 0; v < topology.vertices(); ++v) {
    const VertexId vertex = VertexId::at(v);
    if (!is_plain_switch(topology, vertex)) is_box[joined.find(vertex.value())] = true;
  }
  std::vector<VertexId> box_of;
  for (std::size_t v = 0; v < topology.vertices(); ++v) {
    const VertexId box = VertexId::at(joined.find(VertexId::at(v).value()));
    box_of.push_back(is_box[box.index()] ? box : VertexId::none());
  }
  return box_of;
}

/// The links' weights.
LinkWeights weights_of(const Topology& topology, const std::vector<VertexId>& box_of) {
  LinkWeights weights;
  for (std::size_t l = 0; l < topology.links(); ++l) {
    const VertexId from = box_of[topology.source(LinkId::at(l)).index()];
    const VertexId to = box_of[topology.target(LinkId::at(l)).index()];
    weights.push_back(from == to ? 0 : (from.exists() ? 1 : 0) + (to.exists() ? 1 : 0));
  }
  return weights;
}

/// Weighted crossings that all groups need, by size class.
std::vector<Exact> needs_of(const Collective& collective, const std::vector<VertexId>& box_of) {
  std::vector<Exact> needed(collective.chunk_sizes().size(), 0);
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto group = GroupId::at(g);
    std::vector<VertexId> boxes;
    for (const NpuId member : collective.groups()[g].members) boxes.push_back(box_of[member.index()]);
    std::ranges::sort(boxes);
    const auto others = static_cast<Exact>(std::unique(boxes.begin(), boxes.end()) - boxes.begin() - 1);
    needed[collective.size_class(group)] +=
        2 * crossings(collective.kind(group)) * static_cast<Exact>(collective.chunks_in(group)) * others;
  }
  return needed;
}

}  // namespace

std::optional<SimTime> boxes_bound(const BoundProblem& problem) {
  const auto& topology = problem.topology;
  if (!has_all_reduce(problem.collective)) return std::nullopt;
  std::optional<SimTime> most;
  const auto try_boxes = [&](DisjointSets joined) {
    const auto box_of = boxes_of(topology, joined);
    const SimTime time = time_of_crossings(problem, weights_of(topology, box_of), needs_of(problem.collective, box_of));
    if (time != SimTime::max()) most = std::max(most.value_or(SimTime::zero()), time);
  };
  const auto rate_of_class = rates(problem);
  for (const double joining : joining_rates(rate_of_class))
    try_boxes(join_ends(topology, [&](LinkId link) { return rate_of_class[topology.class_of(link)] >= joining; }));
  for (auto& joined : joined_below_levels(topology)) try_boxes(std::move(joined));
  return most;
}

}  // namespace tenex
