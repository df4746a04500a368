#include "synthesis/sccl/satisfy.hpp"

#include <fmt/core.h>
#include <z3++.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tenex/base/stopwatch.hpp"

namespace tenex::sccl {
namespace {

class Encoding {
 public:
  Encoding(const SteppedProblem& problem, std::uint32_t steps, std::uint32_t rounds)
      : problem_(problem),
        steps_(steps),
        extra_(rounds - steps),
        solver_(context_, "QF_FD"),
        links_(problem.topology().links()),
        have_(problem.collective().chunks() * problem.topology().npus() * (steps + 1), context_.bool_val(false)),
        send_(problem.collective().chunks() * links_ * steps, context_.bool_val(false)) {
    add_rounds();
    for (std::size_t c = 0; c < problem.collective().chunks(); ++c)
      if (!problem.takers(ChunkId::at(c)).empty()) add_chunk(ChunkId::at(c));
    add_capacities();
  }

  Satisfied solve(SolverBudget& budget) {
    z3::params limits(context_);
    const auto left = budget.nodes - budget.nodes_used;
    const auto most = static_cast<std::int64_t>(std::numeric_limits<unsigned>::max()) / kConflictsPerNode;
    if (left < most)
      limits.set("max_conflicts", static_cast<unsigned>(std::max<std::int64_t>(1, left) * kConflictsPerNode));
    if (budget.seconds > 0)
      limits.set("timeout", static_cast<unsigned>(1 + 1000 * std::max(0.0, budget.seconds - budget.seconds_used)));
    solver_.set(limits);
    const Stopwatch watch;
    const auto answer = solver_.check();
    budget.seconds_used += watch.seconds();
    budget.nodes_used += 1 + conflicts() / kConflictsPerNode;
    budget.clock_ended = budget.clock_ended || (budget.seconds > 0 && budget.seconds_used >= budget.seconds);
    budget.tell();
    if (answer == z3::unsat) return {.status = SolveStatus::infeasible, .plan = {}};
    if (answer == z3::unknown) return {};
    return {.status = SolveStatus::feasible, .plan = plan()};
  }

 private:
  z3::expr& have(ChunkId chunk, NpuId npu, std::uint32_t step) {
    return have_[(chunk.index() * problem_.topology().npus() + npu.index()) * (steps_ + 1) + step];
  }
  z3::expr& send(ChunkId chunk, LinkId link, std::uint32_t step) {
    return send_[(chunk.index() * links_ + link.index()) * steps_ + step];
  }
  z3::expr variable(const char* kind, std::size_t a, std::size_t b, std::size_t step) {
    return context_.bool_const(fmt::format("{}{}_{}_{}", kind, a, b, step).c_str());
  }
  [[nodiscard]] NpuId source(LinkId link) const { return NpuId(problem_.topology().source(link).value()); }
  [[nodiscard]] NpuId target(LinkId link) const { return NpuId(problem_.topology().target(link).value()); }

  void add_rounds() {
    std::vector<z3::expr> all;
    for (std::uint32_t step = 0; step < steps_; ++step) {
      more_.emplace_back();
      for (std::uint32_t j = 0; j < extra_; ++j) {
        more_.back().push_back(variable("more", step, j, 0));
        if (j > 0) solver_.add(z3::implies(more_.back()[j], more_.back()[j - 1]));
        all.push_back(more_.back()[j]);
      }
    }
    if (extra_ > 0) solver_.add(at_most(all, extra_));
  }

  void add_chunk(ChunkId chunk) {
    const NpuId origin = problem_.collective().source(chunk);
    for (std::uint32_t step = 0; step <= steps_; ++step) have(chunk, origin, step) = context_.bool_val(true);
    for (std::size_t n = 0; n < problem_.topology().npus(); ++n) {
      const auto npu = NpuId::at(n);
      if (npu == origin) continue;
      for (std::uint32_t step = problem_.distance(origin, npu); step <= steps_; ++step) {
        if (problem_.distance(origin, npu) + problem_.distance_to_taker(npu, chunk) > steps_) break;
        have(chunk, npu, step) = variable("h", chunk.index(), n, step);
      }
    }
    for (std::size_t n = 0; n < problem_.topology().npus(); ++n)
      if (NpuId::at(n) != origin) add_arrivals(chunk, NpuId::at(n));
    for (const NpuId taker : problem_.takers(chunk)) solver_.add(have(chunk, taker, steps_));
  }

