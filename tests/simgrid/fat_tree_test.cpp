// Fat trees as SimGrid has them (FatTreeZone, routed by d-mod-k after Zahavi), against those of tenex.
//
// SimGrid's tree of 3 levels with h, h and 2h elements below each switch and 1, h and h above is fat_tree(2h). What is
// compared, and why it must be equal:
// - Routes. Links have other names there, so routes are equal if one name there is one link here, both ways, for the
//   routes of all pairs.
// - Loads. What Direct All-to-All sends over a link here is a message for each pair whose route there has its link.
// - A flow alone. SimGrid's flow is a fluid: it takes all latencies and the time of its bytes on one link. That is the
//   definition of the congestion-unaware simulation. Congestion-aware switches store and forward, so that each further
//   link of the route takes the time of the bytes once more.
// - Direct All-to-All without latency. SimGrid shares links between all flows at once (max-min fairness), so that the
//   busiest link, which is that of an NPU, works without a break: it takes n - 1 messages. Here messages are stored by
//   switches: an NPU sends without a break, too, and its last message takes five more links. Equal routes leave no
//   queue in which it would wait, so the difference is five messages exactly.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

#include "simulation/programs.hpp"
#include "support/collectives.hpp"
#include "support/topologies.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/routes.hpp"

namespace tenex {
namespace {

namespace sg = simgrid::s4u;

constexpr double kBytesPerSecond = 50e9;
constexpr double kLatency = 1e-6;
constexpr std::int64_t kMessage = 1'000'000;  // bytes

/// SimGrid's platform: a fat tree with latency for each of these numbers of ports, and one without.
class Platform {
 public:
  static Platform& instance() {
    static Platform platform;
    return platform;
  }

  [[nodiscard]] sg::Host* host(unsigned ports, std::size_t npu) const { return hosts_.at(ports).at(npu); }
  [[nodiscard]] sg::Engine& engine() { return *engine_; }

  static constexpr unsigned kPorts[] = {4, 6, 8};
  static constexpr unsigned kWithoutLatency = 5;  // no tree has an odd number of ports; this one has 4

 private:
  Platform() {
    // A plain fluid: no TCP windows, no overheads, no effect of acknowledgements.
    static int count = 5;
    static std::vector<std::string> words{"tests_simgrid", "--cfg=network/model:CM02", "--cfg=network/TCP-gamma:0",
                                          "--cfg=network/crosstraffic:no", "--log=root.thresh:warning"};
    static std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    engine_ = std::make_unique<sg::Engine>(&count, arguments.data());
    auto* const root = sg::create_full_zone("root");
    for (const unsigned ports : kPorts) add(root, ports, ports, kLatency);
    add(root, kWithoutLatency, 4, 0);
    root->seal();
  }

  void add(sg::NetZone* root, unsigned key, unsigned ports, double latency) {
    const unsigned half = ports / 2;
    auto& hosts = hosts_[key];
    hosts.assign(std::size_t{2} * half * half * half, nullptr);
    const auto make = [&hosts, key](sg::NetZone* zone, const std::vector<unsigned long>& at, unsigned long) {
      auto* const host = zone->create_host("h" + std::to_string(key) + "_" + std::to_string(at[1]), 1e9);
      hosts.at(at[1]) = host;
      return std::pair<simgrid::kernel::routing::NetPoint*, simgrid::kernel::routing::NetPoint*>(host->get_netpoint(),
                                                                                                 nullptr);
    };
    auto* const zone = sg::create_fatTree_zone(
        "tree" + std::to_string(key), root, {3, {half, half, 2 * half}, {1, half, half}, {1, 1, 1}},
        sg::ClusterCallbacks(make), kBytesPerSecond, latency, sg::Link::SharingPolicy::SPLITDUPLEX);
    zone->seal();
  }

