// What sends waited for, the critical chain, shares of time, and the picture of a TEN.
#include "pages/sends.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "pages/grouping.hpp"
#include "support/topologies.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/pages/view.hpp"

namespace tenex {
namespace {

using testing::ElementsAre;

/// A schedule of chunks of 50,000 bytes on links of 50 GB/s without latency: every send takes 1 us.
ScheduleFile file_of(Topology topology, CollectiveKind kind, std::int64_t chunks, std::vector<Send> sends) {
  CollectiveRequest request;
  request.kind = kind;
  request.npus = topology.npus();
  request.chunks = chunks;
  request.size = bytes(50'000 * chunks);
  return {std::move(topology),
          Collective::make(request).value(),
          Occupancy::serialization,
          make_list_schedule(std::move(sends)),
          "test",
          ""};
}

LinkId link_between(const Topology& topology, std::uint32_t from, std::uint32_t to) {
  for (const LinkId link : topology.out_links(VertexId(from)))
    if (topology.target(link) == VertexId(to)) return link;
  return LinkId::none();
}

Topology line_of(std::size_t npus) { return support::shape("LI(" + std::to_string(npus) + ")", {SimTime::zero()}); }

Send send_of(const Topology& topology, std::uint32_t from, std::uint32_t to, std::int64_t start_us, std::uint32_t chunk,
             Stage stage = Stage::copy) {
  return {nanoseconds(1000 * start_us), link_between(topology, from, to), ChunkId(chunk), stage};
}

constexpr double kMicro = 1e6;

// A Broadcast over the line 0-1-2, the second send 2 us after it could start: it waits for the first's arrival at 1 us,
// and then for no reason until 3 us.
TEST(ViewedSends, TellWhatASendWaitsFor) {
  const auto line = line_of(3);
  const auto sends =
      read_sends(file_of(line, CollectiveKind::broadcast, 1, {send_of(line, 0, 1, 0, 0), send_of(line, 1, 2, 3, 0)}));
  EXPECT_THAT(sends.cause, ElementsAre(kNoSend, 0U));
  EXPECT_THAT(sends.ready, ElementsAre(0, kMicro));
  EXPECT_THAT(sends.chain, ElementsAre(0U, 1U));
}

// Two chunks over one link: the second waits for the link, and was there at once.
TEST(ViewedSends, TellThatALinkIsBusy) {
  const auto line = line_of(2);
  const auto sends =
      read_sends(file_of(line, CollectiveKind::broadcast, 2, {send_of(line, 0, 1, 0, 0), send_of(line, 0, 1, 1, 1)}));
  EXPECT_THAT(sends.cause, ElementsAre(kNoSend, 0U));
  EXPECT_THAT(sends.ready, ElementsAre(0, 0));
}

// A Reduce to NPU 0 of the line 0-1-2: the sum of 1 and 2 can leave when 2's has arrived.
TEST(ViewedSends, TellWhichSumIsAwaited) {
  const auto line = line_of(3);
  const auto sends =
      read_sends(file_of(line, CollectiveKind::reduce, 1,
                         {send_of(line, 2, 1, 0, 0, Stage::reduce), send_of(line, 1, 0, 1, 0, Stage::reduce)}));
  EXPECT_THAT(sends.cause, ElementsAre(kNoSend, 0U));
  EXPECT_THAT(sends.chain, ElementsAre(0U, 1U));
  EXPECT_THAT(sends.reduces, ElementsAre(1, 1));
}

// The last arrival is waste (NPU 1 has the chunk): the chain ends at the last one that somebody needs.
TEST(ViewedSends, TheChainEndsAtAnArrivalThatIsNeeded) {
  const auto line = line_of(2);
  const auto sends =
      read_sends(file_of(line, CollectiveKind::broadcast, 1, {send_of(line, 0, 1, 0, 0), send_of(line, 0, 1, 5, 0)}));
  EXPECT_THAT(sends.chain, ElementsAre(0U));
}

// Virtual cut-through over equal links without latency: the switch passes the chunk on at once, so the second send may
// start when the first does, and waits for it all the same.
TEST(ViewedSends, TellOfSwitchesThatPassOnEarly) {
  auto box = support::shape("SW(2)", {SimTime::zero()});
  SwitchProperties properties;
  properties.forwarding = Forwarding::virtual_cut_through;
  box = box.with_switches(properties);
  const auto sends =
      read_sends(file_of(box, CollectiveKind::broadcast, 1, {send_of(box, 0, 2, 0, 0), send_of(box, 2, 1, 0, 0)}));
  EXPECT_THAT(sends.cause, ElementsAre(kNoSend, 0U));
  EXPECT_THAT(sends.ready, ElementsAre(0, 0));
}

/// Whatever makes a schedule, a send starts when what it carries is there, and when its cause has left the link or has
/// arrived; and the chain ends with the collective.
void expect_sound(const ScheduleFile& file, SimTime time) {
  const auto sends = read_sends(file);
  ASSERT_EQ(sends.size(), file.schedule.sends());
  ASSERT_FALSE(sends.chain.empty());
  EXPECT_EQ(sends.arrival[sends.chain.back()], static_cast<double>(time.count()));
  for (std::size_t i = 0; i < sends.size(); ++i) {
    EXPECT_LE(sends.ready[i], sends.start[i]);
    const auto cause = sends.cause[i];
    if (cause == kNoSend) continue;
    EXPECT_LE(sends.start[cause], sends.start[i]);
    const bool same_link = sends.link[cause] == sends.link[i];
    const auto reached = file.topology.target(LinkId(sends.link[cause]));
    EXPECT_TRUE(same_link || reached == file.topology.source(LinkId(sends.link[i])));
  }
}

TEST(ViewedSends, AreSoundForWhateverMakesASchedule) {
  const std::vector<std::vector<std::pair<std::string, std::string>>> points{
      {{"topology", "torus(3,3)"}, {"algorithm", "tacos"}, {"collective", "all_reduce"}},
      {{"topology", "fat_tree(4)"}, {"algorithm", "direct"}, {"collective", "all_to_all"}},
      {{"topology", "SW(4)_SW(2)"}, {"algorithm", "ring"}, {"collective", "all_reduce"}},
      {{"topology", "mesh(3,3)"}, {"algorithm", "trees"}, {"collective", "all_reduce"}, {"chunks", "4"}},
      {{"topology", "SW(8)"},
       {"algorithm", "dbt"},
       {"collective", "all_reduce"},
       {"forwarding", "virtual_cut_through"}},
  };
  for (auto point : points) {
    for (const auto& each : {std::pair("alpha", "0.5us"), std::pair("bandwidth", "50GB/s"), std::pair("size", "1MB")})
      point.emplace_back(each.first, each.second);
    Cache cache;
    EvaluateOptions options;
    options.keep_schedule = true;
    const auto made = make_point(point, vocabulary()).value();
    auto output = evaluate(made, cache, options);
    ASSERT_EQ(output.row.status, PointStatus::ok) << output.row.reason;
    SCOPED_TRACE(point.front().second);
    expect_sound({*output.topology, *output.collective, made.occupancy, output.schedule, "", ""},
                 picoseconds(output.row.collective_time_ps));
  }
}

// Two sends of 1 us on the link from 0 to 1 in 4 us, one on the link from 1 to 2, which ends the schedule: in two spans
// of 2 us the first link is busy for all of the first span, and the second for half of the second.
TEST(BusyShares, IsTheShareOfEachSpan) {
  const auto line = line_of(3);
  const auto file = file_of(line, CollectiveKind::broadcast, 2,
                            {send_of(line, 0, 1, 0, 0), send_of(line, 0, 1, 1, 1), send_of(line, 1, 2, 3, 0)});
  const auto use = measure_use(file, nullptr, 2);
  const auto first = link_between(line, 0, 1).index() * 2;
  const auto second = link_between(line, 1, 2).index() * 2;
  EXPECT_EQ(use.end, 4 * kMicro);
  EXPECT_EQ(use.copy[first], 255);
  EXPECT_EQ(use.copy[first + 1], 0);
  EXPECT_EQ(use.copy[second], 0);
  EXPECT_EQ(use.copy[second + 1], 128);
}

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// A caption is as wide as the picture at most: its parts go on in further lines.
TEST(NetworkPicture, HasItsWholeCaption) {
  const auto mesh = support::shape("mesh(4,4)");
  const Viewed viewed{
      .title = "mesh(4,4)",
      .topology = mesh,
      .shape = parse_shape("mesh(4,4)").value(),
      .bounds = {{.name = "relay", .meaning = "a cut", .time = microseconds(10), .inside = {VertexId(0)}}}};
  const auto svg = view_picture(viewed, Picture::network);
  ASSERT_TRUE(svg.ok()) << to_string(svg.errors());
  EXPECT_EQ(count_of(*svg, ">mesh(4,4); least time 10us (relay)<"), 1);
  EXPECT_EQ(count_of(*svg, ">purple: a cut, 10us<"), 1);
}

// A Broadcast over the line 0-1-2 in two steps of 1 us. The line has 4 links, so the TEN has 8 edges of links (grey, 1
// wide) and 6 of waiting (dashed); two of the former have the chunk's colour.
TEST(TenPicture, HasEveryEdgeOfEveryStep) {
  const auto line = line_of(3);
  const auto file = file_of(line, CollectiveKind::broadcast, 1, {send_of(line, 0, 1, 0, 0), send_of(line, 1, 2, 1, 0)});
  const auto svg = view_picture({.title = "test", .topology = file.topology, .schedule = &file}, Picture::ten);
  ASSERT_TRUE(svg.ok()) << to_string(svg.errors());
  EXPECT_EQ(count_of(*svg, "stroke-dasharray"), 6);
  EXPECT_EQ(count_of(*svg, "stroke=\"#cbd2d9\" stroke-width=\"1\""), 14);
  EXPECT_EQ(count_of(*svg, "stroke=\"#0072b2\" stroke-width=\"2\""), 2);
}

}  // namespace
}  // namespace tenex
