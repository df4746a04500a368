// The main kernels, each on one case that takes about a tenth of a second on one thread, so that callgrind can count
// its instructions in seconds.
//
//   kernel_counts            lists the kernels
//   kernel_counts KERNEL     runs one; callgrind sees the kernel alone, not what prepares its case
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else  // the program still runs; nobody counts
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#endif

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmark/cases.hpp"
#include "benchmark/splits.hpp"
#include "evaluate/joint_streams.hpp"
#include "evaluate/training_points.hpp"
#include "store/rows.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/simulation/simulator.hpp"

namespace tenex::benchmarks {
namespace {

using support::Words;
using enum CollectiveKind;

/// What is counted: it gives a number that follows from its result, which is printed, so that nothing is left out by
/// the compiler and a changed result is seen beside its count.
using Kernel = std::function<std::uint64_t()>;

constexpr auto kTransfer = Occupancy::transfer;

std::uint64_t number(SimTime time) { return static_cast<std::uint64_t>(time.count()); }

Synthesis synthesize_by(const Case& given, std::string_view engine) {
  return find_synthesizer("tacos")
      ->synthesize({given.topology, given.collective, kTransfer, {1, 1, std::string(engine)}})
      .value();
}

Kernel synthesis(std::string_view engine, std::string_view shape, CollectiveKind kind) {
  return [given = make_case(shape, kind), engine] { return number(synthesize_by(given, engine).time); };
}

/// An All-Reduce before it is re-timed.
Kernel retiming(std::string_view engine, std::string_view shape) {
  auto given = make_case(shape, all_reduce);
  const auto plan = synthesize_by(given, engine).without_overlap;
  return [given = std::move(given), plan] {
    return retime({given.topology, given.collective, kTransfer}, plan).sends();
  };
}

Kernel verification(std::string_view engine, std::string_view shape, CollectiveKind kind) {
  auto given = make_case(shape, kind);
  const auto plan = synthesize_by(given, engine).schedule;
  return [given = std::move(given), plan, engine] {
    const auto verdict = engine == "symmetric" ? verify_symmetric({given.topology, given.collective, kTransfer}, plan)
                                               : verify({given.topology, given.collective, kTransfer}, plan);
    return verdict.valid() ? number(verdict.collective_time) : 0;
  };
}

Kernel simulation(SimulationEngine engine, std::string_view shape, std::string_view algorithm, CollectiveKind kind) {
  const auto topology = std::make_shared<Topology>(support::shape(shape));
  const auto npus = topology->npus();
  const auto collective =
      std::make_shared<Collective>(support::collective(kind, npus, mebibytes(static_cast<std::int64_t>(npus)), 1));
  const auto program = find_algorithm(algorithm)->make(*topology, *collective, {}).value();
  return [topology, collective, program, engine] {
    SimulationOptions options;
    options.engine = engine;
    options.record_npu_finish = true;
    return number(simulate(*topology, *collective, *program, options).value().finish);
  };
}

Kernel replay_of(std::string_view shape, Replay mode) {
  auto given = make_case(shape);
  const auto plan = synthesize_by(given, "event_driven").schedule;
  return [given = std::move(given), plan, mode] {
    SimulationOptions options;
    options.occupancy = kTransfer;
    options.record_npu_finish = true;
    return number(replay(given.topology, given.collective, plan, mode, options).value().finish);
  };
}

/// Four All-Reduces beside four others that begin later.
Kernel joint_replay(const std::string& shape) {
  const auto one = support::part_of({{"topology", shape},
                                     {"size", "1MB"},
                                     {"chunks", "4"},
                                     {"collective", "all_reduce"},
                                     {"algorithm", "tacos"},
                                     {"engine", "event_driven"}});
  return [one = *one] {
    const JointStream first{SimTime::zero(), std::vector(4, one.part)};
    const JointStream second{microseconds(1), std::vector(4, one.part)};
    const auto made = replay_jointly(one.topology, Occupancy::serialization, first, second, std::size_t{1} << 32);
    return number(made->ends[0]) + number(made->ends[1]);
  };
}

/// A point evaluated with an empty cache.
Kernel training(const Words& words) {
  return [point = make_point(words, vocabulary()).value()] {
    Cache cache;
    return static_cast<std::uint64_t>(evaluate(point, cache, {}).row.training_time_ps);
  };
}

Kernel splits(SplitScheme scheme, int overlaps) {
  return [scheme, rates = libra_rates(), models = random_models(overlaps)] {
    auto rows = rows_of(parse_constraint("total = 1000GB/s").value(), kDimensions, &rates).value();
    std::uint64_t steps = 0;
    for (const auto& model : models)
      steps += static_cast<std::uint64_t>(
          split_bandwidth(scheme, model, *make_region(kDimensions, rows), &rates)->newton_steps);
    return steps;
  };
}

Kernel enumeration(const std::string& study) {
  const auto path = std::string(TENEX_SOURCE_DIR "/experiments/") + study;
  return [text = support::read_text(path), path, words = vocabulary()] {
    return static_cast<std::uint64_t>(parse_study(text, path, words).value().points.size());
  };
}

Kernel merging(std::size_t rows) {
  const auto folder = std::make_shared<support::TemporaryFolder>();
  const auto study = test::study_of(rows);
  const auto opened = ResultFolder::open(folder->path(), study, {});
  auto writer = ShardWriter::open(folder->path(), study, opened.value().state().incarnation, 0).value();
  test::add_rows(writer, 0, rows);
  (void)writer.flush().value();
  return [folder, study] { return static_cast<std::uint64_t>(merge(folder->path(), study).value().rows); };
}

Kernel bounding(std::string_view shape) {
  return [given = make_case(shape, all_reduce)] {
    return number(best_cheap_bound({given.topology, given.collective, kTransfer, true}).time);
  };
}

const std::vector<std::pair<std::string_view, Kernel (*)()>>& kernels() {
  using enum SimulationEngine;
  static const std::vector<std::pair<std::string_view, Kernel (*)()>> all{
      {"tacos_event_driven", [] { return synthesis("event_driven", "mesh(24,24)", all_gather); }},
      {"tacos_event_driven_switch", [] { return synthesis("event_driven", "RI(4)_FC(8)_SW(8)", all_gather); }},
      {"tacos_exact", [] { return synthesis("exact", "mesh(48,48)", all_gather); }},
      {"tacos_exact_all_reduce", [] { return synthesis("exact", "mesh(32,32)", all_reduce); }},
      {"tacos_coarse", [] { return synthesis("coarse", "mesh(80,80)", all_gather); }},
      {"tacos_symmetric", [] { return synthesis("symmetric", "torus(80,80,80)", all_gather); }},
      {"retime", [] { return retiming("event_driven", "mesh(16,16)"); }},
      {"verify_gather", [] { return verification("exact", "mesh(48,48)", all_gather); }},
      {"verify_all_reduce", [] { return verification("exact", "mesh(36,36)", all_reduce); }},
      {"verify_symmetric", [] { return verification("symmetric", "torus(64,64,64)", all_reduce); }},
      {"simulate_window", [] { return simulation(window, "torus(8,8,8)", "direct", all_reduce); }},
      {"simulate_trains", [] { return simulation(trains, "RI(1024)", "direct", all_gather); }},
      {"simulate_orbit", [] { return simulation(orbit, "torus(32,32,32)", "direct", all_gather); }},
      {"simulate_static_order",
       [] { return simulation(static_order, "RI(40000)", "ring_unidirectional", all_reduce); }},
      {"replay_timed", [] { return replay_of("mesh(24,24)", Replay::timed); }},
      {"replay_as_soon_as_possible", [] { return replay_of("mesh(24,24)", Replay::as_soon_as_possible); }},
      {"joint_replay", [] { return joint_replay("torus(4,4,4)"); }},
      {"train_with_libra",
       [] {
         return training({{"workload", "resnet50_per_layer"},
                          {"topology", "RI(4)_FC(8)_RI(4)_SW(32)"},
                          {"hp", "1,4096"},
                          {"scheme", "perf_opt"},
                          {"total_bandwidth", "1000GB/s"}});
       }},
      {"train_with_contention",
       [] {
         return training({{"workload", "gpt3"},
                          {"topology", "RI(8)_RI(4)_FC(4)"},
                          {"alpha", "500ns"},
                          {"npu_bandwidth", "100GB/s"},
                          {"hp", "8,16"},
                          {"chunks", "2"},
                          {"algorithm", "tacos"},
                          {"collective_time", "synthesized"},
                          {"training_loop", "tp_dp_overlap"},
                          {"contention", "links"}});
       }},
      {"split_perf_opt", [] { return splits(SplitScheme::perf_opt, 0); }},
      {"split_perf_opt_overlap", [] { return splits(SplitScheme::perf_opt, 2); }},
      {"split_perf_per_cost", [] { return splits(SplitScheme::perf_per_cost, 0); }},
      {"enumerate", [] { return enumeration("hp_at_scale/study.toml"); }},
      {"merge", [] { return merging(2000); }},
      {"bound", [] { return bounding("mesh(100,100)"); }},
  };
  return all;
}

}  // namespace
}  // namespace tenex::benchmarks

int main(int argc, char** argv) {
  for (const auto& [name, prepare] : tenex::benchmarks::kernels()) {
    if (argc < 2) std::printf("%.*s\n", static_cast<int>(name.size()), name.data());
    if (argc < 2 || name != argv[1]) continue;
    const auto kernel = prepare();
    CALLGRIND_START_INSTRUMENTATION;
    const auto result = kernel();
    CALLGRIND_STOP_INSTRUMENTATION;
    std::printf("%llu\n", static_cast<unsigned long long>(result));
    return 0;
  }
  if (argc < 2) return 0;
  std::fprintf(stderr, "%s: no such kernel (kernel_counts lists them)\n", argv[1]);
  return 2;
}
