// What replays and re-timings take per send on one thread. Of a joint replay, two streams on the same links: planned
// bytes too. (Replays of large schedules: simulation_benchmark.cpp.)
//
// Counters: sends (of both streams), ns_per_send (user time), bytes_per_send (joint_replay_bytes()), found_ns_per_send
// (the check for shared links, find_shared_link()).
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "benchmark/cases.hpp"
#include "evaluate/joint_streams.hpp"
#include "tenex/schedule/timing/retime.hpp"

namespace tenex::benchmarks {
namespace {

using support::Words;

struct ReplayCase {
  std::string name;
  std::string shape;
  std::array<std::string, 2> collectives;
  std::array<std::string, 2> algorithms;
  std::array<std::string, 2> groups = {"all", "all"};
  std::string alpha = "500ns";
};

/// "0-31; 32-63; ...": the rows of a network.
std::string rows(std::size_t count, std::size_t length) {
  std::string groups;
  for (std::size_t row = 0; row < count; ++row)
    groups += (row == 0 ? "" : "; ") + std::to_string(row * length) + "-" + std::to_string((row + 1) * length - 1);
  return groups;
}

std::vector<ReplayCase> replay_cases() {
  return {
      {"smoke/tacos_torus_16", "torus(4,4)", {"all_gather", "reduce_scatter"}, {"tacos", "tacos"}},
      {"tacos_torus_256", "torus(16,16)", {"all_gather", "reduce_scatter"}, {"tacos", "tacos"}},
      {"tacos_all_reduce_mesh_256", "mesh(16,16)", {"all_reduce", "all_reduce"}, {"tacos", "tacos"}},
      {"tacos_torus_1024", "torus(32,32)", {"all_gather", "reduce_scatter"}, {"tacos", "tacos"}},
      {"ring_all_reduce_512", "RI(512)", {"all_reduce", "all_gather"}, {"ring", "ring"}},
      {"direct_fc_512", "FC(512)", {"all_gather", "reduce_scatter"}, {"direct", "direct"}},
      {"messages_direct_torus_256", "torus(16,16)", {"all_gather", "all_gather"}, {"direct", "tacos"}},
      {"payloads_hierarchical_256", "RI(16)_RI(16)", {"all_reduce", "all_gather"}, {"hierarchical", "tacos"}},
      {"rows_and_blocks_1024",
       "torus(32,32)",
       {"all_reduce", "all_gather"},
       {"tacos", "tacos"},
       {rows(32, 32), rows(8, 128)}},
      {"all_to_all_torus_256", "torus(16,16)", {"all_to_all", "all_gather"}, {"direct", "tacos"}},
  };
}

support::PartOfPoint part_of(const ReplayCase& given, std::size_t stream) {
  auto part = support::part_of(Words{{"topology", given.shape},
                                     {"collective", given.collectives.at(stream)},
                                     {"algorithm", given.algorithms.at(stream)},
                                     {"groups", given.groups.at(stream)},
                                     {"alpha", given.alpha},
                                     {"bandwidth", "50GB/s"},
                                     {"size", "64MB"}});
  if (!part) throw std::runtime_error(given.name + ": no schedule");
  return *std::move(part);
}

void replay(benchmark::State& state, const ReplayCase& given) {
  const auto one = part_of(given, 0);
  const auto two = part_of(given, 1);
  const JointStream first{SimTime::zero(), {one.part}};
  const JointStream second{nanoseconds(1234), {two.part}};
  const auto sends = static_cast<double>(one.part.schedule.sends() + two.part.schedule.sends());
  const auto bytes = joint_replay_bytes(one.topology, first, second);
  double replayed = 0;
  double searched = 0;
  for (auto _ : state) {
    const auto begin = user_seconds();
    const auto made = replay_jointly(one.topology, Occupancy::serialization, first, second, SIZE_MAX);
    const auto middle = user_seconds();
    if (!made) return state.SkipWithError(to_string(made.errors()).c_str());
    const std::vector<JointPart> parts{one.part, two.part};
    const std::vector<PlayedPart> played{made->first[0], made->second[0]};
    if (find_shared_link(one.topology, Occupancy::serialization, parts, played))
      state.SkipWithError("a link is shared");
    replayed += middle - begin;
    searched += user_seconds() - middle;
  }
  const auto all = sends * static_cast<double>(state.iterations());
  state.counters["sends"] = sends;
  state.counters["ns_per_send"] = 1e9 * replayed / all;
  state.counters["found_ns_per_send"] = 1e9 * searched / all;
  state.counters["bytes_per_send"] = static_cast<double>(bytes) / sends;
}

void count(benchmark::State& state, const Schedule& schedule, double seconds) {
  const auto sends = static_cast<double>(schedule.sends());
  state.counters["sends"] = sends;
  state.counters["ns_per_send"] = 1e9 * seconds / (sends * static_cast<double>(state.iterations()));
}

/// Re-timing by lists of an All-Reduce of a program: with switches or messages by the general rules.
void retime_list(benchmark::State& state, const std::string& shape, const std::string& algorithm) {
  const auto given = support::part_of(Words{{"topology", shape},
                                            {"collective", "all_reduce"},
                                            {"algorithm", algorithm},
                                            {"alpha", "500ns"},
                                            {"bandwidth", "50GB/s"},
                                            {"size", "64MB"}});
  const auto& [collective, schedule, pause] = given->part;
  const auto begin = user_seconds();
  for (auto _ : state)
    benchmark::DoNotOptimize(retime({given->topology, *collective, Occupancy::serialization}, schedule).sends());
  count(state, schedule, user_seconds() - begin);
}

/// Re-timing of what the exact engine makes: a Reduce-Scatter, then an All-Gather.
void retime_halves(benchmark::State& state, const std::string& shape) {
  const auto given = make_case(shape, CollectiveKind::all_reduce);
  const auto plan = find_synthesizer("tacos")
                        ->synthesize({given.topology, given.collective, Occupancy::transfer, {1, 1, "exact"}})
                        .value()
                        .without_overlap;
  const auto begin = user_seconds();
  for (auto _ : state)
    benchmark::DoNotOptimize(retime({given.topology, given.collective, Occupancy::transfer}, plan).sends());
  count(state, plan, user_seconds() - begin);
}

void add_cases() {
  for (const auto& given : replay_cases())
    benchmark::RegisterBenchmark(given.name.c_str(), replay, given)->Unit(benchmark::kMillisecond);
  const auto add = [](const std::string& name, auto run, const auto&... given) {
    benchmark::RegisterBenchmark(name.c_str(), run, given...)->Unit(benchmark::kMillisecond);
  };
  using std::string_literals::operator""s;
  add("smoke/retime_torus_4x4", retime_list, "torus(4,4)"s, "tacos"s);
  add("retime_torus_16x16", retime_list, "torus(16,16)"s, "tacos"s);
  add("retime_messages_torus_8x8", retime_list, "torus(8,8)"s, "direct"s);
  add("retime_switch_64", retime_list, "SW(64)"s, "direct"s);
  add("smoke/retime_halves_mesh_6x6", retime_halves, "mesh(6,6)"s);
  add("retime_halves_mesh_48x48", retime_halves, "mesh(48,48)"s);
}

}  // namespace
}  // namespace tenex::benchmarks

int main(int argc, char** argv) {
  tenex::benchmarks::add_cases();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
