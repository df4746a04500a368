// Schedules on real buffers, a thread for each NPU: every element that an NPU must hold is there, and a lost addition
// or a changed byte is seen. (tests/mpi runs `tenex execute` under mpirun.)
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "evaluate/recorded.hpp"
#include "support/topologies.hpp"
#include "tenex/exchange/execution.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

using support::recorded;

constexpr std::size_t kElements = 3;

/// What is under way between threads, by number.
class Post {
 public:
  void put(std::uint32_t number, std::span<const std::byte> bytes) {
    const std::scoped_lock lock(mutex_);
    parcels_[number].assign(bytes.begin(), bytes.end());
    came_.notify_all();
  }
  void take(std::uint32_t number, std::span<std::byte> bytes) {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return parcels_.contains(number); });
    ASSERT_EQ(parcels_[number].size(), bytes.size());
    std::ranges::copy(parcels_[number], bytes.begin());
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::map<std::uint32_t, std::vector<std::byte>> parcels_;
};

class PostWire final : public Wire {
 public:
  PostWire(Post& post, std::uint32_t changed) : post_(post), changed_(changed) {}
  void send(std::uint32_t /*to*/, std::uint32_t number, std::span<const std::byte> bytes) override {
    std::vector<std::byte> copy(bytes.begin(), bytes.end());
    if (number == changed_) copy.front() ^= std::byte{1};
    post_.put(number, copy);
  }
  void receive(std::uint32_t /*from*/, std::uint32_t number, std::span<std::byte> bytes) override {
    post_.take(number, bytes);
  }

 private:
  Post& post_;
  std::uint32_t changed_;
};

constexpr std::uint32_t kNone = UINT32_MAX;

/// What all NPUs have in the end. `changed`: a message of which a bit is changed on its way.
NpuExecution::Compared run_all(const Execution& execution, std::uint32_t changed = kNone) {
  std::vector<NpuExecution> npus;
  npus.reserve(execution.plan.npus);
  for (std::uint32_t npu = 0; npu < execution.plan.npus; ++npu) npus.emplace_back(execution, npu).fill();
  Post post;
  {
    std::vector<std::jthread> threads;
    for (auto& npu : npus)
      threads.emplace_back([&] {
        PostWire wire(post, changed);
        npu.run(wire);
      });
  }
  NpuExecution::Compared all;
  for (const auto& npu : npus) {
    const auto own = npu.compare();
    all.elements += own.elements;
    all.wrong += own.wrong;
  }
  return all;
}

constexpr std::array kExecutedKinds{CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                    CollectiveKind::all_reduce, CollectiveKind::all_to_all};

TEST(Execution, OfEveryAlgorithmGivesEveryElement) {
  for (const auto shape : {"RI(4)", "SW(4)", "FC(2)_RI(3)"}) {
    const auto topology = support::shape(shape);
    const std::size_t n = topology.npus();
    for (const auto kind : kExecutedKinds) {
      const auto collective = Collective::make({kind, n, {}, 1, bytes(1 << 20), 0});
      for (const auto* const algorithm : candidates(topology, *collective)) {
        SCOPED_TRACE(fmt::format("{} {} {}", shape, to_string(kind), algorithm->name));
        const auto file = recorded(topology, *collective, *algorithm);
        for (const ElementKind& element : element_kinds()) {
          const auto execution = plan_execution(file, element, kElements);
          ASSERT_TRUE(execution.ok()) << to_string(execution.errors());
          const auto compared = run_all(*execution);
          // Of n chunks an NPU must hold all, or its own; of n * n those that are for it.
          EXPECT_EQ(compared.elements, (kind == CollectiveKind::reduce_scatter ? n : n * n) * kElements);
          EXPECT_EQ(compared.wrong, 0U) << element.name;
        }
      }
    }
  }
}

