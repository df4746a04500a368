// Faults: named and drawn, and the cuts they leave.
#include "tenex/topology/faults.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/topologies.hpp"
#include "tenex/topology/transform.hpp"
#include "topology/neighbours.hpp"

namespace tenex {
namespace {

using support::all_links;
using support::link_ends;
using support::shape;
using Kind = NetworkFault::Kind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

NetworkFault lost_npu(std::uint32_t id) { return {.kind = Kind::npu, .first = id}; }
NetworkFault lost_link(std::uint32_t a, std::uint32_t b) { return {.kind = Kind::link, .first = a, .second = b}; }
NetworkFault one_way(std::uint32_t a, std::uint32_t b) { return {.kind = Kind::one_way, .first = a, .second = b}; }
NetworkFault count(Kind kind, std::int64_t amount, std::uint32_t draw = 1) {
  return {.kind = kind, .amount = amount, .draw = draw};
}
NetworkFault share(Kind kind, std::int64_t thousandths, std::uint32_t draw = 1) {
  return {.kind = kind, .is_share = true, .amount = thousandths, .draw = draw};
}
Link wire(std::uint32_t a, std::uint32_t b) {
  return {VertexId(a), VertexId(b), nanoseconds(1), gigabytes_per_second(1)};
}

std::string fault_refusal(const Topology& topology, const NetworkFault& fault) {
  const auto error = refuse_fault(topology, fault);
  return error ? to_string(*error) : "";
}

TEST(NetworkFaults, OfAnNpuTakeAllItsLinks) {
  // mesh(2,3): rows 0-1, 2-3, 4-5. NPU 2 has links with 0, 3 and 4.
  const auto faulty = with_faults(shape("mesh(2,3)"), {lost_npu(2)}, 1).value();
  EXPECT_EQ(faulty.failed_links, 6U);
  EXPECT_EQ(faulty.topology.npus(), 6U);
  EXPECT_FALSE(faulty.topology.shape());
  for (const auto& [from, to] : link_ends(faulty.topology)) EXPECT_TRUE(from != 2 && to != 2);
  EXPECT_EQ(faulty.topology.links(), 14U - 6U);
}

/// The ends of the links that the named element takes.
std::vector<std::pair<std::uint32_t, std::uint32_t>> taken(const Topology& topology, Kind kind, std::uint32_t number) {
  const auto faults = resolve_elements(topology, {{.kind = kind, .first = number}}).value();
  auto left = link_ends(with_faults(topology, faults, 1).value().topology);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> gone;
  for (const auto& ends : link_ends(topology)) {
    const auto found = std::ranges::find(left, ends);
    if (found == left.end())
      gone.emplace_back(ends);
    else
      left.erase(found);
  }
  return gone;
}

// SW(2)_SW(3): NPUs 0 to 5 on box switches 6, 7, 8 and on the rails 9 (even NPUs) and 10 (odd ones). Every rail is a
// leaf and a plane of its own; there is no spine.
TEST(NetworkFaults, OfElementsOfRails) {
  const Topology rails = shape("SW(2)_SW(3)");
  EXPECT_THAT(taken(rails, Kind::nic, 3), testing::UnorderedElementsAre(Pair(3, 10), Pair(10, 3)));
  const auto of_rail =
      testing::UnorderedElementsAre(Pair(0, 9), Pair(9, 0), Pair(2, 9), Pair(9, 2), Pair(4, 9), Pair(9, 4));
  EXPECT_THAT(taken(rails, Kind::leaf, 0), of_rail);
  EXPECT_THAT(taken(rails, Kind::plane, 0), of_rail);
  const NetworkElements elements(rails);
  EXPECT_EQ(elements.count(NetworkElement::npu), 6U);
  EXPECT_EQ(elements.count(NetworkElement::nic), 6U);
  EXPECT_EQ(elements.count(NetworkElement::leaf), 2U);
  EXPECT_EQ(elements.count(NetworkElement::plane), 2U);
  EXPECT_EQ(elements.count(NetworkElement::spine), 0U);
}

// rail_spine(2,3,2): boxes 6, 7, 8; rails 9 and 10; spines 11 and 12, which join the rails to one plane.
TEST(NetworkFaults, OfElementsBehindLeaves) {
  const Topology network = shape("rail_spine(2,3,2)");
  EXPECT_THAT(taken(network, Kind::nic, 4), testing::UnorderedElementsAre(Pair(4, 9), Pair(9, 4)));
  EXPECT_THAT(taken(network, Kind::spine, 1),
              testing::UnorderedElementsAre(Pair(9, 12), Pair(12, 9), Pair(10, 12), Pair(12, 10)));
  EXPECT_EQ(NetworkElements(network).count(NetworkElement::plane), 1U);
  EXPECT_EQ(taken(network, Kind::plane, 0).size(), 2U * (6 + 4));
  // fat_tree(4): 8 edge switches are the leaves, 4 core switches the spines; aggregation switches are neither.
  const NetworkElements tree(shape("fat_tree(4)"));
  EXPECT_EQ(tree.leaves().size(), 8U);
  EXPECT_THAT(tree.spines(), ElementsAre(VertexId(32), VertexId(33), VertexId(34), VertexId(35)));
}

// Two NPUs with a fast link to switch 2 and two slow ones to switch 3: four NICs, of which one is one link each way.
TEST(NetworkFaults, OfElementsOfAListAreOfItsSlowestLinks) {
  TopologyBuilder builder(2);
  builder.add_switch();
  builder.add_switch();
  for (const std::uint32_t npu : {0U, 1U}) {
    const auto add = [&](std::uint32_t hub, std::int64_t speed) {
      builder.add_link({VertexId(npu), VertexId(hub), nanoseconds(1), gigabytes_per_second(speed)});
      builder.add_link({VertexId(hub), VertexId(npu), nanoseconds(1), gigabytes_per_second(speed)});
    };
    add(2, 400);
    add(3, 50);
    add(3, 50);
  }
  const Topology network = std::move(builder).build().value();
  EXPECT_EQ(NetworkElements(network).nics().size(), 4U);
  EXPECT_THAT(taken(network, Kind::nic, 1), testing::UnorderedElementsAre(Pair(0, 3), Pair(3, 0)));
  EXPECT_EQ(taken(network, Kind::leaf, 0).size(), 8U);
  EXPECT_THAT(to_string(resolve_elements(network, {{.kind = Kind::spine, .first = 0}}).errors()),
              testing::HasSubstr("spine 0 does not exist (the network has no spine)"));
}

/// Boxes of NPUs 0 and 1, 2 and 3, which are joined in pairs if `joined`. NIC 4 is shared by 0 and 1 and has two links
/// to switch 7; NICs 5 and 6, of 2 and 3, have one each.
Topology boxes_behind_nics(bool joined) {
  TopologyBuilder builder(4);
  for (int nic_or_leaf = 0; nic_or_leaf < 4; ++nic_or_leaf) builder.add_switch();
  const auto add = [&](std::uint32_t a, std::uint32_t b, std::int64_t speed) {
    builder.add_link_pair({VertexId(a), VertexId(b), nanoseconds(1), gigabytes_per_second(speed)});
  };
  if (joined)
    for (const std::uint32_t npu : {0U, 2U}) add(npu, npu + 1, 400);
  for (const std::uint32_t npu : {0U, 1U, 2U, 3U}) add(npu, npu < 2 ? 4 : npu + 3, 50);
  for (const std::uint32_t nic : {4U, 4U, 5U, 6U}) add(nic, 7, 25);
  return std::move(builder).build().value();
}

// A vertex below which all NPUs are of one box, and above which is one switch, is a NIC: its links upwards are the
// elements, and what they lead to is the leaf.
TEST(NetworkFaults, OfNicsThatAreVerticesAreOfTheirLinksToTheFabric) {
  const Topology network = boxes_behind_nics(true);
  const NetworkElements elements(network);
  ASSERT_EQ(elements.nics().size(), 4U);
  EXPECT_EQ(elements.nics()[0].from, VertexId(4));
  EXPECT_THAT(elements.nics()[1].npus, ElementsAre(NpuId(0), NpuId(1)));
  EXPECT_THAT(elements.nics()[3].npus, ElementsAre(NpuId(3)));
  EXPECT_THAT(elements.leaves(), ElementsAre(VertexId(7)));
  EXPECT_THAT(taken(network, Kind::nic, 1), testing::UnorderedElementsAre(Pair(4, 7), Pair(7, 4)));
  EXPECT_THAT(taken(network, Kind::nic, 2), testing::UnorderedElementsAre(Pair(5, 7), Pair(7, 5)));
  EXPECT_EQ(taken(network, Kind::leaf, 0).size(), 8U);
  EXPECT_EQ(boxes_without(network, {VertexId(4), VertexId(5), VertexId(6)}),
            (std::vector<std::uint32_t>{0, 0, 2, 2, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}));
}

// NPUs 0 and 1 meet at vertex 4 alone: it is a switch, and the slowest links of NPUs are the NICs.
TEST(NetworkFaults, OfASwitchThatJoinsABoxAreNotOfANic) {
  const NetworkElements elements(boxes_behind_nics(false));
  EXPECT_EQ(elements.nics().size(), 4U);
  EXPECT_EQ(elements.nics()[1].from, VertexId(1));
  EXPECT_THAT(elements.leaves(), ElementsAre(VertexId(4), VertexId(5), VertexId(6)));
}

TEST(NetworkFaults, OfALinkTakeOneDirectionOrBoth) {
  EXPECT_THAT(link_ends(with_faults(shape("LI(3)"), {one_way(1, 0)}, 1).value().topology),
              testing::UnorderedElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 1)));
  EXPECT_THAT(link_ends(with_faults(shape("LI(3)"), {lost_link(0, 1)}, 1).value().topology),
              testing::UnorderedElementsAre(Pair(1, 2), Pair(2, 1)));
}

