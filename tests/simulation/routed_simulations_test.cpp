// Simulators take the routes that the options choose: engines agree, and loads are those of the routes.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "simulation/programs.hpp"
#include "support/collectives.hpp"
#include "support/topologies.hpp"
#include "tenex/simulation/reference.hpp"
#include "tenex/topology/routes.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

constexpr RouteChoice kChoices[] = {{}, {RouteRule::single}, {RouteRule::hashed, 1}, {RouteRule::hashed, 2}};

TEST(RoutedSimulations, AgreeWithTheReferenceAndForAnyThreads) {
  const auto broken = remove_links(support::shape("fat_tree(4)"), {{VertexId(16), VertexId(24)}}).value();
  for (const Topology& topology : {support::shape("fat_tree(4)"), support::shape("leaf_spine(3,3,2)"),
                                   support::shape("rail_spine(2,3,2)"), support::shape("SW(12,4:2)"), broken})
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
          options.record_links = options.record_sends = true;
          SCOPED_TRACE(std::string(name) + " " + to_string(choice));
          const auto simulation = simulate(topology, collective, *program, options).value();
          const auto expected = simulate_by_reference(topology, collective, *program, options).value();
          EXPECT_EQ(simulation.finish, expected.finish);
          EXPECT_EQ(list_sends(simulation.sends), list_sends(expected.sends));
          options.record_sends = false;
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
}

}  // namespace
}  // namespace tenex