TEST(Execution, OfSynthesizedTreesOverSwitchesGivesEveryElement) {
  const auto topology = support::shape("SW(6)");
  const auto collective = Collective::make({CollectiveKind::all_reduce, 6, {}, 2, bytes(1 << 20), 0});
  const auto made = find_synthesizer("trees")->synthesize({topology, *collective});
  ASSERT_TRUE(made.ok()) << to_string(made.errors());
  const ScheduleFile file{topology, *collective, Occupancy::serialization, made->schedule, "trees", {}};
  const auto execution = plan_execution(file, *find_element_kind("float32"), kElements);
  ASSERT_TRUE(execution.ok()) << to_string(execution.errors());
  const auto compared = run_all(*execution);
  EXPECT_EQ(compared.elements, 6 * 12 * kElements);
  EXPECT_EQ(compared.wrong, 0U);
}

TEST(Execution, SeesWhatIsNotAddedAndWhatChangesOnItsWay) {
  const auto topology = support::shape("RI(4)");
  const auto collective = Collective::make({CollectiveKind::all_reduce, 4, {}, 1, bytes(1 << 20), 0});
  const auto file = recorded(topology, *collective, *find_algorithm("ring"));
  auto execution = plan_execution(file, *find_element_kind("int32"), kElements).value();
  ASSERT_EQ(run_all(execution).wrong, 0U);
  for (std::uint32_t move = 0; move < execution.plan.moves.size(); ++move)
    EXPECT_GT(run_all(execution, move).wrong, 0U) << move;
  for (auto& move : execution.plan.moves) {
    if (!move.adds) continue;
    move.adds = false;
    EXPECT_GT(run_all(execution).wrong, 0U);
    move.adds = true;
  }
}

TEST(Execution, AddsBf16WithRoundingToTheNearestEven) {
  // Eight binary digits: 256 + 1 lies between 256 and 258 and goes to 256, whose last digit is even; 258 + 1 goes to
  // 260.
  const ElementKind& kind = *find_element_kind("bf16");
  const auto sum = [&](std::int32_t a, std::int32_t b) {
    std::array<std::byte, 2> left{};
    std::array<std::byte, 2> right{};
    kind.write(left.data(), a);
    kind.write(right.data(), b);
    kind.add(left.data(), right.data(), 1);
    return kind.read(left.data());
  };
  EXPECT_EQ(sum(100, 155), 255);
  EXPECT_EQ(sum(256, 1), 256);
  EXPECT_EQ(sum(258, 1), 260);
}

TEST(Execution, OfMoreNpusThanAKindSumsExactlyIsRefused) {
  // bf16 has all integers to 256: 257 ones are 256 in some orders, which float32 adds exactly.
  const auto topology = support::shape("RI(257)");
  const auto collective = Collective::make({CollectiveKind::reduce_scatter, 257, {}, 1, bytes(257), 0});
  const auto file = recorded(topology, *collective, *find_algorithm("ring"));
  const auto refused = plan_execution(file, *find_element_kind("bf16"), 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(to_string(refused.errors()).find("bf16 sums of 257 NPUs are not exact"), std::string::npos);
  const auto execution = plan_execution(file, *find_element_kind("float32"), 1);
  ASSERT_TRUE(execution.ok());
  for (std::uint32_t npu = 0; npu < 257; ++npu) {
    EXPECT_GE(input_element(*execution, npu, 0, 0), 1);
    EXPECT_LE(input_element(*execution, npu, 0, 0), 255);
  }
}

TEST(Execution, PlansTheBytesOfAnNpu) {
  // All-Gather of FC(4) by direct: 4 chunks, 3 messages out and 3 in of one chunk each, 3 elements of 4 bytes.
  const auto topology = support::shape("FC(4)");
  const auto collective = Collective::make({CollectiveKind::all_gather, 4, {}, 1, bytes(1 << 20), 0});
  const auto file = recorded(topology, *collective, *find_algorithm("direct"));
  const auto execution = plan_execution(file, *find_element_kind("int32"), kElements).value();
  EXPECT_EQ(bytes_of_npu(execution, 2), (4 + 3 + 3) * kElements * 4);
}

}  // namespace
}  // namespace tenex