TEST(NetworkFaults, OfASwitchTakeAllItsLinks) {
  // SW(2)_SW(2): NPUs 0 to 3, switches 4 and 5 of dimension 1, 6 and 7 of dimension 2.
  const auto topology = shape("SW(2)_SW(2)");
  const auto faulty = with_faults(topology, {{.kind = Kind::whole_switch, .first = 6}}, 1).value();
  EXPECT_EQ(faulty.failed_links, 4U);
  EXPECT_TRUE(faulty.topology.out_links(VertexId(6)).empty());
  EXPECT_EQ(faulty.topology.switches(), 4U);
}

TEST(NetworkFaults, ThatDoNotExistAreNamed) {
  const auto mesh = shape("mesh(3,3)");
  EXPECT_EQ(fault_refusal(mesh, lost_npu(9)), "NPU 9 does not exist (NPUs are 0 to 8)");
  EXPECT_EQ(fault_refusal(mesh, lost_link(4, 8)),
            "no link joins 4 and 8 (only what exists can fail) 4 has links with 1, 3, 5, 7");
  EXPECT_EQ(fault_refusal(mesh, one_way(4, 8)),
            "no link leads from 4 to 8 (only what exists can fail) 4 has links with 1, 3, 5, 7");
  EXPECT_EQ(fault_refusal(mesh, lost_link(4, 12)), "vertex 12 does not exist (vertices are 0 to 8)");
  EXPECT_EQ(fault_refusal(mesh, {.kind = Kind::whole_switch, .first = 9}),
            "switch 9 does not exist (there is no switch)");
  EXPECT_EQ(fault_refusal(shape("SW(4)"), {.kind = Kind::whole_switch, .first = 3}),
            "switch 3 does not exist (switches are vertices 4 to 4)");
  EXPECT_EQ(fault_refusal(mesh, count(Kind::drawn_links, 13)), "13 link pairs cannot fail (there are 12)");
  EXPECT_EQ(fault_refusal(mesh, count(Kind::drawn_links, 12)), "");
  EXPECT_EQ(fault_refusal(mesh, count(Kind::drawn_npus, 10)), "10 NPUs cannot fail (there are 9)");
  EXPECT_EQ(with_faults(mesh, {lost_npu(9), lost_link(0, 8)}, 1).errors().size(), 2U);
}