  std::unique_ptr<sg::Engine> engine_;
  std::map<unsigned, std::vector<sg::Host*>> hosts_;
};

Topology fat_tree(unsigned ports, SimTime alpha) {
  return support::shape("fat_tree(" + std::to_string(ports) + ")", {alpha}, {gigabytes_per_second(50)});
}

std::vector<sg::Link*> route_there(unsigned ports, std::size_t from, std::size_t to) {
  std::vector<sg::Link*> links;
  double latency = 0;
  Platform::instance().host(ports, from)->route_to(Platform::instance().host(ports, to), links, &latency);
  return links;
}

TEST(SimGrid, HasTheRoutesAndLoadsOfDirectOnFatTrees) {
  for (const unsigned ports : Platform::kPorts) {
    const Topology topology = fat_tree(ports, microseconds(1));
    const auto npus = static_cast<std::int64_t>(topology.npus());
    const auto collective = support::collective(CollectiveKind::all_to_all, topology.npus(), bytes(npus * kMessage));
    SimulationOptions options;
    options.record_links = true;
    const auto direct =
        simulate(topology, collective, *support::program_of("direct", topology, collective), options).value();
    Router router(topology);
    std::map<sg::Link*, LinkId> here;
    std::map<LinkId, sg::Link*> there;
    std::map<sg::Link*, std::int64_t> routes_over;
    for (std::size_t from = 0; from < topology.npus(); ++from)
      for (std::size_t to = 0; to < topology.npus(); ++to) {
        if (from == to) continue;
        const auto theirs = route_there(ports, from, to);
        const auto ours = router.route(NpuId::at(from), NpuId::at(to));
        ASSERT_EQ(theirs.size(), ours.size()) << from << " to " << to;
        for (std::size_t i = 0; i < ours.size(); ++i) {
          EXPECT_EQ(here.try_emplace(theirs[i], ours[i]).first->second, ours[i]) << from << " to " << to;
          EXPECT_EQ(there.try_emplace(ours[i], theirs[i]).first->second, theirs[i]) << from << " to " << to;
          ++routes_over[theirs[i]];
        }
      }
    EXPECT_EQ(here.size(), topology.links());
    for (const auto& [link, routes] : routes_over)
      EXPECT_EQ(direct.links[here.at(link).index()].bytes, bytes(routes * kMessage)) << link->get_cname();
  }
}

/// Runs flows of kMessage bytes and returns when each ends, in seconds from their start.
std::vector<double> play(const std::vector<std::pair<sg::Host*, sg::Host*>>& flows) {
  std::vector<double> ends(flows.size(), 0);
  const double start = sg::Engine::get_clock();
  for (std::size_t i = 0; i < flows.size(); ++i)
    sg::Actor::create("flow" + std::to_string(i), flows[i].first, [&ends, &flows, i, start] {
      sg::Comm::sendto(flows[i].first, flows[i].second, static_cast<std::uint64_t>(kMessage));
      ends[i] = sg::Engine::get_clock() - start;
    });
  Platform::instance().engine().run();
  return ends;
}

constexpr double kDoubleError = 1e-12;  // seconds: SimGrid counts in doubles, of times up to a second

TEST(SimGrid, TimesAFlowAlone) {
  const Topology topology = fat_tree(4, microseconds(1));
  for (const std::size_t to : {1U, 2U, 5U}) {  // 2, 4 and 6 links
    auto& platform = Platform::instance();
    const double theirs = play({{platform.host(4, 0), platform.host(4, to)}}).front();
    Router router(topology);
    const auto links = static_cast<double>(router.route(NpuId(0), NpuId::at(to)).size());
    // Each of two NPUs sends half of its buffer to the other; the two directions share no link.
    const auto collective = support::collective(CollectiveKind::all_to_all, topology.npus(), bytes(2 * kMessage), 1,
                                                "0," + std::to_string(to));
    const auto program = support::program_of("direct", topology, collective);
    SimulationOptions unaware;
    unaware.backend = Backend::congestion_unaware;
    const auto fluid = simulate(topology, collective, *program, unaware).value();
    const auto stored = simulate(topology, collective, *program, {}).value();
    const double bytes_time = kMessage / kBytesPerSecond;
    EXPECT_NEAR(theirs, links * kLatency + bytes_time, kDoubleError);
    EXPECT_NEAR(static_cast<double>(fluid.finish.count()) * 1e-12, theirs, kDoubleError) << to;
    EXPECT_NEAR(static_cast<double>(stored.finish.count()) * 1e-12, theirs + (links - 1) * bytes_time, kDoubleError);
  }
}

TEST(SimGrid, TimesDirectAsAFluid) {
  const Topology topology = fat_tree(4, SimTime::zero());
  std::vector<std::pair<sg::Host*, sg::Host*>> flows;
  for (std::size_t from = 0; from < 16; ++from)
    for (std::size_t to = 0; to < 16; ++to)
      if (from != to)
        flows.emplace_back(Platform::instance().host(Platform::kWithoutLatency, from),
                           Platform::instance().host(Platform::kWithoutLatency, to));
  const auto ends = play(flows);
  const double last = *std::max_element(ends.begin(), ends.end());
  const double message = kMessage / kBytesPerSecond;
  EXPECT_NEAR(last, 15 * message, 1e-9);
  const auto collective = support::collective(CollectiveKind::all_to_all, 16, bytes(16 * kMessage));
  const auto direct = simulate(topology, collective, *support::program_of("direct", topology, collective), {}).value();
  EXPECT_NEAR(static_cast<double>(direct.finish.count()) * 1e-12, last + 5 * message, 1e-9);
}

}  // namespace
}  // namespace tenex
