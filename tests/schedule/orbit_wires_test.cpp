// The orbit check over wires: one link up and one link down per NPU and switch, and the premise that every wire takes
// the links of its roles.
//
// A chunk of 1,000 B takes 1 us over a link of 1 GB/s, and alpha is 1 us.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/wired.hpp"
#include "tenex/schedule/storage/symmetric_schedule.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"

namespace tenex {
namespace {

Collective exchange_of(std::size_t npus) {
  return support::collective(CollectiveKind::all_to_all, npus, bytes(1000 * static_cast<std::int64_t>(npus)));
}

Topology star_of_four() { return support::wired("SW(4)", {microseconds(1)}, {gigabytes_per_second(1)}); }

/// The chunk for offset d leaves in direction d - 1, `gap` after the one before.
Schedule in_turn(const Topology& topology, SimTime gap) {
  std::vector<OrbitSend> orbits;
  for (std::uint32_t offset = 1; offset < 4; ++offset)
    orbits.push_back({gap * (offset - 1), offset - 1, NpuId(offset), offset, Stage::copy});
  return make_symmetric_schedule(TranslationGroup::of(topology, LinkPorts::shared).value(), {1, true}, orbits);
}

Verdict verdict_on(const Topology& topology, SimTime gap, Occupancy occupancy = Occupancy::serialization) {
  const Collective exchange = exchange_of(4);
  const Schedule schedule = in_turn(topology, gap);
  EXPECT_TRUE(has_orbit_check(topology, exchange, schedule));
  return verify_symmetric({topology, exchange, occupancy}, schedule);
}

TEST(OrbitWires, TakeTurnsOnTheLinkToTheSwitch) {
  // 0, 1 and 2 us; the last one arrives at 2 + 1 + 2 us.
  const Verdict verdict = verdict_on(star_of_four(), microseconds(1));
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.collective_time, microseconds(5));
  EXPECT_EQ(verdict.sends, 12U);
  const Verdict early = verdict_on(star_of_four(), microseconds(1) - picoseconds(1));
  ASSERT_EQ(early.violations, 2U);
  EXPECT_EQ(early.findings[0].violation, Violation::link_overlap);
  EXPECT_EQ(early.findings[0].message,
            "the link to the switch is busy with another send until 1us, and so for every NPU");
  // Under `transfer` a link is busy for its own alpha longer, not for that of the whole wire.
  EXPECT_TRUE(verdict_on(star_of_four(), microseconds(2), Occupancy::transfer).valid());
  EXPECT_FALSE(verdict_on(star_of_four(), microseconds(2) - picoseconds(1), Occupancy::transfer).valid());
}

TEST(OrbitWires, AreReservedByDimension) {
  // SW(2)_SW(2): both dimensions at once, then the corner over dimension 2 and, once it has arrived, dimension 1.
  const Topology square = support::wired("SW(2)_SW(2)", {microseconds(1)}, {gigabytes_per_second(1)});
  const auto group = TranslationGroup::of(square, LinkPorts::shared).value();
  const auto us = [](std::int64_t time) { return microseconds(time); };
  const Collective exchange = exchange_of(4);
  const auto verdict = [&](SimTime corner) {
    const std::vector<OrbitSend> orbits{{us(0), 0, NpuId(1), 1, Stage::copy},
                                        {us(0), 1, NpuId(2), 2, Stage::copy},
                                        {us(1), 1, NpuId(2), 3, Stage::copy},
                                        {corner, 0, NpuId(3), 3, Stage::copy}};
    return verify_symmetric({square, exchange, Occupancy::serialization},
                            make_symmetric_schedule(group, {1, true}, orbits));
  };
  EXPECT_TRUE(verdict(us(4)).valid());
  EXPECT_EQ(verdict(us(4)).collective_time, us(7));
  EXPECT_FALSE(verdict(us(4) - picoseconds(1)).valid());
}

/// The spans of one wire, which a test may change.
using Edit = std::function<void(std::size_t wire, std::vector<WireSpan>& spans)>;

/// The wires of SW(4) over another network, with other paths.
Topology rewired(
    Topology network, const Edit& edit = [](std::size_t, std::vector<WireSpan>&) {}) {
  const Topology star = star_of_four();
  TopologyBuilder builder(4);
  std::vector<std::uint64_t> first{0};
  std::vector<WireSpan> all;
  for (std::size_t wire = 0; wire < star.links(); ++wire) {
    builder.add_link(star.link(LinkId::at(wire)));
    const auto spans = star.wires()->spans(LinkId::at(wire));
    std::vector<WireSpan> edited(spans.begin(), spans.end());
    edit(wire, edited);
    all.insert(all.end(), edited.begin(), edited.end());
    first.push_back(all.size());
  }
  builder.declare_shape(*star.shape());
  builder.declare_wires(
      std::make_shared<const Wires>(std::make_shared<const Topology>(std::move(network)), first, all));
  return std::move(builder).build().value();
}

/// Links up (2 i) and down (2 i + 1) of NPU i, after a change; then more links up, one per NPU, if there are two rails.
Topology network_of_four(const std::function<void(std::uint32_t npu, Link& up, Link& down)>& edit, bool rails = false,
                         Forwarding forwarding = Forwarding::cut_through) {
  TopologyBuilder builder(4);
  const VertexId hub = builder.add_switch({.forwarding = forwarding});
  for (std::uint32_t npu = 0; npu < 4; ++npu) {
    Link up{VertexId(npu), hub, microseconds(1), gigabytes_per_second(1)};
    Link down{hub, VertexId(npu), microseconds(1), gigabytes_per_second(1)};
    edit(npu, up, down);
    builder.add_link(up);
    builder.add_link(down);
  }
  for (std::uint32_t npu = 0; rails && npu < 4; ++npu)
    builder.add_link({VertexId(npu), hub, microseconds(1), gigabytes_per_second(1)});
  return std::move(builder).build().value();
}

void as_built(std::uint32_t, Link&, Link&) {}

/// Whether the check refuses the premise, not a send.
bool refuses(const Topology& topology) {
  const Verdict verdict = verdict_on(topology, microseconds(10));
  return verdict.violations == 1 && verdict.findings[0].violation == Violation::unknown_link &&
         verdict.findings[0].message == "the topology is not the one that the schedule is for";
}

TEST(OrbitWires, MustTakeTheLinksOfTheirRoles) {
  EXPECT_TRUE(verdict_on(rewired(network_of_four(as_built)), microseconds(1)).valid());
  // The wires of NPU 2 leave by a second link of its own, and only those to NPU 0: two links in one role.
  EXPECT_TRUE(refuses(rewired(network_of_four(as_built, true), [](std::size_t wire, std::vector<WireSpan>& spans) {
    if (wire == 6) spans[0].link = LinkId(8 + 2);
  })));
  // All wires of NPU 2 by its second link: one to one again.
  EXPECT_FALSE(refuses(rewired(network_of_four(as_built, true), [](std::size_t wire, std::vector<WireSpan>& spans) {
    if (wire / 3 == 2) spans[0].link = LinkId(8 + 2);
  })));
}

TEST(OrbitWires, MustLeadFromTheirSourceToTheirTarget) {
  EXPECT_TRUE(refuses(rewired(network_of_four(as_built), [](std::size_t wire, std::vector<WireSpan>& spans) {
    if (wire == 4) spans[1].link = LinkId(7);  // to NPU 3 in place of NPU 2
  })));
  EXPECT_TRUE(refuses(rewired(network_of_four(as_built), [](std::size_t wire, std::vector<WireSpan>& spans) {
    if (wire == 11) spans[0].link = LinkId(0);  // from NPU 0 in place of NPU 3
  })));
  EXPECT_TRUE(refuses(rewired(network_of_four(as_built), [](std::size_t wire, std::vector<WireSpan>& spans) {
    if (wire == 11) spans.pop_back();
  })));
  EXPECT_TRUE(refuses(rewired(network_of_four(as_built, false, Forwarding::store_and_forward))));
}

TEST(OrbitWires, MustHaveTheTimesOfTheirLinks) {
  EXPECT_TRUE(refuses(rewired(network_of_four(as_built), [](std::size_t wire, std::vector<WireSpan>& spans) {
    if (wire == 11) spans[1].offset = SimTime::zero();
  })));
  EXPECT_TRUE(refuses(rewired(network_of_four([](std::uint32_t npu, Link&, Link& down) {
    if (npu == 3) down.bandwidth = Bandwidth::of(999'000'000);
  }))));
  EXPECT_TRUE(refuses(rewired(network_of_four([](std::uint32_t npu, Link& up, Link&) {
    if (npu == 3) up.alpha = nanoseconds(999);
  }))));
}

TEST(OrbitWires, MayDifferOnTheWayUpAndDown) {
  // 0.5 us up and 1.5 us down: under `transfer` the link down is busy for 2.5 us, which decides.
  const Topology uneven =
      rewired(network_of_four([](std::uint32_t, Link& up, Link& down) {
                up.alpha = nanoseconds(500);
                down.alpha = nanoseconds(1'500);
              }),
              [](std::size_t, std::vector<WireSpan>& spans) { spans[1].offset = nanoseconds(500); });
  EXPECT_TRUE(verdict_on(uneven, nanoseconds(2'500), Occupancy::transfer).valid());
  const Verdict early = verdict_on(uneven, nanoseconds(2'500) - picoseconds(1), Occupancy::transfer);
  ASSERT_EQ(early.violations, 2U);
  EXPECT_EQ(early.findings[0].message,
            "the link from the switch is busy with another send until 3us, and so for every NPU");
}

}  // namespace
}  // namespace tenex
