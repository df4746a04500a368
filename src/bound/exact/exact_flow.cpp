// The flow bound's best weights: the routings are those of flow.hpp, every chunk over its lightest paths.
#include <span>
#include <vector>

#include "bound/exact/methods.hpp"
#include "bound/exact/weight_program.hpp"
#include "bound/lightest_paths.hpp"
#include "bound/weighted_links.hpp"
#include "tenex/bound/flow.hpp"

namespace tenex {

namespace {

constexpr std::size_t kMostLoads = std::size_t{1} << 20;  ///< of one routing

/// Every member of every group is a source.
class PairRouting final : public LightestRouting {
 public:
  explicit PairRouting(const BoundProblem& problem) : links_(problem.topology.links()), paths_(problem.topology) {
    for (const auto& group : problem.collective.groups())
      for (const auto member : group.members) members_.push_back({member, group.members});
  }

  [[nodiscard]] std::size_t sources() const override { return members_.size(); }
  double route(const std::vector<double>& weights, std::span<double> loads) override {
    double needed = 0;
    for (std::size_t s = 0; s < members_.size(); ++s) {
      paths_.search(vertex_of(members_[s].npu), weights);
      for (const auto to : members_[s].members) needed += paths_.distance(vertex_of(to));
      paths_.send_to(members_[s].members, weights, loads.subspan(s * links_, links_));
    }
    return needed;
  }

 private:
  /// A member and all that it sends to.
  struct Source {
    NpuId npu;
    std::span<const NpuId> members;
  };

  std::size_t links_;
  LightestPaths paths_;
  std::vector<Source> members_;
};

}  // namespace

std::optional<CertifiedBound> exact_flow_bound(const BoundProblem& problem) {
  if (problem.collective.kind() != CollectiveKind::all_to_all || problem.topology.links() == 0) return std::nullopt;
  PairRouting lightest(problem);
  if (lightest.sources() * problem.topology.links() > kMostLoads) return std::nullopt;
  const auto found = best_weights(relative_capacities(problem), lightest, kExactWork);
  BestWeights best;
  for (const auto& weights : {rounded(found), rounded(found, kManyFractions)})
    if (!weights.empty()) best.offer(flow_time(problem, weights), weights);
  return best.take();
}

}  // namespace tenex
