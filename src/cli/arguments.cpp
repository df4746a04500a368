// The commands' options, through CLI11 (its one translation unit).
#include "arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/version.hpp"
#include "tenex/cli/cli.hpp"

namespace tenex::cli {
namespace {

// The study's keys that a one-shot command takes, each with what --help says of it.
struct Option {
  const char* key;
  const char* flags;
  const char* help;
};

constexpr Option point_options[] = {
    {"topology", "--topology", "shape such as mesh(10,10) or RI(4)_FC(8)_SW(8), or a machine file (.toml)"},
    {"alpha", "--alpha", "latency of a link, with unit; comma list for one per dimension"},
    {"bandwidth", "--bandwidth", "bandwidth of a link, with unit; comma list for one per dimension"},
    {"npu_bandwidth", "--npu-bandwidth,--npu_bandwidth", "bandwidth per NPU and dimension instead of per link"},
    {"unwind", "--unwind", "degree to which switches are unwound (synthesizers: 1 unless given)"},
    {"without", "--without", "pairs of vertices whose links are removed, such as [[3,4],[7,8]]"},
    {"collective", "--collective", "all_gather, reduce_scatter, all_reduce, broadcast, reduce or all_to_all"},
    {"size", "--size", "collective size S, with unit (nccl-tests' meaning)"},
    {"chunks", "--chunks", "chunks per NPU (broadcast, reduce: in all); default 1"},
    {"groups", "--groups", "process groups, such as 0-127;128-255; default all"},
    {"root", "--root", "rank of the root in its group (broadcast, reduce); default 0"},
    {"algorithm", "--algorithm,--synthesizer",
     "textbook algorithm, auto (the best of them) or synthesizer, see `tenex list`"},
    {"occupancy", "--occupancy", "serialization (default) or transfer"},
    {"overlap", "--overlap", "true (default) or false: may gathers begin as their reductions end"},
    {"backend", "--backend", "congestion_aware (default) or congestion_unaware"},
    {"attempts", "--attempts", "multi-start attempts of a synthesizer; default 1"},
    {"engine", "--engine", "auto (default), event_driven, exact, coarse or symmetric: how tacos synthesizes"},
    {"window", "--window", "direct: messages that an NPU has under way at once; default 0, all"},
    {"order", "--order", "relative (default) or absolute: in which order direct, hierarchical and themis take peers"},
    {"stragglers", "--stragglers", "slow links and NPUs, late starts: \"npu 3 x2; link 0-1 x1.5; npu 7 delay 5us\""},
    {"simulation_engine", "--simulation-engine,--simulation_engine",
     "auto (default), window, static_order, trains or orbit: how a program is simulated"},
    {"seed", "--seed", "seed of random choices; default 1"},
};

struct Parsed {
  RunArguments run;
  PlanArguments plan;
  MergeArguments merge;
  PointArguments point;
  ReplayArguments replay{{}, "timed", false, false};
  VerifyArguments verify;
  ListArguments list{"all"};
};

void add_memory(CLI::App* command, std::string& memory) {
  command->add_option("--memory", memory, "memory limit, with unit, such as 8GiB");
}

void add_run(CLI::App& app, Parsed& parsed) {
  auto* run = app.add_subcommand("run", "Run a study, or continue it, alone or under mpirun/srun");
  run->add_option("study", parsed.run.study, "the study, a TOML file")->required();
  run->add_option("--out", parsed.run.out, "the result folder; the merged file is DIR/study.h5")->required();
  run->add_option("--threads", parsed.run.threads, "threads per rank (default: OMP_NUM_THREADS or the cores allowed)")
      ->check(CLI::Range(1, 1024));
  add_memory(run, parsed.run.memory);
  run->add_flag("--extend", parsed.run.extend, "accept a folder of another study and keep the rows they share");
  run->add_flag("--retry-failed", parsed.run.retry_failed, "evaluate failed rows again");
  run->add_flag("--one-by-one", parsed.run.one_by_one,
                "one point at a time per rank, on all its threads: for times that nothing beside them disturbs");
  run->add_flag("--quiet", parsed.run.quiet, "no progress on stderr");
  run->footer("Example:\n  mpirun -n 2 --bind-to none tenex run experiments/quickstart/study.toml --out results/quick");

  auto* plan = app.add_subcommand("plan", "Say what a study would do: points, expected time and memory");
  plan->add_option("study", parsed.plan.study, "the study, a TOML file")->required();
  plan->add_flag("--points", parsed.plan.points, "list every point");
  plan->add_flag("--json", parsed.plan.json, "one JSON object on stdout");
  plan->footer("Example:\n  tenex plan experiments/quickstart/study.toml --points");

  auto* merge = app.add_subcommand("merge", "Merge the committed rows of a result folder into DIR/study.h5");
  merge->add_option("dir", parsed.merge.dir, "the result folder")->required();
  merge->footer("Example:\n  tenex merge results/quick");
}

void add_point_options(CLI::App* command, PointArguments& point) {
  for (const auto& option : point_options) {
    const std::string key = option.key;
    command->add_option_function<std::string>(
        option.flags, [&point, key](const std::string& text) { point.settings.emplace_back(key, text); }, option.help);
  }
}

void add_observations(CLI::App* command, PointArguments& point) {
  command
      ->add_option("--observe", point.observe,
                   "print also any of link_bytes, utilization, arrivals, group_times: --observe "
                   "utilization,link_bytes, or given again")
      ->delimiter(',')
      ->check(CLI::IsMember({"link_bytes", "utilization", "arrivals", "group_times"}));
  command->add_option("--bins", point.bins, "bins of time of the utilization; default 100")
      ->check(CLI::Range(1, 10'000));
}

void add_point_commands(CLI::App& app, Parsed& parsed) {
  const std::string machine = "--topology \"mesh(10,10)\" --alpha 0.5us --bandwidth 50GiB/s";

  auto* synthesize = app.add_subcommand("synthesize", "Synthesize one schedule, verify it, compare it with the bound");
  add_point_options(synthesize, parsed.point);
  synthesize->add_option("--threads", parsed.point.threads, "threads; never changes the result")
      ->check(CLI::Range(1, 1024));
  add_memory(synthesize, parsed.point.memory);
  synthesize->add_option("--out,--output", parsed.point.out, "write the schedule: .h5 or .json");
  synthesize->add_flag("--expanded", parsed.point.expanded, "write every send for other tools, however many they are");
  add_observations(synthesize, parsed.point);
  synthesize->add_flag("--json", parsed.point.json, "one JSON object on stdout");
  synthesize->footer("Example:\n  tenex synthesize " + machine +
                     "\n    --collective all_gather --size 1GiB --synthesizer tacos --occupancy transfer --out s.h5");

  auto* simulate = app.add_subcommand("simulate", "Simulate one textbook algorithm, or replay a schedule file");
  add_point_options(simulate, parsed.point);
  simulate->add_option("--schedule", parsed.replay.file, "replay this schedule file instead");
  simulate->add_option("--replay", parsed.replay.mode, "timed (default) or as_soon_as_possible")
      ->check(CLI::IsMember({"timed", "as_soon_as_possible"}));
  simulate->add_option("--threads", parsed.point.threads, "threads; never changes the result")
      ->check(CLI::Range(1, 1024));
  add_memory(simulate, parsed.point.memory);
  add_observations(simulate, parsed.point);
  simulate->add_flag("--time-only", parsed.point.time_only,
                     "the fastest engine, nothing recorded or verified: the time of large systems at once");
  simulate->add_option("--out,--output", parsed.point.out, "write the timed sends: .h5 or .json");
  simulate->add_flag("--json", parsed.point.json, "one JSON object on stdout");
  simulate->footer("Examples:\n  tenex simulate " + machine +
                   "\n    --collective all_reduce --size 1GiB --algorithm ring\n  tenex simulate --schedule s.h5");

  auto* bound = app.add_subcommand("bound", "Print every lower bound that applies to a point, and the Ideal of 001");
  add_point_options(bound, parsed.point);
  bound->add_flag("--json", parsed.point.json, "one JSON object on stdout");
  bound->footer("Example:\n  tenex bound " + machine + "\n    --collective all_gather --size 1GiB --chunks 2");
}

void add_others(CLI::App& app, Parsed& parsed) {
  auto* verify = app.add_subcommand("verify", "Replay a schedule file against the definition of validity");
  verify->add_option("file", parsed.verify.file, "a schedule file, .h5 or .json")->required();
  verify->add_option("--threads", parsed.verify.threads, "threads; never changes the verdict")
      ->check(CLI::Range(1, 1024));
  add_memory(verify, parsed.verify.memory);
  verify->add_flag("--json", parsed.verify.json, "one JSON object on stdout");
  verify->footer("Example:\n  tenex verify s.h5 --json");

  auto* list = app.add_subcommand("list", "List what studies may name");
  list->add_option("what", parsed.list.what,
                   "topologies, collectives, algorithms, synthesizers, bounds, columns or all")
      ->check(CLI::IsMember({"topologies", "collectives", "algorithms", "synthesizers", "bounds", "columns", "all"}));
  list->footer("Example:\n  tenex list algorithms");
}

// CLI11 would only say that a subcommand is missing. Returns true when the first word is no command.
bool complain_of_unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return false;
  std::vector<std::string_view> names;
  for (const auto* command : app.get_subcommands({})) names.emplace_back(command->get_name());
  const std::string_view word = argv[1];
  if (std::ranges::find(names, word) != names.end()) return false;
  const auto nearest = nearest_spelling(word, names);
  complain({input_error(
      {"tenex", 0, 0}, "unknown command \"" + std::string(word) + "\"", {},
      nearest.empty() ? "`tenex --help` lists the commands" : "did you mean \"" + std::string(nearest) + "\"?")});
  return true;
}

Arguments chosen(const CLI::App& app, Parsed& parsed) {
  const auto& name = app.get_subcommands().front()->get_name();
  if (name == "run") return parsed.run;
  if (name == "plan") return parsed.plan;
  if (name == "merge") return parsed.merge;
  if (name == "verify") return parsed.verify;
  if (name == "list") return parsed.list;
  if (name == "simulate" && !parsed.replay.file.empty()) {
    parsed.replay.json = parsed.point.json;
    parsed.replay.other_options = !parsed.point.settings.empty() || !parsed.point.out.empty() ||
                                  !parsed.point.observe.empty() || parsed.point.time_only;
    return parsed.replay;
  }
  using Command = PointArguments::Command;
  parsed.point.command = name == "synthesize" ? Command::synthesize
                         : name == "simulate" ? Command::simulate
                                              : Command::bound;
  return parsed.point;
}

}  // namespace

Arguments parse_arguments(int argc, char** argv) {
  CLI::App app{"tenex explores the design space of collective communication on machine-learning clusters."};
  app.name("tenex");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("tenex ") + std::string(version()) + " (" +
                                        std::string(git_revision()) + (git_dirty() ? ", modified)" : ")"));
  app.footer("Each command explains itself with an example: tenex COMMAND --help");
  Parsed parsed;
  add_run(app, parsed);
  add_point_commands(app, parsed);
  add_others(app, parsed);
  if (complain_of_unknown_command(app, argc, argv)) return Leave{static_cast<int>(ExitCode::bad_input)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
    app.exit(error);
    return Leave{asked ? 0 : static_cast<int>(ExitCode::bad_input)};
  }
  return chosen(app, parsed);
}

}  // namespace tenex::cli