  void add_arrivals(ChunkId chunk, NpuId npu) {
    const NpuId origin = problem_.collective().source(chunk);
    std::vector<z3::expr> receipts;
    for (std::uint32_t step = 0; step < steps_; ++step) {
      if (problem_.distance(origin, npu) > step + 1) continue;
      z3::expr_vector ways(context_);
      ways.push_back(have(chunk, npu, step));
      for (const LinkId link : problem_.topology().in_links(vertex_of(npu))) {
        if (problem_.distance(origin, source(link)) > step) continue;
        if (step + 1 + problem_.distance_to_taker(npu, chunk) > steps_) continue;
        send(chunk, link, step) = variable("x", chunk.index(), link.index(), step);
        solver_.add(z3::implies(send(chunk, link, step), have(chunk, source(link), step)));
        ways.push_back(send(chunk, link, step));
        receipts.push_back(send(chunk, link, step));
      }
      solver_.add(z3::implies(have(chunk, npu, step + 1), z3::mk_or(ways)));
    }
    if (receipts.size() > 1) solver_.add(at_most(receipts, 1));
  }

  /// Chunks on the link in the step, and its share of the rounds that the step does not have, are at most its share of
  /// all rounds that the step could have.
  void add_capacities() {
    for (std::size_t l = 0; l < links_; ++l)
      for (std::uint32_t step = 0; step < steps_; ++step) {
        const auto link = LinkId::at(l);
        const auto share = static_cast<int>(problem_.per_round(link));
        z3::expr_vector terms(context_);
        std::vector<int> weights;
        for (std::size_t c = 0; c < problem_.collective().chunks(); ++c) {
          if (send(ChunkId::at(c), link, step).is_false()) continue;
          terms.push_back(send(ChunkId::at(c), link, step));
          weights.push_back(1);
        }
        if (weights.size() <= problem_.per_round(link)) continue;
        for (const auto& more : more_[step]) {
          terms.push_back(!more);
          weights.push_back(share);
        }
        solver_.add(z3::pble(terms, weights.data(), share * static_cast<int>(1 + extra_)));
      }
  }

  z3::expr at_most(const std::vector<z3::expr>& of, unsigned most) {
    z3::expr_vector terms(context_);
    for (const auto& each : of) terms.push_back(each);
    return z3::atmost(terms, most);
  }

  [[nodiscard]] std::int64_t conflicts() const {
    const auto counts = solver_.statistics();
    for (unsigned i = 0; i < counts.size(); ++i)
      if (counts.key(i) == "sat conflicts" && counts.is_uint(i)) return counts.uint_value(i);
    return 0;
  }

  SteppedPlan plan() {
    SteppedPlan plan;
    const auto model = solver_.get_model();
    const auto holds = [&](const z3::expr& of) { return model.eval(of, true).is_true(); };
    for (const auto& more : more_)
      plan.rounds.push_back(1 + static_cast<std::uint32_t>(std::ranges::count_if(more, holds)));
    for (std::size_t c = 0; c < problem_.collective().chunks(); ++c)
      for (std::size_t l = 0; l < links_; ++l)
        for (std::uint32_t step = 0; step < steps_; ++step)
          if (holds(send(ChunkId::at(c), LinkId::at(l), step)))
            plan.sends.push_back({.step = step, .link = LinkId::at(l), .chunk = ChunkId::at(c)});
    return plan;
  }

  const SteppedProblem& problem_;
  std::uint32_t steps_;
  std::uint32_t extra_;
  z3::context context_;
  z3::solver solver_;
  std::size_t links_;
  std::vector<z3::expr> have_;  ///< by chunk, NPU and step; what cannot be is false
  std::vector<z3::expr> send_;  ///< by chunk, link and step
  std::vector<std::vector<z3::expr>> more_;
};

}  // namespace

std::size_t variables(const SynthesisProblem& problem, std::uint32_t steps) {
  return problem.collective.chunks() * (problem.topology.links() * steps + problem.topology.npus() * (steps + 1));
}

Satisfied satisfy(const SteppedProblem& problem, std::uint32_t steps, std::uint32_t rounds, SolverBudget& budget) {
  try {
    return Encoding(problem, steps, rounds).solve(budget);
  } catch (const z3::exception&) {  // its memory ran out: no answer
    return {};
  }
}

}  // namespace tenex::sccl