TEST(NetworkFaults, RoundSharesToTheNearestCount) {
  EXPECT_EQ(amount_of(share(Kind::drawn_links, 1000), 149), 1U);  // 1.49
  EXPECT_EQ(amount_of(share(Kind::drawn_links, 1000), 150), 2U);  // 1.5
  EXPECT_EQ(amount_of(share(Kind::drawn_links, 500), 99), 0U);    // 0.495
  EXPECT_EQ(amount_of(share(Kind::drawn_links, kWholeShare), 7), 7U);
}

TEST(NetworkFaults, PairALinkWithOneThatLeadsBack) {
  EXPECT_EQ(count_link_pairs(shape("mesh(3,3)")), 12U);
  EXPECT_EQ(count_link_pairs(shape("RI(2)")), 1U);
  // Three links 0 to 1 and one back: one pair and two alone; 1 to 2 one way: alone.
  EXPECT_EQ(count_link_pairs(support::graph(3, {wire(0, 1), wire(0, 1), wire(1, 0), wire(0, 1), wire(1, 2)})), 4U);
  // More links lead back than out.
  EXPECT_EQ(count_link_pairs(support::graph(2, {wire(1, 0), wire(1, 0), wire(0, 1)})), 2U);
}

TEST(NetworkFaults, DrawWholePairs) {
  const auto torus = shape("torus(4,4)");  // 32 pairs
  for (std::uint32_t draw = 1; draw < 20; ++draw) {
    const auto faulty = with_faults(torus, {count(Kind::drawn_links, 5, draw)}, 7).value();
    EXPECT_EQ(faulty.failed_links, 10U);
    EXPECT_EQ(count_link_pairs(faulty.topology), 27U);
  }
}

