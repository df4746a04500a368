// The options of commands that take a point: a network, a collective and an algorithm, in the words of studies.
#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "command_options.hpp"
#include "option_checks.hpp"
#include "parsed.hpp"
#include "tenex/design/setting.hpp"

namespace tenex::cli {
namespace {

constexpr const char* kReplay = "Replay of a schedule";
/// Of examples.
const std::string kExample = "--topology \"mesh(10,10)\" --alpha 0.5us --bandwidth 50GiB/s";

void add_point_options(CLI::App* command, PointArguments& point) {
  add_options(command, ReadBy::collectives, point.settings);
}

void add_observations(CLI::App* command, PointArguments& point) {
  command
      ->add_option("--observe", point.observe.words,
                   "also print any of link_bytes, utilization, arrivals, group_times: --observe "
                   "utilization,link_bytes, or one option for each")
      ->delimiter(',')
      ->check(one_of("observation", {"link_bytes", "utilization", "arrivals", "group_times"}))
      ->group(kOutput);
  command->add_option("--bins", point.observe.bins, "bins of time of the utilization; default 100")
      ->check(between(1, 10'000))
      ->group(kOutput);
}

void add_schedule_output(CLI::App* command, PointArguments& point, const char* what) {
  command->add_option("--out,--output", point.out, what)->check(check_named)->group(kOutput);
  command
      ->add_option("--as", point.keep_as,
                   "what to write: list (every send) or recipe (how to make it again); default: a recipe above 2^24 "
                   "sends")
      ->check(one_of("way to write it", {"list", "recipe"}))
      ->group(kOutput);
}

void add_synthesize(CLI::App& app, Parsed& parsed) {
  auto* synthesize = app.add_subcommand("synthesize", "Synthesize one schedule, verify it, compare it with the bound");
  add_point_options(synthesize, parsed.point);
  add_threads(synthesize, parsed.point.threads, "threads; never changes the result");
  add_memory(synthesize, parsed.point.memory);
  add_schedule_output(synthesize, parsed.point, "write the schedule: .h5 or .json");
  add_observations(synthesize, parsed.point);
  synthesize
      ->add_flag("--progress", parsed.point.progress,
                 "the gap of a solver on stderr each second, also where stderr is no terminal")
      ->group(kOutput);
  add_json(synthesize, parsed.point.json);
  synthesize->footer("Example:\n  tenex synthesize " + kExample +
                     "\n    --collective all_gather --size 1GiB --algorithm tacos --occupancy transfer --out s.h5");
}

void add_simulate(CLI::App& app, Parsed& parsed) {
  auto* simulate = app.add_subcommand("simulate", "Simulate one textbook algorithm, or replay a schedule file");
  add_point_options(simulate, parsed.point);
  simulate
      ->add_option("--schedule", parsed.replay.file,
                   "replay this schedule file instead, or, on --topology, a schedule of another tool")
      ->group(kReplay);
  simulate->add_option("--replay", parsed.replay.mode, "timed (default) or as_soon_as_possible")
      ->check(one_of("replay", {"timed", "as_soon_as_possible"}))
      ->group(kReplay);
  simulate
      ->add_flag("--on-switches", parsed.replay.on_switches,
                 "play the schedule, made for unwound switches, on the switches of --topology")
      ->group(kReplay);
  add_threads(simulate, parsed.point.threads, "threads; never changes the result");
  add_memory(simulate, parsed.point.memory);
  add_observations(simulate, parsed.point);
  simulate->add_flag("--time-only", parsed.point.time_only,
                     "use the fastest engine, and record and verify nothing: for the time of large systems");
  add_schedule_output(simulate, parsed.point, "write the timed sends: .h5 or .json");
  add_json(simulate, parsed.point.json);
  simulate->footer(
      "Examples:\n  tenex simulate " + kExample +
      "\n    --collective all_reduce --size 1GiB --algorithm ring\n  tenex simulate --schedule s.h5"
      "\n  tenex simulate --schedule s.h5 --on-switches --topology \"SW(8)\" --alpha 0.5us --bandwidth 50GB/s");
}

void add_bound(CLI::App& app, Parsed& parsed) {
  auto* bound = app.add_subcommand("bound", "Print every lower bound that applies to a point, and TACOS' Ideal");
  add_point_options(bound, parsed.point);
  auto* exact = bound->add_flag(
      "--exact", parsed.point.exact,
      "the best strength of networks with plain switches, and the best flow, by linear programming (Clp)");
  bound
      ->add_option("--check", parsed.point.check,
                   "confirm the times and certificates of this file, which --json printed for the same point; exits "
                   "with 1 if one proves another time")
      ->check(check_named)
      ->excludes(exact);
  add_json(bound, parsed.point.json);
  bound->footer("Example:\n  tenex bound " + kExample +
                "\n    --collective all_gather --size 1GiB --chunks 2 --json > b.json\n  tenex bound " + kExample +
                "\n    --collective all_gather --size 1GiB --chunks 2 --check b.json");
}

void add_optimize(CLI::App& app, Parsed& parsed) {
  auto* optimize = app.add_subcommand(
      "optimize", "Split a network's bandwidth over its dimensions for a workload; or time a given split");
  add_options(optimize, ReadBy::training, parsed.optimize.settings);
  constexpr std::array<std::pair<const char*, const char*>, 4> kDegrees{{
      {"--tp", "degree of tensor parallelism; --tp, --dp, --pp and --ep together are another spelling of --hp"},
      {"--dp", "degree of data parallelism"},
      {"--pp", "pipeline stages"},
      {"--ep", "experts' parallelism, inside the data degree"},
  }};
  for (std::size_t i = 0; i < kDegrees.size(); ++i)
    optimize->add_option(kDegrees[i].first, parsed.optimize.degrees[i], kDegrees[i].second)
        ->check(between(1, std::int64_t{1} << 31))
        ->group("Parallelization");
  optimize->get_option("--scheme")
      ->description("perf_opt, perf_per_cost, equal or given (default where links are given, else perf_opt)");
  optimize
      ->add_option(
          "--constraint,--constraints", parsed.optimize.constraints,
          "a linear constraint on the bandwidths, such as \"B1 >= B2 >= B3\" or \"25GB/s <= B3 <= 150GB/s\"; may "
          "be given again")
      ->allow_extra_args(false);
  optimize
      ->add_option("--npus", parsed.optimize.npus,
                   "search the parallelization of so many NPUs: hp, its order, ZeRO, recomputation, sequence "
                   "parallelism, microbatches and schedule, as far as they are not given")
      ->check(between(1, std::int64_t{1} << 24))
      ->group("Parallelization");
  optimize->add_option("--most", parsed.optimize.most, "with --npus: the number of answers (10)")
      ->check(between(1, 100'000))
      ->group("Parallelization");
  add_threads(optimize, parsed.optimize.threads, "threads; never changes the result");
  add_memory(optimize, parsed.optimize.memory);
  add_json(optimize, parsed.optimize.json);
  optimize->footer(
      "Example:\n  tenex optimize --workload gpt3 --topology \"RI(4)_FC(8)_RI(4)_SW(32)\" --hp 16,256"
      "\n    --total-bandwidth 1000GB/s --scheme perf_opt --compute 234TFLOPS --constraint \"B4 <= 100GB/s\"");
}

}  // namespace

void add_point_commands(CLI::App& app, Parsed& parsed) {
  add_synthesize(app, parsed);
  add_simulate(app, parsed);
  add_bound(app, parsed);
  add_optimize(app, parsed);
}

}  // namespace tenex::cli
