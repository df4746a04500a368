// PAT, parallel aggregated trees: All-Gather and Reduce-Scatter in ceil(log2 n) steps, for any n, whose far messages
// are small.
//
// All-Gather: every NPU's chunk goes down a binomial tree of its own, the farthest child first. In step d = L-1, .., 0
// an NPU has the chunks of the NPUs 0, 2^(d+1), 2*2^(d+1), .. ranks before it and sends them in one message to the NPU
// 2^d ranks on, as many as that one lacks. So one chunk goes half of the way round, and n/2 chunks go to the next
// neighbour, where Bruck's algorithm has it the other way. Both send n - 1 chunks per NPU. The Reduce-Scatter is the
// reverse: near sums first. The trees of all steps are aggregated, which needs room for n/2 chunks; NCCL aggregates as
// many as its buffers hold, and takes the rest one tree after the other, as slices (`chunks`) do here.
//
// Encoding: steps.hpp. Source: Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale",
// arXiv 2506.20252, 2025.
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "algorithm/steps.hpp"
#include "algorithm/textbook.hpp"

namespace tenex {
namespace {

class PatPlan final : public StepPlan {
 public:
  explicit PatPlan(std::uint32_t members)
      : StepPlan(members, static_cast<std::uint32_t>(std::bit_width(members - 1))) {}

  [[nodiscard]] std::uint32_t destination(std::uint32_t rank, std::uint32_t step) const override {
    return on(rank, distance(step));
  }
  [[nodiscard]] std::uint32_t source(std::uint32_t rank, std::uint32_t step) const override {
    return back(rank, distance(step));
  }
  /// The multiples of 2^(d+1) below n - 2^d.
  [[nodiscard]] std::uint32_t count(std::uint32_t /*rank*/, std::uint32_t step) const override {
    const auto far = distance(step);
    return (members() - far - 1) / (2 * far) + 1;
  }
  void parts(std::uint32_t rank, std::uint32_t step, std::vector<std::uint32_t>& out) const override {
    for (std::uint32_t i = 0; i < count(rank, step); ++i) out.push_back(back(rank, i * 2 * distance(step)));
  }
  [[nodiscard]] bool moves() const override { return true; }

 private:
  [[nodiscard]] std::uint32_t distance(std::uint32_t step) const { return std::uint32_t{1} << (steps() - 1 - step); }
};

}  // namespace

ProgramResult make_pat(const Topology& topology, const Collective& collective, const AlgorithmOptions& /*options*/) {
  if (auto fits = check_fits("pat", topology, collective); !fits) return fits.errors();
  return make_steps_by_size(collective, [](std::uint32_t members) { return std::make_shared<const PatPlan>(members); });
}

ProgramSizes sizes_of_pat(const ProgramScale& scale) {
  const double messages = scale.passes * scale.slices * doubling_steps(scale.members);
  return {messages, messages * scale.pair_hops, scale.sends / scale.passes, 0, scale.sends};
}

}  // namespace tenex