TEST(NetworkFaults, DrawLinksBetweenSwitchesOnly) {
  // leaf_spine(2,3,4): 6 NPUs with a link pair each, 3 leaves of 4 pairs each to the spines. NPUs are vertices 0 to 5.
  const auto tree = shape("leaf_spine(2,3,4)");
  EXPECT_EQ(count_link_pairs(tree), 18U);
  EXPECT_EQ(count_switch_link_pairs(tree), 12U);
  EXPECT_EQ(count_switch_link_pairs(shape("SW(4)_SW(2)")), 0U);
  const auto ends = [](const Topology& topology) {
    const auto list = link_ends(topology);
    return std::set<std::pair<std::uint32_t, std::uint32_t>>(list.begin(), list.end());
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> taken;
  for (std::uint32_t draw = 1; draw <= 200; ++draw) {
    // A quarter of 12 pairs: three.
    const auto faulty = with_faults(tree, {share(Kind::drawn_switch_links, 25'000, draw)}, 3).value();
    EXPECT_EQ(faulty.failed_links, 6U);
    const auto left = ends(faulty.topology);
    for (const auto& [a, b] : ends(tree)) {
      if (left.contains({a, b})) continue;
      EXPECT_TRUE(a >= 6 && b >= 6);
      EXPECT_FALSE(left.contains({b, a}));
      ++taken[{a, b}];
    }
    // Links keep their ranks: what a draw among all links takes of those between switches, it takes first.
    const auto among_all = ends(with_faults(tree, {count(Kind::drawn_links, 5, draw)}, 3).value().topology);
    std::size_t of_switches = 0;
    for (const auto& [a, b] : ends(tree))
      if (a >= 6 && b > a && !among_all.contains({a, b})) ++of_switches;
    const NetworkFaults as_many{count(Kind::drawn_switch_links, static_cast<std::int64_t>(of_switches), draw)};
    for (const auto& [a, b] : ends(with_faults(tree, as_many, 3).value().topology))
      EXPECT_TRUE(a < 6 || b < 6 || among_all.contains({a, b}));
  }
  EXPECT_EQ(taken.size(), 24U);
  EXPECT_EQ(fault_refusal(tree, count(Kind::drawn_switch_links, 13)),
            "13 link pairs between switches cannot fail (there are 12)");
  EXPECT_EQ(fault_refusal(tree, count(Kind::drawn_switch_links, 12)), "");
  EXPECT_EQ(fault_refusal(shape("mesh(3,3)"), share(Kind::drawn_switch_links, 1000)),
            "no link joins two switches (only what exists can fail) draw among all links: links 1% draw 2");
}

TEST(NetworkFaults, OfALargerShareHoldTheSmallerOnes) {
  const auto torus = shape("torus(4,4)");
  for (std::uint32_t draw = 1; draw < 6; ++draw) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> before;
    for (std::int64_t amount = 0; amount <= 32; ++amount) {
      std::multiset<std::pair<std::uint32_t, std::uint32_t>> left;
      for (const auto& ends :
           link_ends(with_faults(torus, {count(Kind::drawn_links, amount, draw)}, 1).value().topology))
        left.insert(ends);
      EXPECT_EQ(left.size(), 64U - 2 * static_cast<std::size_t>(amount));
      for (const auto& gone : before) EXPECT_FALSE(left.contains(gone));
      for (const auto& ends : link_ends(torus))
        if (!left.contains(ends)) before.insert(ends);
    }
  }
}

TEST(NetworkFaults, DifferByDrawAndSeedAndTakeEveryLinkEquallyOften) {
  // 3,200 draws of one of 32 pairs: 100 each on average, with a standard deviation below 10; six of them either way.
  const auto torus = shape("torus(4,4)");
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> taken;
  std::set<std::vector<NpuId>> npus;
  for (std::uint32_t draw = 1; draw <= 1600; ++draw)
    for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{1} << 40}) {
      const auto left = with_faults(torus, {count(Kind::drawn_links, 1, draw)}, seed).value().topology;
      std::set<std::pair<std::uint32_t, std::uint32_t>> there;
      for (const auto& [from, to] : link_ends(left)) there.insert({from, to});
      for (const auto& [from, to] : link_ends(torus))
        if (from < to && !there.contains({from, to})) ++taken[{from, to}];
      if (draw <= 10) npus.insert(failed_npus({count(Kind::drawn_npus, 4, draw)}, 16, seed));
    }
  EXPECT_EQ(taken.size(), 32U);
  for (const auto& [ends, times] : taken) {
    EXPECT_GT(times, 40) << ends.first << '-' << ends.second;
    EXPECT_LT(times, 160) << ends.first << '-' << ends.second;
  }
  EXPECT_GE(npus.size(), 19U);  // 20 draws of 4 among 16, of which there are 1,820
}

TEST(NetworkFaults, AreTheSameForEveryOrderOfLinksAndWhateverElseThereIs) {
  // The order of links is turned round, and NPU 16 is added: of the old links, the same are the first to fail.
  const auto torus = shape("torus(4,4)");
  auto links = all_links(torus);
  std::reverse(links.begin(), links.end());
  const auto turned = support::graph(16, links);
  const auto ends_left = [](const Topology& topology) {
    std::multiset<std::pair<std::uint32_t, std::uint32_t>> ends;
    for (const auto& [from, to] : link_ends(topology))
      if (from < 16 && to < 16) ends.insert({from, to});
    return ends;
  };
  links.push_back(wire(0, 16));
  links.push_back(wire(16, 0));
  const auto larger = support::graph(17, links);
  for (std::uint32_t draw = 1; draw < 10; ++draw) {
    const NetworkFaults four{count(Kind::drawn_links, 4, draw)};
    const auto left = ends_left(with_faults(torus, four, 3).value().topology);
    EXPECT_EQ(ends_left(with_faults(turned, four, 3).value().topology), left);
    const auto beside = ends_left(with_faults(larger, four, 3).value().topology);
    EXPECT_TRUE(std::includes(beside.begin(), beside.end(), left.begin(), left.end()));
    EXPECT_LE(beside.size(), left.size() + 2);
  }
}

TEST(NetworkFaults, NameTheCut) {
  const std::vector<NpuId> everyone{NpuId(0), NpuId(1), NpuId(2)};
  EXPECT_FALSE(find_cut_between(shape("LI(3)"), everyone));
  const auto left = with_faults(shape("LI(3)"), {one_way(1, 2)}, 1).value().topology;
  const auto cut = find_cut_between(left, everyone);
  ASSERT_TRUE(cut);
  EXPECT_THAT(cut->from, ElementsAre(NpuId(0), NpuId(1)));
  EXPECT_THAT(cut->to, ElementsAre(NpuId(2)));
  const auto back = with_faults(shape("LI(3)"), {one_way(2, 1)}, 1).value().topology;
  const auto other = find_cut_between(back, everyone);
  ASSERT_TRUE(other);
  EXPECT_THAT(other->from, ElementsAre(NpuId(2)));
  EXPECT_THAT(other->to, ElementsAre(NpuId(0), NpuId(1)));
  EXPECT_FALSE(find_cut_between(back, std::vector{NpuId(0), NpuId(1)}));  // NPU 2 is a bystander
  EXPECT_EQ(few_of(cut->to), "NPU 2");
  EXPECT_EQ(few_of(std::vector<NpuId>{NpuId(1), NpuId(2), NpuId(3), NpuId(4), NpuId(9), NpuId(10)}),
            "NPUs 1, 2, 3, 4 and 2 more");
}

/// Whether a path leads from one vertex to another: by doing nothing but following links again and again.
bool reaches(const Topology& topology, NpuId from, NpuId to) {
  std::set<std::uint32_t> seen{from.value()};
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& [a, b] : link_ends(topology))
      if (seen.contains(a) && seen.insert(b).second) grew = true;
  }
  return seen.contains(to.value());
}

