// Virtual cut-through, byte by byte: when a message passes switches whose links differ in speed.
#include "tenex/topology/hand_over.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/draws.hpp"
#include "support/topologies.hpp"
#include "tenex/topology/distance.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

constexpr SwitchProperties kEarly{.forwarding = Forwarding::virtual_cut_through};

/// NPU 0, switches, and the last NPU, 1, in a row; link i of `nanoseconds` for 1,000 bytes and an alpha of 100 ns.
Topology row(const std::vector<std::int64_t>& nanoseconds_each) {
  TopologyBuilder builder(2);
  VertexId at(0);
  for (std::size_t i = 0; i < nanoseconds_each.size(); ++i) {
    const VertexId next = i + 1 < nanoseconds_each.size() ? builder.add_switch(kEarly) : VertexId(1);
    builder.add_link({at, next, nanoseconds(100), bytes_per_second(1'000'000'000'000 / nanoseconds_each[i])});
    at = next;
  }
  return std::move(builder).build().value();
}

TEST(HandOver, TakesTheSlowestLinkOnceAndTheRestOfWhatIsSlowerThanTheLinkBefore) {
  // Equal links: the bytes flow through. From slow to fast the last byte decides, from fast to slow the first.
  EXPECT_EQ(arrival_times(row({40, 40}), VertexId(0), bytes(1000))[1], nanoseconds(200 + 40));
  EXPECT_EQ(arrival_times(row({40, 10}), VertexId(0), bytes(1000))[1], nanoseconds(200 + 40));
  EXPECT_EQ(arrival_times(row({10, 40}), VertexId(0), bytes(1000))[1], nanoseconds(200 + 40));
  // Slow, fast, slow: the fast link carries its bytes at one go, and the last link begins when the first of them comes:
  // 40 and, after the fast 10, what the last link takes longer than that, 30.
  EXPECT_EQ(arrival_times(row({40, 10, 40}), VertexId(0), bytes(1000))[1], nanoseconds(300 + 40 + 30));
  // A fourth link that is no slower adds nothing but its alpha.
  EXPECT_EQ(arrival_times(row({40, 10, 40, 20}), VertexId(0), bytes(1000))[1], nanoseconds(400 + 70));
  // The sum over a path of a switch that stores would be 200 + 50.
  EXPECT_EQ(
      arrival_times(with_early_switches_as(row({40, 10}), Forwarding::store_and_forward), VertexId(0), bytes(1000))[1],
      nanoseconds(250));
}

TEST(HandOver, LeadIsWhatBothLinksCarryAtOnce) {
  const Topology topology = row({40, 10});
  const HandOvers hand_overs(topology, {bytes(1000)});
  ASSERT_TRUE(hand_overs.any());
  EXPECT_EQ(hand_overs.lead(LinkId(0), LinkId(1), 0), nanoseconds(10));
  EXPECT_EQ(HandOvers(topology.reversed(), {bytes(1000)}).lead(LinkId(1), LinkId(0), 0), nanoseconds(10));
  EXPECT_FALSE(HandOvers(topology.with_switches(SwitchProperties{}), {bytes(1000)}).any());
}

TEST(HandOver, KeepsTheEarlyHeadOnASlowLinkAndTheLateOneOnAFastLink) {
  // Two ways from NPU 0 to a switch: straight over 100 ns per chunk, or by a relay that takes 8 + 70 + 8 ns over links
  // of
  // 8. Out of it a link of 100 ns and one of 8: over the slow link the straight way is better (its first byte comes at
  // 1), over the fast one the other way (its last byte comes at 8 + 70 + 8).
  constexpr auto link = [](VertexId from, VertexId to, std::int64_t alpha, std::int64_t each) {
    return Link{from, to, nanoseconds(alpha), bytes_per_second(1'000'000'000'000 / each)};
  };
  TopologyBuilder builder(4);
  const VertexId hub = builder.add_switch(kEarly);
  builder.add_link(link(VertexId(0), hub, 1, 100));
  builder.add_link(link(VertexId(0), VertexId(1), 0, 8));
  builder.add_link(link(VertexId(1), hub, 70, 8));
  builder.add_link(link(hub, VertexId(2), 0, 100));
  builder.add_link(link(hub, VertexId(3), 0, 8));
  const auto arrival = arrival_times(std::move(builder).build().value(), VertexId(0), bytes(1000));
  EXPECT_EQ(arrival[2], nanoseconds(101));
  EXPECT_EQ(arrival[3], nanoseconds(8 + 70 + 8));
}

