// Rip-up and reroute: conditions that end late are taken out together with some others and routed again.
//
// Idea: the last conditions got what the others had left. A round takes out those that arrive last, and a random share
// of all others. It routes the late ones first against the links' free times, then the others, farthest first, and then
// starts all sends as soon as the order on links allows, which closes the gaps that were left. The new plan is kept if
// it ends no later and, where it ends as late, has no more sends that arrive last. Conditions routed again are counted,
// and their number is limited, so that the result does not depend on the machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "synthesis/pccl/paths/planner.hpp"
#include "tenex/base/bitset.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/random.hpp"

namespace tenex {

/// The limits of a reroute pass.
struct RerouteLimits {
  SimTime bound;                ///< no plan ends sooner: the pass stops there
  std::uint64_t work = 0;       ///< conditions that may be routed again
  std::uint32_t share = 16;     ///< one in `share` of the other conditions is taken out
  std::uint32_t patience = 32;  ///< the pass stops after so many rounds without a better plan
};

template <class Links>
class Reroute {
 public:
  using Time = typename Links::Time;

  Reroute(const PathsSetup& setup, PathPlanner<Links>& planner, PathRange range, Random random)
      : setup_(setup),
        conditions_(setup.problem.collective),
        planner_(planner),
        range_(range),
        random_(random),
        late_(setup.problem.collective.chunks()),
        taken_out_(setup.problem.collective.chunks()) {}

  /// Runs rounds within the limits. Returns the conditions routed again. The plan never gets worse.
  std::uint64_t run(const RerouteLimits& limits) {
    std::uint64_t work = 0;
    auto kept = planner_.links().hops();
    Standing best = retime(kept);
    planner_.links().assign(kept);
    for (std::uint32_t idle = 0; idle < limits.patience && planner_.links().time_of(best.end) > limits.bound; ++idle) {
      const auto order = choose(kept, best.end, limits.share);
      if (work + order.size() > limits.work) break;
      work += order.size();
      planner_.links().drop(taken_out_);
      ensure(planner_.plan(order, range_, random_), "only limited buffers leave chunks without a way");
      auto hops = planner_.links().hops();
      const Standing now = retime(hops);
      if (now < best) idle = 0;
      if (now <= best) {
        best = now;
        kept.swap(hops);
      }
      planner_.links().assign(kept);
    }
    return work;
  }

 private:
  /// What is compared between plans.
  struct Standing {
    Time end = 0;
    std::uint64_t late = 0;  ///< sends that arrive last
    auto operator<=>(const Standing&) const = default;
  };

  [[nodiscard]] Time arrival(const PlannedHop<Time>& hop) const {
    return hop.start + planner_.links().latency(hop.link, conditions_.size_class(ChunkId(hop.chunk)));
  }

  /// Starts all sends as soon as possible.
  Standing retime(std::vector<PlannedHop<Time>>& hops) const {
    const Links& links = planner_.links();
    Standing result;
    result.end = retime_hops(
        setup_.network, conditions_.count(), hops,
        [&](const auto& hop) { return links.busy(hop.link, conditions_.size_class(ChunkId(hop.chunk))); },
        [&](const auto& hop) { return links.latency(hop.link, conditions_.size_class(ChunkId(hop.chunk))); });
    for (const auto& hop : hops) result.late += arrival(hop) == result.end ? 1 : 0;
    return result;
  }

  /// Marks the late conditions and a share of the others, and returns them in the order in which they are routed.
  std::vector<std::uint32_t> choose(const std::vector<PlannedHop<Time>>& hops, Time end, std::uint32_t share) {
    late_ = taken_out_ = Bitset(conditions_.count());
    for (const auto& hop : hops)
      if (arrival(hop) == end) late_.set(hop.chunk);
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> others;
    const auto& order = setup_.order;
    for (std::size_t c = 0; c + 1 < order.class_begin.size(); ++c) {
      const std::size_t begin = others.size();
      for (std::size_t i = order.class_begin[c]; i < order.class_begin[c + 1]; ++i) {
        const std::uint32_t chunk = order.chunks[i];
        if (late_.test(chunk))
          first.push_back(chunk);
        else if (random_.below(share) == 0)
          others.push_back(chunk);
      }
      random_.shuffle(std::span(others).subspan(begin));
    }
    random_.shuffle(std::span(first));
    first.insert(first.end(), others.begin(), others.end());
    for (const std::uint32_t chunk : first) taken_out_.set(chunk);
    return first;
  }

  const PathsSetup& setup_;
  Conditions conditions_;
  PathPlanner<Links>& planner_;
  PathRange range_;
  Random random_;
  Bitset late_;
  Bitset taken_out_;
};

}  // namespace tenex