RC_GTEST_PROP(NetworkFaults, LeaveTheNetworkOfATwinWithoutThem, ()) {
  const auto number = [](std::uint64_t beyond) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint64_t>(0, beyond));
  };
  const auto topology = support::random_connected_topology(number(1000), 10, number(2) == 0);
  NetworkFaults faults;
  const auto chosen = topology.link(LinkId::at(number(topology.links())));
  if (number(2) == 0) faults.push_back(one_way(chosen.source.value(), chosen.target.value()));
  if (number(2) == 0) faults.push_back(lost_npu(static_cast<std::uint32_t>(number(topology.npus()))));
  if (number(2) == 0) faults.push_back(share(Kind::drawn_links, static_cast<std::int64_t>(number(40'000)), 2));
  if (number(3) == 0) faults.push_back(count(Kind::drawn_npus, 1, 3));
  const auto seed = number(1000);
  const auto faulty = with_faults(topology, faults, seed).value();
  // The twin: what the faults name, link by link; the drawn ones alone, by their own result.
  const auto dead = failed_npus(faults, topology.npus(), seed);
  NetworkFaults drawn;
  for (const auto& fault : faults)
    if (fault.kind == Kind::drawn_links) drawn.push_back(fault);
  std::multiset<std::pair<std::uint32_t, std::uint32_t>> kept;
  for (const auto& [a, b] : link_ends(with_faults(topology, drawn, seed).value().topology)) {
    const auto is_dead = [&](std::size_t v) { return std::count(dead.begin(), dead.end(), NpuId::at(v)) > 0; };
    bool named = false;
    for (const auto& fault : faults)
      named = named || (fault.kind == Kind::one_way && fault.first == a && fault.second == b);
    const bool ends = (a < topology.npus() && is_dead(a)) || (b < topology.npus() && is_dead(b));
    if (!named && !ends) kept.insert({a, b});
  }
  std::multiset<std::pair<std::uint32_t, std::uint32_t>> left;
  for (const auto& [a, b] : link_ends(faulty.topology)) left.insert({a, b});
  RC_ASSERT(left == kept);
  RC_ASSERT(faulty.failed_links == topology.links() - left.size());
  // Cuts are what they say, and are found whenever two members do not reach each other.
  std::vector<NpuId> members;
  for (std::size_t id = 0; id < topology.npus(); ++id)
    if (std::count(dead.begin(), dead.end(), NpuId::at(id)) == 0) members.push_back(NpuId::at(id));
  bool connected = true;
  for (const auto a : members)
    for (const auto b : members) connected = connected && reaches(faulty.topology, a, b);
  const auto cut = find_cut_between(faulty.topology, members);
  RC_ASSERT(connected == !cut);
  if (!cut) return;
  RC_ASSERT(cut->from.size() + cut->to.size() == members.size());
  RC_ASSERT(!cut->from.empty() && !cut->to.empty());
  for (const auto a : cut->from)
    for (const auto b : cut->to) RC_ASSERT(!reaches(faulty.topology, a, b));
}

TEST(NetworkFaults, LetASwitchUnwindOverTheNpusThatAreLeft) {
  // SW(4) without NPU 1: 0 to 2 to 3 to 0. NPU 1 stays, alone.
  const auto faulty = with_faults(shape("SW(4)"), {lost_npu(1)}, 1).value();
  EXPECT_THAT(link_ends(unwind_switches(faulty.topology, 1).value()), ElementsAre(Pair(0, 2), Pair(2, 3), Pair(3, 0)));
  // Without the link to it, NPU 1 sends only. Of the four senders the i-th serves the receiver at position
  // floor(i * 3 / 4) + 1 of 0, 2, 3.
  const auto half = with_faults(shape("SW(4)"), {one_way(4, 1)}, 1).value();
  EXPECT_THAT(link_ends(unwind_switches(half.topology, 1).value()),
              ElementsAre(Pair(0, 2), Pair(1, 2), Pair(2, 3), Pair(3, 0)));
  // With nobody left, nothing is unwound.
  const auto none = with_faults(shape("SW(4)"), {share(Kind::drawn_npus, kWholeShare)}, 1).value();
  EXPECT_THAT(link_ends(unwind_switches(none.topology, 1).value()), IsEmpty());
  const auto one = with_faults(shape("SW(4)"), {lost_npu(0), lost_npu(1), lost_npu(2)}, 1).value();
  EXPECT_THAT(link_ends(unwind_switches(one.topology, 2).value()), IsEmpty());
}

}  // namespace
}  // namespace tenex
