// te_ccl over switches that store and forward: its optima against a search over all states of a switch.
#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "support/topologies.hpp"
#include "synthesis/synthesis_support.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

using support::synthesize_checked;

/// The least number of steps of a Broadcast of `chunks` over one switch that stores and forwards without copying, where
/// every hop takes a step. All states, breadth first.
///
/// NPUs other than the root are alike, so a state counts them by the set of chunks that they hold, and the chunks that
/// wait in the switch. In a step every NPU that holds something sends a chunk to the switch: more there never does
/// harm. The switch sends what waited there at the step's begin, at most one chunk to each NPU, and only chunks that
/// it lacks.
class SwitchStates {
 public:
  SwitchStates(std::size_t npus, std::size_t chunks) : npus_(npus), chunks_(chunks), all_((1U << chunks) - 1) {}

  int least_steps() {
    State first;
    first.holders.assign(all_ + 1, 0);
    first.holders[0] = static_cast<int>(npus_) - 1;
    first.waiting.assign(chunks_, 0);
    std::set<State> now{first};
    for (int step = 0;; ++step) {
      std::set<State> next;
      for (const State& state : now) {
        if (state.holders[all_] == static_cast<int>(npus_) - 1) return step;
        send(state, next);
      }
      now = std::move(next);
    }
  }

 private:
  struct State {
    std::vector<int> holders;  ///< by set of chunks, without the root
    std::vector<int> waiting;  ///< by chunk, in the switch
    auto operator<=>(const State&) const = default;
  };

  /// All ways in which the holders choose what they send, and for each all ways in which the switch delivers.
  void send(const State& state, std::set<State>& next) const {
    std::set<std::vector<int>> sent{std::vector<int>(chunks_, 0)};
    add_sender(all_, 1, sent);  // the root
    for (unsigned held = 1; held <= all_; ++held) add_sender(held, state.holders[held], sent);
    for (const auto& added : sent) deliver(state, 0, state.waiting, state.holders, added, next);
  }
  void add_sender(unsigned held, int count, std::set<std::vector<int>>& sent) const {
    for (int i = 0; i < count; ++i) {
      std::set<std::vector<int>> more;
      for (const auto& before : sent)
        for (std::size_t chunk = 0; chunk < chunks_; ++chunk)
          if ((held >> chunk & 1U) != 0) {
            auto with = before;
            ++with[chunk];
            more.insert(with);
          }
      sent = std::move(more);
    }
  }
  /// Delivers to the NPUs of each set that was held at the step's begin, from `held` on. `left`: what the switch still
  /// has of what waited; `holders`: as they become.
  void deliver(const State& state, unsigned held, std::vector<int> left, const std::vector<int>& holders,
               const std::vector<int>& added, std::set<State>& next) const {
    if (held > all_) {
      for (std::size_t chunk = 0; chunk < chunks_; ++chunk)  // more than every NPU could take is never of use
        left[chunk] = std::min(left[chunk] + added[chunk], static_cast<int>(npus_));
      next.insert({holders, std::move(left)});
      return;
    }
    deliver_to(state, held, 0, state.holders[held], std::move(left), holders, added, next);
  }
  /// Gives `chunk` to some of the `open` NPUs that hold `held`, then the next chunks to others of them.
  void deliver_to(const State& state, unsigned held, std::size_t chunk, int open, std::vector<int> left,
                  std::vector<int> holders, const std::vector<int>& added, std::set<State>& next) const {
    if (chunk == chunks_) return deliver(state, held + 1, std::move(left), holders, added, next);
    if ((held >> chunk & 1U) != 0)
      return deliver_to(state, held, chunk + 1, open, std::move(left), std::move(holders), added, next);
    for (int given = 0; given <= std::min(open, left[chunk]); ++given) {
      auto rest = left;
      auto become = holders;
      rest[chunk] -= given;
      become[held] -= given;
      become[held | 1U << chunk] += given;
      deliver_to(state, held, chunk + 1, open - given, std::move(rest), std::move(become), added, next);
    }
  }

  std::size_t npus_;
  std::size_t chunks_;
  unsigned all_;
};

// Without alpha a hop of 20 us is an epoch, so the model is exact: what it proves is the optimum. By hand, SW(6) and
// two chunks: the root sends them in turns at 0, 1, 2, 3 and 4. The first NPU has a chunk at 2 and sends it at 2, 3 and
// 4, the second one at 3 and 4: 5 + 3 + 2 sends reach the switch by 5 and five NPUs with two chunks by 6. By 5 at most
// 4 + 2 + 1 = 7 do.
TEST(TeCclOverSwitches, ProvesTheOptimumOfEveryBroadcastAndReduction) {
  constexpr SimTime kHop = microseconds(20);
  for (const auto& [npus, chunks] : std::vector<std::pair<std::uint32_t, std::int64_t>>{
           {3, 1}, {3, 2}, {3, 3}, {4, 1}, {4, 2}, {4, 3}, {5, 1}, {5, 2}, {6, 1}, {6, 2}}) {
    const int steps = SwitchStates(npus, static_cast<std::size_t>(chunks)).least_steps();
    const Topology topology = support::switched(npus, SimTime::zero());
    for (const auto kind : {CollectiveKind::broadcast, CollectiveKind::reduce}) {
      const Collective collective = support::of_megabytes(kind, npus, chunks);
      SynthesisProblem problem{{topology, collective}};
      problem.solver.nodes = 2000;
      const auto made = synthesize_checked("te_ccl", problem);
      EXPECT_EQ(made.time, kHop * steps) << to_string(kind) << " of " << chunks << " over SW(" << npus << ")";
      ASSERT_TRUE(made.solver.has_value());
      EXPECT_TRUE(made.solver->optimal);
    }
  }
  EXPECT_EQ(SwitchStates(6, 2).least_steps(), 6);
}

// LI(2)_SW(3) without its links 2-3 and 4-5: NPU 1, which holds nothing at first, alone feeds NPUs 3 and 5 over their
// switch. It has the first chunk at 1 and the second one, b, at 2, so the switch has b once at 3 and a second time at
// 4, and the second of NPUs 3 and 5 has b at 5. Five steps suffice: NPU 1 sends a, b, b from 1 on. The switch sends a
// to NPU 3 at 2 and b to NPU 5 at 3. NPU 3 sends a back at 3. At 4 the switch sends b to NPU 3 and a to NPU 5.
TEST(TeCclOverSwitches, LetsARelaySendAChunkToASwitchAsOftenAsItIsNeeded) {
  const auto pair = [](std::uint32_t a) { return std::pair{VertexId(a), VertexId(a + 1)}; };
  const auto whole = support::shape("LI(2)_SW(3)", {SimTime::zero()});
  const Topology topology = remove_links(whole, std::vector{pair(2), pair(4)}).value();
  const Collective collective = support::of_megabytes(CollectiveKind::broadcast, 6, 2);
  const auto made = synthesize_checked("te_ccl", {{topology, collective}});
  EXPECT_EQ(made.time, microseconds(20) * 5);
  ASSERT_TRUE(made.solver.has_value());
  EXPECT_TRUE(made.solver->optimal);
}

}  // namespace
}  // namespace tenex
