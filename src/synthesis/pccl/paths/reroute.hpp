// Rip-up and reroute: conditions that end late are taken out together with some others and routed again.
//
// Idea: the last conditions got what the others had left. A round takes out those that arrive after a target a little
// before the end, and a random share of all others, and routes the late ones first against the links' remaining free
// times, then the others, farthest first. The new plan is kept if it ends sooner, or as soon with fewer late
// conditions; otherwise the old sends return. Conditions routed again are counted, and their number is limited, so that
// the result does not depend on the machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "synthesis/pccl/paths/planner.hpp"
#include "tenex/base/bitset.hpp"
#include "tenex/base/random.hpp"

namespace tenex {

/// The limits of a reroute pass.
struct RerouteLimits {
  SimTime bound;               ///< no plan ends sooner: the pass stops there
  std::uint64_t work = 0;      ///< conditions that may be routed again
  std::uint32_t share = 16;    ///< one in `share` of the other conditions is taken out
  std::uint32_t patience = 8;  ///< the pass stops after so many rounds without a better plan
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
    Standing best = standing();
    for (std::uint32_t idle = 0; idle < limits.patience && planner_.links().time_of(best.end) > limits.bound; ++idle) {
      const auto order = choose(best.end, limits.share);
      if (work + order.size() > limits.work) break;
      work += order.size();
      const auto old = planner_.links().drop(taken_out_);
      planner_.plan(order, range_, random_);
      const Standing now = standing();
      if (now < best) idle = 0;
      if (best < now)
        restore(old);
      else
        best = now;
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

  template <class Visit>
  void for_each_arrival(Visit&& visit) const {
    const Links& links = planner_.links();
    links.for_each([&](std::uint32_t link, Time start, std::uint32_t chunk) {
      visit(chunk, start + links.latency(link, conditions_.size_class(ChunkId(chunk))));
    });
  }

  Standing standing() const {
    Standing result{planner_.links().end(), 0};
    for_each_arrival([&](std::uint32_t /*chunk*/, Time arrival) { result.late += arrival == result.end ? 1 : 0; });
    return result;
  }

  /// Marks the late conditions and a share of the others, and returns them in the order in which they are routed.
  std::vector<std::uint32_t> choose(Time end, std::uint32_t share) {
    late_ = taken_out_ = Bitset(setup_.problem.collective.chunks());
    for_each_arrival([&](std::uint32_t chunk, Time arrival) {
      if (arrival == end) late_.set(chunk);
    });
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

  void restore(const std::vector<PlannedHop<Time>>& old) {
    [[maybe_unused]] const auto dropped = planner_.links().drop(taken_out_);
    planner_.links().restore(old);
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
