// Bruck: All-Gather and All-to-All in ceil(log2 n) steps, for any n; with radix k in ceil(log_k n) rounds of up to k -
// 1 messages at once.
//
// All-Gather: in round i an NPU sends the chunks that it has to the NPUs j*k^i ranks before it, j = 1 .. k - 1, at most
// as many as such an NPU lacks. After the round it has the chunks of the k^(i+1) NPUs from itself on. All-to-All: a
// chunk that has o ranks to go moves by j*k^i in round i where digit i of o to base k is j; an NPU sends all such
// chunks in one message. A larger radix takes fewer rounds; in an All-to-All chunks then move fewer times.
//
// Encoding: steps.hpp. Source: Bruck et al., "Efficient algorithms for all-to-all communications in multiport
// message-passing systems", 1997.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "algorithm/steps.hpp"
#include "algorithm/textbook.hpp"

namespace tenex {
namespace {

class BruckPlan : public StepPlan {
 public:
  /// A message goes `distance` ranks, a multiple of `unit`, which is a power of the radix.
  struct Move {
    std::uint32_t unit;
    std::uint32_t distance;
  };
  struct Moves {
    std::vector<Move> moves;
    std::vector<std::uint32_t> first_step{0};
  };
  static Moves moves_of(std::uint32_t members, std::uint32_t radix) {
    Moves all;
    for (std::uint64_t unit = 1; unit < members; unit *= radix) {
      for (std::uint64_t j = 1; j < radix && j * unit < members; ++j)
        all.moves.push_back({static_cast<std::uint32_t>(unit), static_cast<std::uint32_t>(j * unit)});
      all.first_step.push_back(static_cast<std::uint32_t>(all.moves.size()));
    }
    return all;
  }

  BruckPlan(std::uint32_t members, Moves all)
      : StepPlan(members, std::move(all.first_step)), moves_(std::move(all.moves)) {}
  [[nodiscard]] bool moves() const override { return true; }

 protected:
  std::vector<Move> moves_;  ///< by step
};

class BruckGather final : public BruckPlan {
 public:
  using BruckPlan::BruckPlan;
  [[nodiscard]] std::uint32_t destination(std::uint32_t rank, std::uint32_t step) const override {
    return back(rank, moves_[step].distance);
  }
  [[nodiscard]] std::uint32_t source(std::uint32_t rank, std::uint32_t step) const override {
    return on(rank, moves_[step].distance);
  }
  [[nodiscard]] std::uint32_t count(std::uint32_t /*rank*/, std::uint32_t step) const override {
    return std::min(moves_[step].unit, members() - moves_[step].distance);
  }
  void parts(std::uint32_t rank, std::uint32_t step, std::vector<std::uint32_t>& out) const override {
    for (std::uint32_t i = 0; i < count(rank, step); ++i) out.push_back(on(rank, i));
  }
};

class BruckAllToAll final : public BruckPlan {
 public:
  BruckAllToAll(std::uint32_t members, std::uint32_t radix)
      : BruckPlan(members, moves_of(members, radix)), radix_(radix) {}
  [[nodiscard]] std::uint32_t destination(std::uint32_t rank, std::uint32_t step) const override {
    return on(rank, moves_[step].distance);
  }
  [[nodiscard]] std::uint32_t source(std::uint32_t rank, std::uint32_t step) const override {
    return back(rank, moves_[step].distance);
  }
  /// The numbers below `members` with the digit of this step: a unit of every whole period, and those in the last one.
  [[nodiscard]] std::uint32_t count(std::uint32_t /*rank*/, std::uint32_t step) const override {
    const auto [unit, distance] = moves_[step];
    const std::uint64_t period = std::uint64_t{unit} * radix_;
    const auto rest = static_cast<std::uint32_t>(members() % period);
    return static_cast<std::uint32_t>(members() / period * unit) +
           (rest > distance ? std::min(unit, rest - distance) : 0);
  }
  void parts(std::uint32_t rank, std::uint32_t step, std::vector<std::uint32_t>& out) const override {
    const auto [unit, distance] = moves_[step];
    for (std::uint32_t to_go = distance; to_go < members(); ++to_go) {
      if (to_go / unit % radix_ != distance / unit) continue;
      const auto gone = to_go % unit;
      out.push_back(back(rank, gone) * members() + on(rank, to_go - gone));
    }
  }

 private:
  std::uint32_t radix_;
};

}  // namespace

ProgramResult make_bruck(const Topology& topology, const Collective& collective, const AlgorithmOptions& options) {
  if (auto fits = check_fits("bruck", topology, collective); !fits) return fits.errors();
  return make_steps_by_size(collective, [&](std::uint32_t members) -> std::shared_ptr<const StepPlan> {
    if (collective.kind() == CollectiveKind::all_to_all) return std::make_shared<BruckAllToAll>(members, options.radix);
    return std::make_shared<BruckGather>(members, BruckPlan::moves_of(members, options.radix));
  });
}

ProgramSizes sizes_of_bruck(const ProgramScale& scale) {
  const double rounds = std::ceil(std::log(std::max(2.0, scale.members)) / std::log(scale.radix) - 1e-9);
  const double messages =
      scale.passes * scale.slices * std::min(rounds * (scale.radix - 1), std::max(1.0, scale.members - 1));
  const double moves = scale.sends * (scale.all_to_all ? rounds : 1);
  return {messages, messages * scale.pair_hops, moves, 0, moves};
}

}  // namespace tenex
