// Training loops where concurrent communications share the links.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tenex/workload/training.hpp"
#include "workload/models.hpp"

namespace tenex {
namespace {

using support::in_microseconds;
using support::kShape;
using support::layer;
using support::libra;
using support::mapping;
using support::of_layers;
using support::problem_of;
using support::sum;
using support::work;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// One link for all: two concurrent streams run at half speed. Counts how often it is asked for two.
class SharedLink final : public CollectiveTime {
 public:
  explicit SharedLink(std::string_view shape) : alone_(libra(shape, {gigabytes_per_second(1)})) {}

  [[nodiscard]] std::string_view name() const override { return "shared_link"; }
  [[nodiscard]] Result<SimTime> time(const Communication& communication, const Mapping& mapping) const override {
    return alone_.time(communication, mapping);
  }
  [[nodiscard]] bool contends() const override { return true; }
  [[nodiscard]] Result<ConcurrentEnds> concurrent(std::span<const Communication> first,
                                                  std::span<const Communication> second, SimTime offset,
                                                  const Mapping& mapping) const override {
    ++asked;
    if (refuses) return resource_error("no memory for two streams");
    const auto alone = alone_.concurrent(first, second, offset, mapping).value();
    if (alone.first <= offset) return alone;
    // From the offset on both advance at half speed until the shorter one is done; then the other continues alone.
    const SimTime left = alone.first - offset;
    const SimTime whole = alone.second - offset;
    const SimTime both = std::min(left, whole);
    return ConcurrentEnds{alone.first + both, alone.second + both};
  }

  mutable int asked = 0;
  bool refuses = false;

 private:
  LibraTime alone_;
};

Result<TrainingTime> run_sharing(const Workload& workload, TrainingLoop loop, const CollectiveTime& model,
                                 std::string_view degrees = "2,2", std::string_view shape = kShape) {
  return training_time(workload, mapping(shape, degrees), teraflops(1), model, loop);
}

TEST(Contention, SlowsTheStreamsThatALayerLetsRunSideBySide) {
  // From the end of the input gradient: TP alone until 5 (3 of 8 us left); both at half speed until 11, when TP is done
  // and 4 of DP's 7 us are left: 15. 10 + 3 + 20 + 15 = 48 us, of which 15 - 5 are waits for DP.
  const SharedLink link(kShape);
  const auto time = run_sharing(of_layers({layer()}), TrainingLoop::tp_dp_overlap, link).value();
  EXPECT_EQ(time.total(), microseconds(48));
  EXPECT_THAT(in_microseconds(time.exposed), ElementsAre(3, 0, 10));
}

TEST(Contention, ExposesInputGradientsBehindWeightGradients) {
  // TP 30: 25 left at 5; DP's 7 take 14 beside them: 19; TP's last 18 alone: 37. 10 + 3 + 20 + 37 = 70 us: the wait is
  // 19 - 5 for DP and 37 - 19 more for TP.
  const SharedLink link(kShape);
  const auto time = run_sharing(of_layers({layer(30)}), TrainingLoop::tp_dp_overlap, link).value();
  EXPECT_EQ(time.total(), microseconds(70));
  EXPECT_THAT(in_microseconds(time.exposed), ElementsAre(3, 18, 14));
}

TEST(Contention, IsAskedForOncePerDistinctPairAndOffset) {
  // Equal layers and repetitions are one pair; another weight-gradient computation is another offset.
  const SharedLink link(kShape);
  const auto time =
      run_sharing(of_layers({layer(), layer(), layer(8, 6)}, 48), TrainingLoop::tp_dp_overlap, link).value();
  EXPECT_EQ(link.asked, 2);
  // With offset 6: TP has 2 left, done at 10; DP 5 left: 15. Again 48 us per layer.
  EXPECT_EQ(time.total(), microseconds(48 * 3 * 48));
}

TEST(Contention, NeedsTwoStreams) {
  // HP-(1,4): the tensor groups are single NPUs, so weight gradients have the link to themselves: 10 + 20 + 5 + 7.
  const SharedLink link(kShape);
  EXPECT_EQ(run_sharing(of_layers({layer()}), TrainingLoop::tp_dp_overlap, link, "1,4")->total(), microseconds(42));
  EXPECT_EQ(link.asked, 0);
}

TEST(Contention, OfATurnLeavesOutWhatIsDueOncePerIteration) {
  // HP-(2,2,2) and 4 microbatches: three turns without DP take 10 + 3 + 20 + max(8, 5) = 41, the last one 48, and one
  // more of 41 fills and drains the pipeline: 212 us.
  constexpr std::string_view kStaged = "SW(2)_SW(2)_SW(2)";
  const SharedLink link(kStaged);
  auto staged = of_layers({layer()});
  staged.microbatches = 4;
  const auto time = run_sharing(staged, TrainingLoop::tp_dp_overlap, link, "2,2,2", kStaged).value();
  EXPECT_EQ(time.bubble, microseconds(41));
  EXPECT_EQ(time.total(), microseconds(212));
  EXPECT_EQ(link.asked, 1);
}

TEST(Contention, DoesNotConcernALoopWithoutOverlap) {
  const SharedLink link(kShape);
  EXPECT_EQ(run_sharing(of_layers({layer()}), TrainingLoop::no_overlap, link)->total(), microseconds(53));
  EXPECT_EQ(link.asked, 0);
}

TEST(Contention, OfManyQueuesIsRefused) {
  const SharedLink link(kShape);
  const auto refused = run_sharing(of_layers({layer()}), TrainingLoop::astra_sim, link);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.errors().front().fault, Fault::unsupported);
  EXPECT_THAT(problem_of(refused), HasSubstr("use the loop tp_dp_overlap"));
  // With one scope there is one queue and no other communication beside it: 20 + 5, DP's 7 from 25 to 32, forward 10:
  // 42.
  EXPECT_EQ(run_sharing(of_layers({layer()}), TrainingLoop::astra_sim, link, "1,4")->total(), microseconds(42));
}

TEST(Contention, PassesTheModelsErrorsOn) {
  SharedLink link(kShape);
  link.refuses = true;
  EXPECT_THAT(problem_of(run_sharing(of_layers({layer()}), TrainingLoop::tp_dp_overlap, link)),
              HasSubstr("no memory for two"));
}

TEST(Contention, IsNoneWhereAModelDoesNotTellOfIt) {
  // Each stream as if alone: 3 + 8 from 0, 7 from 5; a group of one takes no time.
  const auto model = libra(kShape, {gigabytes_per_second(1)});
  EXPECT_FALSE(model.contends());
  const std::vector first{sum(3, Scope::tensor), sum(8, Scope::tensor)};
  const std::vector second{sum(7, Scope::data)};
  EXPECT_EQ(*model.concurrent(first, second, microseconds(5), mapping(kShape, "2,2")),
            (ConcurrentEnds{microseconds(11), microseconds(12)}));
  EXPECT_EQ(*model.concurrent(first, {}, microseconds(5), mapping(kShape, "1,4")),
            (ConcurrentEnds{microseconds(0), microseconds(5)}));
}

}  // namespace
}  // namespace tenex
