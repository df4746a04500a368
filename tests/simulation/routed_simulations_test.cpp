// Simulators take the routes that the options choose: engines agree, and loads are those of the routes.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/programs.hpp"
#include "support/collectives.hpp"
#include "support/repeated_routes.hpp"
#include "support/topologies.hpp"
#include "support/wired.hpp"
#include "tenex/simulation/reference.hpp"
#include "tenex/topology/given_routes.hpp"
#include "tenex/topology/routes.hpp"
#include "tenex/topology/transform.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

constexpr RouteChoice kChoices[] = {
    {}, {RouteRule::single}, {RouteRule::hashed, 1}, {RouteRule::hashed, 2}, {RouteRule::sprayed}};

TEST(RoutedSimulations, AgreeWithTheReferenceAndForAnyThreads) {
  const auto broken = remove_links(support::shape("fat_tree(4)"), {{VertexId(16), VertexId(24)}}).value();
  for (const Topology& topology :
       {support::shape("fat_tree(4)"), support::shape("leaf_spine(3,3,2)"), support::shape("rail_spine(2,3,2)"),
        support::shape("SW(12,4:2)"), support::wired("leaf_spine(3,3,2)"), broken})
    for (const RouteChoice& choice : kChoices)
      for (const char* name : {"direct", "rings", "ring"})
        for (const auto kind : {CollectiveKind::all_to_all, CollectiveKind::all_gather}) {
          const auto collective = support::collective(kind, topology.npus(), bytes(960'000));
          AlgorithmOptions made;
          made.routes = choice;
          const auto program = support::program_if_defined(*find_algorithm(name), topology, collective, made);
          if (!program) continue;
          SimulationOptions options;
          options.routes = choice;
          options.record_links = options.record_arrivals = true;
          options.record_sends = choice.rule != RouteRule::sprayed;
          SCOPED_TRACE(std::string(name) + " " + to_string(choice));
          const auto simulation = simulate(topology, collective, *program, options).value();
          const auto expected = simulate_by_reference(topology, collective, *program, options).value();
          EXPECT_EQ(simulation.finish, expected.finish);
          EXPECT_EQ(simulation.messages, expected.messages);
          EXPECT_EQ(simulation.arrivals, expected.arrivals);
          EXPECT_EQ(list_sends(simulation.sends), list_sends(expected.sends));
          options.record_sends = options.record_arrivals = false;
          options.threads = 3;
          const auto threaded = simulate(topology, collective, *program, options).value();
          EXPECT_EQ(threaded.finish, expected.finish);
          options.backend = Backend::congestion_unaware;
          const auto unaware = simulate(topology, collective, *program, options).value();
          for (std::size_t link = 0; link < topology.links(); ++link) {
            EXPECT_EQ(threaded.links[link].bytes, simulation.links[link].bytes);
            EXPECT_EQ(unaware.links[link].bytes, simulation.links[link].bytes);
          }
        }
}

/// All that a simulator gives, and the reference where it is not asked itself.
void expect_alike(const Topology& topology, const Topology& other, const Collective& collective, std::string_view name,
                  RouteChoice choice) {
  AlgorithmOptions made;
  made.routes = choice;
  const auto program = support::program_if_defined(*find_algorithm(name), topology, collective, made);
  if (!program) return;
  const auto same = find_algorithm(name)->make(other, collective, {}).value();
  SimulationOptions options;
  options.record_links = options.record_arrivals = options.record_sends = true;
  SimulationOptions chosen = options;
  chosen.routes = choice;
  const auto expected = simulate(topology, collective, *program, chosen).value();
  for (const auto& found : {simulate(other, collective, *same, options).value(),
                            simulate_by_reference(other, collective, *same, options).value()}) {
    EXPECT_EQ(found.finish, expected.finish);
    EXPECT_EQ(found.arrivals, expected.arrivals);
    EXPECT_EQ(list_sends(found.sends), list_sends(expected.sends));
    for (std::size_t link = 0; link < topology.links() && topology.wires() == nullptr; ++link)
      EXPECT_EQ(found.links[link].bytes, expected.links[link].bytes);
  }
  // Without records other engines may run: static_order, and the window engine on several threads.
  for (const Backend backend : {Backend::congestion_aware, Backend::congestion_unaware})
    for (const int threads : {1, 3}) {
      SimulationOptions plain;
      plain.backend = backend;
      plain.threads = threads;
      chosen = plain;
      chosen.routes = choice;
      const auto first = simulate(topology, collective, *program, chosen).value();
      const auto second = simulate(other, collective, *same, plain).value();
      EXPECT_EQ(first.finish, second.finish);
      EXPECT_EQ(first.engine, second.engine);
    }
}

TEST(RoutedSimulations, OfGivenRoutesThatRepeatARuleAreThoseOfTheRule) {
  for (const char* text : {"fat_tree(4)", "leaf_spine(3,3,2)", "rail_spine(2,3,2)"}) {
    const Topology plain = support::shape(text).without_shape();
    const Topology hops = with_routes(plain, support::repeated_hops(plain)).value();
    for (const RouteChoice& choice :
         {RouteChoice{}, RouteChoice{RouteRule::single}, RouteChoice{RouteRule::hashed, 2}}) {
      const Topology routes = with_routes(plain, support::repeated_routes(plain, choice)).value();
      for (const Algorithm& algorithm : algorithms())
        for (const auto kind : {CollectiveKind::all_to_all, CollectiveKind::all_gather, CollectiveKind::all_reduce}) {
          if (!algorithm.makes(kind)) continue;
          SCOPED_TRACE(std::string(text) + " " + std::string(algorithm.name) + " " + to_string(choice));
          const auto collective = support::collective(kind, plain.npus(), bytes(960'000));
          expect_alike(plain, routes, collective, algorithm.name, choice);
          if (choice == RouteChoice{}) expect_alike(plain, hops, collective, algorithm.name, choice);
        }
    }
  }
}

TEST(RoutedSimulations, OfGivenRoutesOverWiresTakeTheSameLinks) {
  // Bytes by physical link of a network of wires are those of the network whose switches store and forward, if routes
  // are given: those of a hash, which wires know nothing of. leaf_spine(2,3,6) has 6 paths for 4 wires of a pair.
  const Topology plain = support::shape("leaf_spine(2,3,6)").without_shape();
  const Topology network = with_routes(plain, support::repeated_routes(plain, {RouteRule::hashed, 1})).value();
  const Topology wired = wires_of(network.with_switches({.forwarding = Forwarding::cut_through})).value();
  const auto collective = support::collective(CollectiveKind::all_to_all, 6, bytes(960'000));
  SimulationOptions options;
  options.record_links = options.record_sends = true;
  const auto stored = simulate(network, collective, *support::program_of("direct", network, collective), options);
  const auto program = support::program_of("direct", wired, collective);
  const auto cut = simulate(wired, collective, *program, options).value();
  EXPECT_EQ(cut.engine, SimulationEngine::wires);
  std::vector<std::int64_t> bytes_over(plain.links(), 0);
  for (std::size_t wire = 0; wire < wired.links(); ++wire)
    for (const WireSpan& span : wired.wires()->spans(LinkId::at(wire)))
      bytes_over[span.link.index()] += cut.links[wire].bytes.count();
  for (std::size_t link = 0; link < plain.links(); ++link)
    EXPECT_EQ(bytes_over[link], stored->links[link].bytes.count()) << link;
  const auto expected = simulate_by_reference(wired, collective, *program, options).value();
  EXPECT_EQ(cut.finish, expected.finish);
  EXPECT_EQ(list_sends(cut.sends), list_sends(expected.sends));
}

TEST(RoutedSimulations, TellEqualMessagesUnderWayApart) {
  // NPU 0 sends the same 2,000 B twice to NPU 1, over two spines: alphas of 0, 1 GB/s on the links of NPUs and of spine
  // 4, 0.1 GB/s on those of spine 5. To NPU 1 the first piece takes spine 5. A piece of 1,000 B takes 1 us, or 10 us
  // over each of the two links of spine 5. The first message: 1 + 10 + 10 + 1 = 22 us for its first piece, and 2 + 1 +
  // 1 + 1 = 5 us for its second. The pieces of the second message leave NPU 0 at 3 and 4 us; the first waits for spine
  // 5 until 11, and comes at 11 + 10 + 10 + 1 = 32 us, the second at 7. If they counted as one message, the first two
  // pieces at 5 and 7 us would make it whole.
  for (const Forwarding forwarding : {Forwarding::store_and_forward, Forwarding::cut_through}) {
    TopologyBuilder builder(2);
    for (int i = 0; i < 4; ++i) builder.add_switch({.forwarding = forwarding});
    const auto join = [&](std::uint32_t a, std::uint32_t b, std::int64_t megabytes) {
      builder.add_link_pair({VertexId(a), VertexId(b), SimTime::zero(), Bandwidth::of(megabytes * 1'000'000)});
    };
    join(0, 2, 1000);
    join(1, 3, 1000);
    for (const std::uint32_t leaf : {2U, 3U}) join(leaf, 4, 1000);
    for (const std::uint32_t leaf : {2U, 3U}) join(leaf, 5, 100);
    const Topology topology = wires_of(std::move(builder).build().value()).value();
    const auto collective = support::collective(CollectiveKind::all_to_all, 2, bytes(4'000));
    const auto chunk = collective.first_chunk(GroupId(0)).value() + 1;  // of NPU 0 for NPU 1
    const support::ScriptedProgram program({support::flow(0, 1, chunk), support::flow(0, 1, chunk)});
    SimulationOptions options;
    options.routes = {RouteRule::sprayed};
    options.record_arrivals = true;
    const auto found = simulate(topology, collective, program, options).value();
    EXPECT_EQ(found.arrivals, simulate_by_reference(topology, collective, program, options)->arrivals);
    ASSERT_EQ(found.arrivals.size(), 2U);
    if (forwarding == Forwarding::cut_through) continue;
    EXPECT_EQ(found.arrivals[0].time, microseconds(22));
    EXPECT_EQ(found.arrivals[1].time, microseconds(32));
  }
}

TEST(RoutedSimulations, OfDirectOnALeafSpineAreNearItsBound) {
  // leaf_spine(4,4,4), 50 GB/s, 1 us, All-to-All of 1 GB: messages of 62.5 MB, 1.25 ms each. An NPU receives 15 of
  // them: 18.75 ms. The 4 NPUs of a leaf send 12 each to other leaves, 48 over 4 links up with equal routes: 12 for
  // each link, 15 ms. With the lowest links all 48 take one: 60 ms, and then three more hops: 63.75 ms and 3 us.
  const auto topology = support::shape("leaf_spine(4,4,4)", {microseconds(1)}, {gigabytes_per_second(50)});
  const auto collective = support::collective(CollectiveKind::all_to_all, 16, bytes(1'000'000'000));
  const auto program = support::program_of("direct", topology, collective);
  SimulationOptions options;
  options.record_links = true;
  const auto equal = simulate(topology, collective, *program, options).value();
  for (std::size_t link = 32; link < topology.links(); ++link)
    EXPECT_EQ(equal.links[link].bytes, bytes(12 * 62'500'000));
  EXPECT_LE(equal.finish, microseconds(18'750) * 135 / 100);
  options.routes = {RouteRule::single};
  EXPECT_GE(simulate(topology, collective, *program, options).value().finish, microseconds(63'750));
  options.routes = {RouteRule::sprayed};
  const auto sprayed = simulate(topology, collective, *program, options).value();
  EXPECT_EQ(sprayed.messages, 240U);
  for (std::size_t link = 32; link < topology.links(); ++link)
    EXPECT_EQ(sprayed.links[link].bytes, bytes(12 * 62'500'000));
  EXPECT_LE(sprayed.finish, microseconds(18'750) * 110 / 100);
}

TEST(RoutedSimulations, OfPiecesAddUpToTheMessage) {
  // Two NPUs on leaves of their own, four spines, 1 GB/s, 0.5 us; each sends 1,000,003 B. Pieces of three times 250,001
  // and 250,000 B; one byte takes 1 ns. The third piece leaves the NPU at 750,003, and two links later it is at the
  // other leaf at 1,250,005; it takes the last link until 1,500,006. The fourth comes there at 1,000,003 + 2 * 250,000
  // = 1,500,003, waits, and has arrived at 1,750,006, all of it 2 us later because of four latencies.
  const auto topology = support::shape("leaf_spine(1,2,4)", {nanoseconds(500)}, {gigabytes_per_second(1)});
  const auto collective = support::collective(CollectiveKind::all_to_all, 2, bytes(2'000'006));
  const auto program = support::program_of("direct", topology, collective);
  SimulationOptions options;
  options.routes = {RouteRule::sprayed};
  options.record_links = options.record_arrivals = true;
  const auto simulation = simulate(topology, collective, *program, options).value();
  EXPECT_EQ(simulation.engine, SimulationEngine::window);
  EXPECT_EQ(simulation.finish, nanoseconds(1'750'006 + 2'000));
  EXPECT_EQ(simulation.messages, 2U);
  EXPECT_EQ(simulation.hops, 2U * 4 * 4);
  EXPECT_EQ(simulation.arrivals.size(), 2U);
  // Links 0-3 join NPUs; then leaf 2 up and down over spines 4 to 7, and leaf 3 likewise. To NPU 1 the pieces go over
  // spines 1, 2, 3, 0, and to NPU 0 over 0, 1, 2, 3.
  const std::vector<std::int64_t> expected{1'000'003, 1'000'003, 1'000'003, 1'000'003,  // NPUs
                                           250'000,   250'001,   250'001,   250'001,    // leaf 2, spines 4 and 5
                                           250'001,   250'001,   250'001,   250'000,    // leaf 2, spines 6 and 7
                                           250'001,   250'000,   250'001,   250'001,    // leaf 3, spines 4 and 5
                                           250'001,   250'001,   250'000,   250'001};   // leaf 3, spines 6 and 7
  for (std::size_t link = 0; link < topology.links(); ++link)
    EXPECT_EQ(simulation.links[link].bytes, bytes(expected[link])) << link;
  // Regardless of other messages: four latencies, and the bytes of the message over the NPU's link.
  options.backend = Backend::congestion_unaware;
  EXPECT_EQ(simulate(topology, collective, *program, options).value().finish, nanoseconds(1'000'003 + 2'000));
}

TEST(RoutedSimulations, OfPiecesAreRefusedWhereSendsAreRecorded) {
  const auto topology = support::shape("leaf_spine(2,2,2)");
  const auto collective = support::collective(CollectiveKind::all_gather, 4, bytes(4'000));
  const auto program = support::program_of("ring", topology, collective);
  SimulationOptions options;
  options.routes = {RouteRule::sprayed};
  options.record_sends = true;
  const auto recorded = simulate(topology, collective, *program, options);
  ASSERT_FALSE(recorded.ok());
  EXPECT_EQ(recorded.errors()[0].fault, Fault::unsupported);
  options.record_sends = false;
  options.engine = SimulationEngine::static_order;
  const auto other = simulate(topology, collective, *program, options);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.errors()[0].fault, Fault::unsupported);
  // Where there is one route for each pair, messages stay whole.
  options.engine = SimulationEngine::automatic;
  options.record_sends = true;
  const auto ring = support::shape("RI(4)");
  EXPECT_TRUE(simulate(ring, collective, *support::program_of("ring", ring, collective), options).ok());
}

}  // namespace
}  // namespace tenex