TEST(HandOver, DoesNotMixWithSwitchesInWhichNothingWaits) {
  TopologyBuilder builder(2);
  const VertexId first = builder.add_switch({.forwarding = Forwarding::cut_through});
  const VertexId second = builder.add_switch(kEarly);
  builder.add_link_pair({VertexId(0), first, nanoseconds(1), gigabytes_per_second(1)});
  builder.add_link_pair({first, second, nanoseconds(1), gigabytes_per_second(1)});
  builder.add_link_pair({second, VertexId(1), nanoseconds(1), gigabytes_per_second(1)});
  const auto wired = wires_of(std::move(builder).build().value());
  ASSERT_FALSE(wired.ok());
  EXPECT_THAT(wired.errors().front().problem, testing::HasSubstr("virtual_cut_through"));
}

/// The least arrival over all paths, each hop as early as no byte leaves a switch before it comes.
class BytewiseSearch {
 public:
  BytewiseSearch(const Topology& topology, Bytes size)
      : topology_(topology), size_(size.count()), best_(topology.vertices(), SimTime::max()) {}

  std::vector<SimTime> from(VertexId source) {
    best_[source.index()] = SimTime::zero();
    visited_ = {source};
    for (const LinkId link : topology_.out_links(source)) go(link, SimTime::zero());
    return best_;
  }

 private:
  [[nodiscard]] SimTime serialization(LinkId link) const {
    return serialization_time(bytes(size_), topology_.classes()[topology_.class_of(link)]);
  }

  void go(LinkId link, SimTime start) {
    const VertexId at = topology_.target(link);
    if (std::ranges::find(visited_, at) != visited_.end()) return;
    const SimTime head = start + topology_.alpha(link);
    const SimTime whole = head + serialization(link);
    best_[at.index()] = std::min(best_[at.index()], whole);
    visited_.push_back(at);
    for (const LinkId next : topology_.out_links(at)) {
      if (!passes_on_early(topology_, at)) {
        go(next, whole);
        continue;
      }
      // The least whole start >= head + k (own - next) / size for every byte k.
      SimTime earliest = head;
      for (std::int64_t k = 0; k <= size_; ++k) {
        const std::int64_t ahead = k * (serialization(link) - serialization(next)).count();
        if (ahead > 0) earliest = std::max(earliest, head + picoseconds((ahead + size_ - 1) / size_));
      }
      go(next, earliest);
    }
    visited_.pop_back();
  }

  const Topology& topology_;
  std::int64_t size_;
  std::vector<SimTime> best_;
  std::vector<VertexId> visited_;
};

TEST(HandOver, LeastTimesAreThoseOfEveryPathByteByByte) {
  const int draws = support::draws(60, 600);
  for (int draw = 0; draw < draws; ++draw) {
    Random random(static_cast<std::uint64_t>(draw), 0x6561);
    const std::uint32_t npus = 2 + random.below(3);
    const std::uint32_t switches = 1 + random.below(4);
    TopologyBuilder builder(npus);
    for (std::uint32_t s = 0; s < switches; ++s)
      builder.add_switch(
          {.forwarding = random.below(4) == 0 ? Forwarding::store_and_forward : Forwarding::virtual_cut_through});
    const std::uint32_t vertices = npus + switches;
    for (std::uint32_t i = 0; i < vertices + 2 * random.below(vertices); ++i) {
      const std::uint32_t from = i < vertices ? i : random.below(vertices);
      const std::uint32_t to = (from + (i < vertices ? 1 : 1 + random.below(vertices - 1))) % vertices;
      const Link link{VertexId(from), VertexId(to), picoseconds(random.below(30)),
                      bytes_per_second(1'000'000'000'000 / (1 + random.below(40)))};
      builder.add_link(link);
    }
    const Topology topology = std::move(builder).build().value();
    for (const std::int64_t size : {1, 7, 50})
      EXPECT_EQ(arrival_times(topology, VertexId(0), bytes(size)),
                BytewiseSearch(topology, bytes(size)).from(VertexId(0)))
          << "draw " << draw << ", " << size << " bytes";
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tenex
