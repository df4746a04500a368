// The keys `overhead` and `link_protocol`: times by hand, refusals, and links as they then are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "evaluate/points.hpp"

namespace tenex {
namespace {

using support::point;
using support::row_of;
using support::Words;
using ::testing::HasSubstr;

std::int64_t time_of(Words words) {
  const auto row = row_of(point(std::move(words)));
  EXPECT_EQ(row.status, PointStatus::ok) << row.reason;
  return row.collective_time_ps;
}

/// Links of 50 GB/s and alpha 0.5 us, 75 KB: 1.5 us each.
Words words(const char* topology, const char* collective, const char* algorithm, const char* overhead) {
  return {{"topology", topology},   {"alpha", "0.5us"},     {"bandwidth", "50GB/s"}, {"collective", collective},
          {"algorithm", algorithm}, {"overhead", overhead}, {"size", "75KB"}};
}

TEST(OverheadOfMessages, IsTakenByEachStepAndEachMessage) {
  // Three NPUs send their input to both others over one link each: 2 (o + 1.5 us) until the last has left.
  // It passes the switch in two alphas. Each NPU receives one at a time.
  auto one_shot = words("SW(3)", "all_reduce", "one_shot", "2us");
  one_shot.emplace_back("forwarding", "virtual_cut_through");
  EXPECT_EQ(time_of(one_shot), 8'000'000);
  // Stored and forwarded, it takes its 1.5 us twice.
  EXPECT_EQ(time_of(words("SW(3)", "all_reduce", "one_shot", "2us")), 9'500'000);
  // On a ring of four, one way, 2 (n - 1) = 6 steps of alpha + o + 0.375 us: 5.25 us and 6 o.
  EXPECT_EQ(time_of(words("RI(4)", "all_reduce", "ring_unidirectional", "0us")), 5'250'000);
  EXPECT_EQ(time_of(words("RI(4)", "all_reduce", "ring_unidirectional", "2us")), 17'250'000);
}

TEST(OverheadOfMessages, MakesFewerMessagesBetter) {
  // Among eight on a switch: 14 messages of an eighth by `ring`, or 3 of the whole by recursive doubling.
  const auto best = [](const char* overhead) {
    auto settings = words("SW(8)", "all_reduce", "best", overhead);
    settings.emplace_back("forwarding", "virtual_cut_through");
    return row_of(point(settings)).chosen_algorithm;
  };
  EXPECT_NE(best("0us"), best("5us"));
}

TEST(OverheadOfMessages, IsRefusedWhereASendTakesSeveralLinksAtOnce) {
  auto settings = words("SW(4)", "all_gather", "ring", "1us");
  settings.emplace_back("forwarding", "cut_through");
  EXPECT_THAT(to_string(make_point(settings, vocabulary()).errors()), HasSubstr("where switches cut through"));
  settings = words("SW(4)", "all_gather", "tacos", "1us");
  settings.emplace_back("unwind", "1");
  EXPECT_THAT(to_string(make_point(settings, vocabulary()).errors()), HasSubstr("where switches are unwound"));
}

TEST(OverheadOfMessages, IsOnLinksThatLeaveAnNpu) {
  for (const auto* topology : {"RI(5)", "SW(4)", "mesh(3,3)"}) {
    Cache cache;
    EvaluateOptions options;
    options.keep_schedule = true;
    const auto output = evaluate(point(words(topology, "all_gather", "trees", "3us")), cache, options);
    ASSERT_EQ(output.row.status, PointStatus::ok) << output.row.reason;
    for (std::size_t i = 0; i < output.topology->links(); ++i) {
      const auto link = output.topology->link(LinkId::at(i));
      EXPECT_EQ(link.overhead, output.topology->is_npu(link.source) ? microseconds(3) : SimTime::zero());
    }
  }
}

Words under(const char* protocol, const char* topology) {
  return {{"topology", topology},
          {"collective", "all_reduce"},
          {"algorithm", "ring"},
          {"size", "1MB"},
          {"link_protocol", protocol}};
}

TEST(ProtocolOfLinks, IsTheMachineWithItsAlphaAndItsShareOfTheBandwidth) {
  // 450 GB/s * 120/128 = 421.875 GB/s.
  const auto shape = [](const char* alpha, const char* bandwidth) {
    return time_of({{"topology", "SW(8)"},
                    {"collective", "all_reduce"},
                    {"algorithm", "ring"},
                    {"size", "1MB"},
                    {"forwarding", "virtual_cut_through"},
                    {"alpha", alpha},
                    {"bandwidth", bandwidth}});
  };
  const auto of = [](const char* protocol) {
    return row_of(make_point(under(protocol, "dgx_h100"), vocabulary()).value()).collective_time_ps;
  };
  EXPECT_EQ(of("none"), shape("0.35us", "450GB/s"));
  EXPECT_EQ(of("ll"), shape("0.35us", "225GB/s"));
  EXPECT_EQ(of("ll128"), shape("0.95us", "421875MB/s"));
  EXPECT_EQ(of("simple"), shape("1.7us", "450GB/s"));
}

TEST(ProtocolOfLinks, HoldsBetweenBoxesToo) {
  const auto made = make_point(under("ll128", "dgx_h100 x 4"), vocabulary()).value();
  EXPECT_EQ(made.topology.links.alpha, (std::vector{nanoseconds(950), microseconds(2)}));
  EXPECT_EQ(made.topology.links.bandwidth,
            (std::vector{bytes_per_second(421'875'000'000), bytes_per_second(46'875'000'000)}));
}

TEST(ProtocolOfLinks, IsOneThatTheMachineNames) {
  const auto unknown = make_point(under("ll256", "dgx_h100"), vocabulary());
  EXPECT_THAT(to_string(unknown.errors()), HasSubstr("it has none, ll, ll128, simple"));
  const auto none = make_point(under("ll", "mi300x"), vocabulary());
  EXPECT_THAT(to_string(none.errors()), HasSubstr("\"mi300x\" has no protocol \"ll\""));
}

}  // namespace
}  // namespace tenex
