// Work, rates and compute times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenex/workload/compute.hpp"
#include "workload/models.hpp"

namespace tenex {
namespace {

using support::problem_of;
using ::testing::HasSubstr;

TEST(Compute, TimeIsWorkOverRateRoundedUp) {
  // 618475290624 FLOPs (2*16*2048*12288^2/16) at 60*2^40 = 65970697666560 FLOP/s: 0.009375 s.
  EXPECT_EQ(compute_time(flops(618'475'290'624), tebiflops(60)), nanoseconds(9'375'000));
  // 1 FLOP at 3 TFLOPS is a third of a picosecond.
  EXPECT_EQ(compute_time(flops(1), teraflops(3)), picoseconds(1));
  EXPECT_EQ(compute_time(flops(0), teraflops(3)), picoseconds(0));
}

TEST(Compute, WorkOfATimeGivesThatTimeBack) {
  // 12207 ns at 65970.69766656 FLOP/ns is 805304306.4: rounded down it still needs more than 12206999 ps.
  EXPECT_EQ(work_of(nanoseconds(12'207), tebiflops(60)), flops(805'304'306));
  for (const std::int64_t nanosecond : {1, 10, 300, 1'118, 12'207, 781'250})
    EXPECT_EQ(compute_time(work_of(nanoseconds(nanosecond), tebiflops(60)), tebiflops(60)), nanoseconds(nanosecond));
}

TEST(Compute, AnotherRateRestatesATime) {
  // 9375 us at 60*2^40 is 618475290624 FLOPs; at 234e12 FLOP/s 618475290624/234 = 2643056797.5.. ps, 0.281926 of it.
  EXPECT_EQ(compute_time(work_of(microseconds(9'375), tebiflops(60)), teraflops(234)), picoseconds(2'643'056'798));
}

TEST(Compute, RatesAreReadWithTheirUnit) {
  EXPECT_EQ(*parse_compute_rate("234TFLOPS"), teraflops(234));
  EXPECT_EQ(*parse_compute_rate("60TiFLOPS"), flops_per_second(65'970'697'666'560));
  EXPECT_EQ(*parse_compute_rate("19.5TFLOPS"), flops_per_second(19'500'000'000'000));
  EXPECT_EQ(*parse_compute_rate("1FLOPS"), flops_per_second(1));
}

TEST(Compute, TextThatIsNoRateIsRefused) {
  EXPECT_THAT(problem_of(parse_compute_rate("234")), HasSubstr("\"234\" is no compute rate"));
  EXPECT_THAT(problem_of(parse_compute_rate("TFLOPS")), HasSubstr("for instance \"234TFLOPS\""));
  EXPECT_THAT(problem_of(parse_compute_rate("0TFLOPS")), HasSubstr("positive"));
  EXPECT_THAT(problem_of(parse_compute_rate("0.5FLOPS")), HasSubstr("whole number"));
  EXPECT_THAT(problem_of(parse_compute_rate("99EFLOPS")), HasSubstr("beyond"));
  EXPECT_FALSE(parse_compute_rate("234GB/s").ok());
}

TEST(Compute, RatesAreWrittenAsTheyAreRead) {
  for (const auto* text : {"234TFLOPS", "60TiFLOPS", "1FLOPS", "19500GFLOPS", "1EFLOPS"})
    EXPECT_EQ(to_string(*parse_compute_rate(text)), text);
}

}  // namespace
}  // namespace tenex
