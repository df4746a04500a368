// The commands' options, and their table for pages and completions. Only this file uses CLI11.
#include "arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command_table.hpp"
#include "commands.hpp"
#include "option_checks.hpp"
#include "option_words.hpp"
#include "parsed.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/units.hpp"
#include "tenex/base/words.hpp"
#include "tenex/cli/cli.hpp"
#include "tenex/design/setting.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/exchange/schedule_export.hpp"
#include "tenex/exchange/tuner_table.hpp"
#include "tenex/measure/fit.hpp"
#include "tenex/pages/view.hpp"
#include "tenex/store/rank_log.hpp"
#include "tenex/store/slice.hpp"

namespace tenex::cli {
namespace {

/// One of these words, which the table of commands reads from the description; `noun` says what they name.
CLI::Validator one_of(const char* noun, const std::vector<std::string>& words) {
  return {one_of_words(noun, words), "{" + CLI::detail::join(words, ",") + "}"};
}

CLI::Validator between(std::int64_t least, std::int64_t most) { return {whole_number(least, most), ""}; }

constexpr std::int64_t kMostThreads = 1024;

/// The help's groups of options, beside those of keys.
constexpr const char* kResources = "Threads and memory";
constexpr const char* kOutput = "Output";
constexpr const char* kRun = "Run";
constexpr const char* kReplay = "Replay of a schedule";

void add_threads(CLI::App* command, int& threads, const char* what) {
  command->add_option("--threads", threads, what)->check(between(1, kMostThreads))->group(kResources);
}

void add_json(CLI::App* command, bool& json, const char* what = "one JSON object on stdout") {
  command->add_flag("--json", json, what)->group(kOutput);
}

void add_memory(CLI::App* command, std::string& memory) {
  command->add_option("--memory", memory, "memory limit, with unit, such as 8GiB")->group(kResources);
}

void add_run(CLI::App& app, Parsed& parsed) {
  auto* run = app.add_subcommand("run", "Run a study, or continue it, alone or under mpirun/srun");
  run->add_option("study", parsed.run.study, "the study, a TOML file")->required();
  run->add_option("--out", parsed.run.out, "the result folder; the merged file is DIR/study.h5")->required();
  add_threads(run, parsed.run.threads, "threads per rank (default: OMP_NUM_THREADS or the cores allowed)");
  add_memory(run, parsed.run.memory);
  run->add_flag("--extend", parsed.run.extend, "accept a folder of another study and keep the rows they share")
      ->group(kRun);
  run->add_flag("--retry-failed", parsed.run.retry_failed, "evaluate failed rows again")->group(kRun);
  run->add_flag("--one-by-one", parsed.run.one_by_one,
                "one point at a time per rank, on all its threads, so that measured times are undisturbed")
      ->group(kRun);
  run->add_option("--slice", parsed.run.slice, "I/N: only the I-th of N parts of the study; `tenex merge` joins them")
      ->check(as_parsed([](const std::string& text) { return parse_slice(text); }))
      ->group(kRun);
  run->add_option("--time-limit", parsed.run.time_limit,
                  "with unit, such as 3600s: begin no point that is not expected to end within it (default: what Slurm "
                  "says); the same command continues")
      ->check(as_parsed([](const std::string& text) { return parse_time(text); }))
      ->group(kRun);
  run->add_option("--silence", parsed.run.silence,
                  "with unit: a rank that sends nothing for this long counts as dead, and others get its points (60s)")
      ->check(check_silence)
      ->group(kRun);
  run->add_flag("--quiet", parsed.run.quiet, "no progress on stderr")->group(kOutput);
  run->add_option("--log-level", parsed.run.log_level,
                  "off (default), warning, info (leases, commits, ranks) or debug (every point too): what each rank "
                  "writes to DIR/logs")
      ->check(as_parsed([](const std::string& text) { return parse_log_level(text); }))
      ->group(kOutput);
  run->footer("Example:\n  mpirun -n 2 --bind-to none tenex run experiments/quickstart/study.toml --out results/quick");

  auto* plan = app.add_subcommand("plan", "Say what a study would do: points, expected time and memory");
  plan->add_option("study", parsed.plan.study, "the study, a TOML file")->required();
  plan->add_flag("--points", parsed.plan.points, "list every point");
  add_json(plan, parsed.plan.json);
  plan->add_option_function<std::string>(
          "--sbatch", [&parsed](const std::string& file) { parsed.plan.sbatch = file; },
          "write a Slurm job that holds the study, with ranks, threads, memory and time by the estimate; to stdout "
          "without a name")
      ->expected(0, 1)
      ->check([](const std::string& text) {
        return text.ends_with(".toml") ? "this names a study: it would be overwritten" : std::string();
      });
  plan->add_flag("--submit", parsed.plan.submit, "submit this job (sbatch on PATH); --sbatch FILE keeps it, too");
  plan->add_option("--ranks", parsed.plan.ranks,
                   "of the run (default: 1 on this machine; in the sbatch file as the estimate needs)")
      ->check(between(1, 65'536))
      ->group(kResources);
  add_threads(plan, parsed.plan.threads,
              "per rank (default: the cores of this machine; in the sbatch file as the estimate needs)");
  add_memory(plan, parsed.plan.memory);
  plan->footer(
      "Examples:\n  tenex plan experiments/quickstart/study.toml --points\n"
      "  tenex plan experiments/quickstart/study.toml --sbatch quick.sbatch");
}

void add_folder_commands(CLI::App& app, Parsed& parsed) {
  auto* merge =
      app.add_subcommand("merge", "Merge the committed rows of a result folder into DIR/study.h5, or several folders");
  merge
      ->add_option("dirs", parsed.merge.dirs,
                   "the result folder, or several of one study, such as its slices; or folders and files of several "
                   "studies, with --out FILE.h5")
      ->required();
  merge
      ->add_option("--out", parsed.merge.out,
                   "a folder: gather the rows of all folders in it first; a file, FILE.h5: the results of several "
                   "studies in one")
      ->check(check_named);
  merge->footer(
      "Examples:\n  tenex merge results/quick\n  tenex merge results/big/slice-* --out results/big\n"
      "  tenex merge results/mesh results/torus --out results/both.h5");

  auto* status = app.add_subcommand("status", "Show the state of a result folder, during a run or afterwards");
  status->add_option("dirs", parsed.status.dirs, "the result folder, or several, such as the slices of a study")
      ->required();
  add_json(status, parsed.status.json, "one JSON object on stdout, on a line of its own for each folder");
  status->footer("Examples:\n  tenex status results/quick\n  tenex status results/big/slice-*");

  auto* replay = app.add_subcommand("replay", "Evaluate one row of a result folder again and compare");
  replay->add_option("dir", parsed.row_replay.dir, "the result folder")->required();
  replay->add_option("key", parsed.row_replay.key, "the point's key, or its first digits")
      ->required()
      ->check(check_key);
  add_threads(replay, parsed.row_replay.threads, "threads; never changes the result");
  add_memory(replay, parsed.row_replay.memory);
  add_json(replay, parsed.row_replay.json);
  replay->footer("Example:\n  tenex replay results/quick 3f2a91");
}

void add_show(CLI::App& app, Parsed& parsed) {
  constexpr const char* kRows = "Rows of a result";
  constexpr const char* kSends = "Sends of a schedule file";
  auto& show = parsed.show;
  auto* command =
      app.add_subcommand("show", "Print a table of results, why one row is as it is, or a schedule's sends");
  command->add_option("dir", show.dir, "the result folder, or a result or schedule file (.h5)")->required();
  command->add_option("key", show.key, "the point's key, or its first digits: explain this row")->check(check_key);
  command
      ->add_option("--where", show.where,
                   "a condition on columns, such as \"size >= 1MiB and algorithm != ring\" (analysis/conditions.md)")
      ->group(kRows);
  command->add_option("--sort", show.sort, "a column, such as collective_time or topology")->group(kRows);
  command->add_flag("--descending", show.descending, "sort from the largest")->group(kRows);
  auto* by = command->add_option("--group-by", show.group_by, "a column: a table for each of its values")->group(kRows);
  command->add_option("--crossover", show.crossover, "a setting: which value is the fastest from which size on")
      ->excludes(by)
      ->group(kRows);
  command
      ->add_option("--over", show.over,
                   "a column such as faults: one line for all of its values, with the worst, the mean and which it is")
      ->group(kRows);
  command->add_option("--columns", show.columns, "columns, separated by commas (`tenex list columns`)")
      ->delimiter(',')
      ->group(kRows);
  command->add_option("--npu,--npus", show.npus, "only sends from or to these NPUs or switches, such as 0-7,12")
      ->group(kSends);
  command->add_option("--chunk,--chunks", show.chunks, "only sends that carry one of these chunks, such as 0-7,12")
      ->group(kSends);
  command->add_option("--at", show.at, "only sends on their way at this time, with unit")->group(kSends);
  add_threads(command, show.threads, "threads that make the schedule of a recipe; never change it");
  add_memory(command, show.memory);
  command->add_option("--limit", show.limit, "at most so many rows or sends")
      ->check(between(0, std::int64_t{1} << 62))
      ->group(kOutput);
  auto* csv = command->add_flag("--csv", show.csv, "comma-separated values, in integer SI units")->group(kOutput);
  command->add_flag("--json", show.json, "one JSON object on stdout, in integer SI units")
      ->excludes(csv)
      ->group(kOutput);
  command->footer(
      "Examples:\n  tenex show results/quick --where \"size = 1GiB\" --group-by topology --sort collective_time"
      "\n  tenex show results/quick 3f2a91\n  tenex show s.h5 --npu 3 --at 10us"
      "\nOn a terminal the output is shown page by page ($PAGER, as git does; PAGER=cat does not).");
}

using Settings = std::vector<std::pair<std::string, std::string>>;

// Adds options for the keys that points of this kind read, written as in a study.
// Without the key that the command has an option of its own for.
void add_options(CLI::App* command, ReadBy kind, Settings& settings, std::string_view own = {}) {
  for (const auto& setting : tenex::settings()) {
    if (setting.name == own) continue;
    if (setting.read_by != ReadBy::all && setting.read_by != kind) continue;
    if (setting.written == Written::texts) continue;  // it has its own option, which may be repeated
    const std::string key(setting.name);
    command
        ->add_option_function<std::string>(
            flags_of(setting), [&settings, key](const std::string& text) { settings.emplace_back(key, text); },
            help_of(setting))
        ->group(group_of(setting));
  }
}

void add_view(CLI::App& app, Parsed& parsed) {
  auto& view = parsed.view;
  auto* command = app.add_subcommand("view", "Draw a schedule or a network, as a page with a slider or as a picture");
  command->add_option("file", view.file, "a schedule file, .h5 or .json; without: the point of the options");
  add_options(command, ReadBy::collectives, view.settings);
  command->add_option("-o,--out,--output", view.out, "the page, one HTML file")->check(check_named)->group(kOutput);
  command->add_option("--svg", view.svg, "a still picture as SVG")->check(check_named)->group(kOutput);
  command->add_option("--png", view.png, "the same as PNG, drawn by Chromium")->check(check_named)->group(kOutput);
  command
      ->add_option("--picture", view.picture,
                   "of --svg and --png: network, gantt (default; links by time) or ten (edges of the time-expanded "
                   "network)")
      ->check(one_of("picture", {picture_names().begin(), picture_names().end()}))
      ->group(kOutput);
  add_threads(command, view.threads, "threads; never change the schedule");
  add_memory(command, view.memory);
  command->footer(
      "Examples:\n  tenex view s.h5 -o view.html\n  tenex view --topology \"mesh(4,4)\" --alpha 0.5us --bandwidth "
      "50GB/s\n    --collective all_gather --size 16MB -o view.html"
      "\n  tenex view --topology \"fat_tree(4)\" --alpha 0.5us --bandwidth 50GB/s --svg network.svg");
}

void add_report(CLI::App& app, Parsed& parsed) {
  auto& report = parsed.report;
  auto* command =
      app.add_subcommand("report", "Write a result as a page: curves, rankings, a table, each row explained");
  command->add_option("dir", report.dir, "the result folder, or a result file (.h5)")->required();
  command->add_option("-o,--out,--output", report.out, "the page, one HTML file")->required()->check(check_named);
  command->add_option("--where", report.where, "only rows with this condition on columns, as of `tenex show`");
  command->footer("Example:\n  tenex report results/quick -o report.html");
}

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

void add_point_commands(CLI::App& app, Parsed& parsed) {
  const std::string machine = "--topology \"mesh(10,10)\" --alpha 0.5us --bandwidth 50GiB/s";

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
  synthesize->footer("Example:\n  tenex synthesize " + machine +
                     "\n    --collective all_gather --size 1GiB --synthesizer tacos --occupancy transfer --out s.h5");

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
      "Examples:\n  tenex simulate " + machine +
      "\n    --collective all_reduce --size 1GiB --algorithm ring\n  tenex simulate --schedule s.h5"
      "\n  tenex simulate --schedule s.h5 --on-switches --topology \"SW(8)\" --alpha 0.5us --bandwidth 50GB/s");

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
  bound->footer("Example:\n  tenex bound " + machine +
                "\n    --collective all_gather --size 1GiB --chunks 2 --json > b.json\n  tenex bound " + machine +
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
      ->description("perf_opt (default), perf_per_cost, equal or given, see `tenex list schemes`");
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

void add_execute(CLI::App& app, Parsed& parsed) {
  auto& execute = parsed.execute;
  auto* command = app.add_subcommand(
      "execute", "Run a schedule on real buffers, an MPI rank for each NPU, and compare every element");
  command->add_option("file", execute.file, "a schedule file, .h5 or .json: a list or a recipe")->required();
  command->add_option("--type", execute.type, "of elements: " + CLI::detail::join(element_words(), ", ") + " (int32)")
      ->check(one_of("type", element_words()));
  command
      ->add_option("--elements", execute.elements,
                   "of a chunk (as the schedule's chunks have, within 64 MiB of a rank's data)")
      ->check(between(1, std::int64_t{1} << 30));
  command->add_option("--repeats", execute.repeats, "of which the median is told (5)")->check(between(1, 1 << 20));
  add_memory(command, execute.memory);
  add_json(command, execute.json);
  command->footer("Example:\n  mpirun -n 8 tenex execute s.h5");
}

void add_import(CLI::App& app, Parsed& parsed) {
  auto& import = parsed.import;
  auto* command = app.add_subcommand("import", "Make a machine file of another tool's topology");
  command->add_option("what", import.what, "machine")->required()->check(CLI::IsMember(import_words()));
  command
      ->add_option("file", import.file,
                   "topology XML of NCCL or RCCL, network.yml of ASTRA-sim, InfraGraph, or input of TE-CCL")
      ->required();
  command->add_option("-o,--out,--output", import.out, "the machine file (default: stdout)")->check(check_named);
  command->add_option("--name", import.options.name, "the machine's name (default: the file's)");
  command->add_option("--bandwidth", import.options.bandwidths,
                      "KIND=RATE for links of a kind, such as nvlink=25GB/s for one NVLink; RATE alone: for all kinds "
                      "whose bandwidth is missing");
  command->add_option("--alpha", import.options.alphas, "KIND=TIME likewise, such as nic=2us");
  command->add_option("--gpus", import.options.gpus, "bus ids of GPUs, where the file does not mark them")
      ->delimiter(',');
  command->add_option("--gpu-links", import.options.gpu_links, "what joins GPUs, where the file does not say it")
      ->check(CLI::IsMember({"switch", "all", "pcie"}));
  command->add_flag("--pcie", import.options.pcie, "keep the PCI tree also where faster links join all GPUs");
  command->add_option("--nodes", import.options.nodes, "boxes like that of the file (1)")
      ->check(CLI::Range(1, 1 << 16));
  command->add_option("--fabric", import.options.fabric,
                      "what joins the boxes: switch, rails, or a shape over all NICs such as leaf_spine(16,8,4)");
  command->add_option("--system", import.system, "the system file beside an ASTRA-sim network");
  command->footer("Example:\n  tenex import machine topo.xml --nodes 16 --fabric rails -o machine.toml");
}

/// What is said of logs of benchmarks.
void add_logs(CLI::App* command, LogArguments& logs) {
  command->add_option("log", logs.files, "text or JSON of nccl-tests or rccl-tests, or text of OSU's collectives")
      ->required();
  command->add_option("--collective", logs.collective, "of tables that do not name it, such as all_gather");
  command->add_option("--ranks", logs.ranks, "of tables that do not say it")->check(between(2, 1 << 20));
  command->add_flag("--in-place", logs.in_place, "the times measured in place (default: out of place)");
}

void add_ll_limit(CLI::App* command, std::string& limit) {
  command->add_option("--ll-limit", limit,
                      "the largest busbw under LL, such as 141GB/s for Hopper (half the bandwidth without)");
}

void add_fit(CLI::App& app, Parsed& parsed) {
  auto& fit = parsed.fit;
  auto* command = app.add_subcommand("fit", "Fit alphas and bandwidths of a machine to measured times of collectives");
  add_logs(command, fit.logs);
  command->add_option("--overhead", fit.logs.overhead,
                      "of one call, with unit, where logs do not tell it apart from alpha");
  command->add_option("--machine", fit.machine,
                      "a machine whose bandwidths are fitted, by simulation (default: all ranks on one switch)");
  command->add_option("--algorithm", fit.algorithm, "what ran at large sizes (default: ring; direct for all_to_all)")
      ->check(one_of("algorithm", {fitted_algorithms().begin(), fitted_algorithms().end()}));
  command->add_option("--name", fit.name, "the name of the machine that is written");
  command->add_option("-o,--out,--output", fit.out, "the machine file")->check(check_named)->group(kOutput);
  command->add_flag("--points", fit.points, "every point with its residual")->group(kOutput);
  add_json(command, fit.json);
  command->footer("Example:\n  tenex fit all_reduce.log all_gather.log -o machine.toml");
}

void add_predict(CLI::App& app, Parsed& parsed) {
  auto& predict = parsed.predict;
  auto* command =
      app.add_subcommand("predict", "Set measured times beside what a library's algorithms take on a machine");
  command->add_option("machine", predict.machine, "a machine file, another tool's machine, or a built-in machine")
      ->required();
  add_logs(command, predict.logs);
  command->add_option("--overhead", predict.logs.overhead,
                      "of one call, with unit, in place of the latencies of NCCL's protocols");
  command->add_option("--nodes", predict.nodes, "boxes of the machine (the hosts of the log, or 1)")
      ->check(between(1, 1 << 20));
  command->add_option("--channels", predict.channels, "chunks into which an NPU's data is cut (8)")
      ->check(between(1, 1 << 10));
  add_ll_limit(command, predict.ll_limit);
  command->add_flag("--nvls", predict.nvls, "switches add and multicast: All-Reduce by NVLS is offered, too");
  add_json(command, predict.json);
  command->footer("Example:\n  tenex predict machine.toml all_reduce.log --channels 16");
}

/// Who reads what `export` writes: tuner tables and MSCCLang.
std::vector<std::string> readers_of_exports() {
  std::vector<std::string> names(tuner_reader_names().begin(), tuner_reader_names().end());
  for (const auto name : mscclang_executor_names())
    if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  return names;
}

void add_others(CLI::App& app, Parsed& parsed) {
  auto* verify = app.add_subcommand(
      "verify", "Replay a schedule file against the definition of validity; judge a schedule of another tool");
  verify
      ->add_option("file", parsed.verify.file,
                   "a schedule file, .h5 or .json; MSCCLang XML, an mscclpp plan, ForestColl trees, a TE-CCL output, a "
                   "Chakra trace beside those of the other ranks; or with --for a tuner table")
      ->required();
  add_options(verify, ReadBy::collectives, parsed.verify.settings);
  verify
      ->add_option("--for", parsed.verify.reader,
                   "who reads a tuner table, and what it does with each line: nccl or rccl")
      ->check(one_of("reader", {tuner_reader_names().begin(), tuner_reader_names().end()}));
  add_threads(verify, parsed.verify.threads, "threads; never changes the verdict");
  add_memory(verify, parsed.verify.memory);
  add_json(verify, parsed.verify.json);
  verify->footer(
      "Examples:\n  tenex verify s.h5 --json\n  tenex verify ring.xml --topology dgx1 --size 64MiB"
      "\n  tenex verify tuner.csv --for nccl");

  auto& exported = parsed.export_;
  auto* command = app.add_subcommand("export", "Write sends of a schedule file, a machine or a result in another form");
  command->add_option("file", exported.file,
                      "a schedule file, .h5 or .json: a list or a recipe; a machine; or a result; without: the point "
                      "of the options, in as many chunks as the format's executor takes");
  add_options(command, ReadBy::collectives, exported.settings, "chunks");
  command
      ->add_option(
          "--format", exported.format,
          "list (default): every send with its times, NPUs and bytes; mscclang: XML of MSCCLang; mscclpp: an execution "
          "plan; chakra: traces of a custom collective of ASTRA-sim; forestcoll: trees; perfetto: a trace to look at; "
          "astra_network: of a machine with a shape; tuner: NCCL's or RCCL's choice for each size, of a result")
      ->check(one_of("format", export_formats()));
  command
      ->add_option(
          "-o,--out,--output", exported.out,
          "the file to write: a list as .h5 or .json; other formats as they are usual (.xml, .json, .yml, .csv); of "
          "chakra the beginning of several names")
      ->required()
      ->check(check_named);
  command
      ->add_option("--for", exported.reader,
                   "who reads a tuner table: nccl or rccl; who runs MSCCLang: azure, rccl (default) or msccl")
      ->check(one_of("reader", readers_of_exports()));
  command
      ->add_option("--protocol", exported.protocol,
                   "of MSCCLang: Simple (default), LL or LL128; of mscclpp: Simple or LL (default: LL up to 64 KiB)")
      ->check(one_of("protocol", {"Simple", "LL", "LL128"}));
  command
      ->add_option("--npus-per-node", exported.npus_per_node,
                   "of an mscclpp plan: NPUs that memory channels join; port channels join others (all)")
      ->check(between(1, 1 << 20));
  command->add_option("--channels", exported.channels, "of each line of a tuner table (rccl: its own choice)")
      ->check(between(1, 1 << 10));
  command->add_option("--nodes", exported.nodes, "nodes that the lines of a tuner table are for (any)")
      ->check(between(1, 1 << 20));
  add_ll_limit(command, exported.ll_limit);
  command->add_option("--npus", exported.npus, "only sends from or to these NPUs, such as 0-7,12");
  command->add_option("--chunks", exported.chunks,
                      "of a list: only sends that carry one of these chunks, such as 0-7,12; of a point: how many");
  command->add_option("--from", exported.from, "only sends that start at this time or later, with unit");
  command->add_option("--to", exported.to, "only sends that start before this time, with unit");
  add_threads(command, exported.threads, "threads; never changes the file");
  add_memory(command, exported.memory);
  add_json(command, exported.json);
  command->footer(
      "Examples:\n  tenex export s.h5 --format list --npus 0-7 --to 20us -o first.h5"
      "\n  tenex export s.h5 --format mscclang --for azure -o s.xml"
      "\n  tenex export --topology dgx1 --collective all_gather --size 64MiB --format mscclpp -o plan.json"
      "\n  tenex export results/box --format tuner --for nccl --channels 16 -o tuner.csv");

  add_import(app, parsed);
  add_execute(app, parsed);
  add_fit(app, parsed);
  add_predict(app, parsed);

  auto topics = list_topics();
  topics.insert(topics.begin(), "all");
  auto* list = app.add_subcommand("list", "List what studies may name");
  list->add_option("what", parsed.list.what, "all (default), or one of: " + CLI::detail::join(list_topics(), ", "))
      ->check(one_of("topic", topics));
  list->footer("Example:\n  tenex list algorithms");

  auto* init = app.add_subcommand("init", "Print a commented study to begin with");
  init->add_option("name", parsed.init.name,
                   "one of: " + CLI::detail::join(init_names(), ", ") + "; without: list them")
      ->check(one_of("study", init_names()));
  init->footer("Example:\n  tenex init fabric > fabric.toml && tenex run fabric.toml --out results/fabric");

  auto* schema =
      app.add_subcommand("schema", "Print what a study may say as JSON: every key, its values and its column");
  schema->add_flag("--markdown", parsed.schema.markdown, "the reference page instead (experiments/reference.md)");
  schema->add_flag("--columns", parsed.schema.columns, "the page of result columns instead (analysis/columns.md)");
  schema->footer("Example:\n  tenex schema | jq '.keys[].name'");

  auto* manual = app.add_subcommand("manual", "Print the man page");
  manual->footer("Example:\n  tenex manual | man -l -");

  auto* completion = app.add_subcommand("completion", "Print a script that completes words in a shell");
  completion->add_option("shell", parsed.completion.shell, "bash, zsh or fish")
      ->required()
      ->check(one_of("shell", {"bash", "zsh", "fish"}));
  completion->footer("Example:\n  eval \"$(tenex completion bash)\"");
}

void add_all(CLI::App& app, Parsed& parsed) {
  app.description("tenex explores the design space of collective communication on machine-learning clusters.");
  app.name("tenex");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text());
  app.footer(
      "Each command explains itself with an example: tenex help COMMAND\n"
      "tenex --version --json prints versions of the compiler, libraries and file formats, too");
  add_run(app, parsed);
  add_folder_commands(app, parsed);
  add_show(app, parsed);
  add_view(app, parsed);
  add_report(app, parsed);
  add_point_commands(app, parsed);
  add_optimize(app, parsed);
  add_others(app, parsed);
}

// Names an unknown command, where CLI11 would only say that a subcommand is missing. Returns true when the first word
// is not a command.
bool complain_of_unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return false;
  std::vector<std::string_view> names;
  for (const auto* command : app.get_subcommands({})) names.emplace_back(command->get_name());
  const std::string_view word = argv[1];
  if (std::ranges::find(names, word) != names.end()) return false;
  complain({unknown_command(word, names)});
  return true;
}

/// The options of a command, each by all its names.
std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* option : command.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// Errors of CLI11 in the project's form.
void complain_of(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::string place = chosen.empty() ? "tenex" : "tenex " + command.get_name();
  complain(usage_errors(place, app.remaining(true), option_names(command), error.what()));
}

OptionEntry entry_of(const CLI::Option& option, const Vocabulary& vocabulary) {
  OptionEntry entry;
  entry.positional = option.get_positional();
  if (entry.positional) entry.names.push_back(option.get_name(true));
  for (const auto& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) entry.names.push_back("--" + name);
  entry.help = option.get_description();
  entry.group = entry.positional ? "" : option.get_group();
  entry.required = option.get_required();
  if (option.get_items_expected_max() == 0) return entry;  // a flag
  const auto type = option.get_type_name();
  entry.value = type.substr(0, type.find(':'));
  entry.repeated = option.get_items_expected_max() > 1;
  entry.optional_value = !entry.positional && option.get_items_expected_min() == 0;
  entry.list = option.get_delimiter() != '\0';
  entry.offers = offers_of(entry.names.front(), vocabulary);
  entry.words = words_in(type);
  if (entry.words.empty() && !entry.positional) entry.words = words_of_key(option.get_lnames().front(), vocabulary);
  return entry;
}

CommandEntry entry_of(const CLI::App& command, const Vocabulary& vocabulary) {
  CommandEntry entry;
  entry.name = command.get_name();
  entry.help = command.get_description();
  entry.examples = command.get_footer();
  for (const auto* option : command.get_options()) entry.options.push_back(entry_of(*option, vocabulary));
  return entry;
}

}  // namespace

CommandTable command_table() {
  CLI::App app;
  Parsed parsed;
  add_all(app, parsed);
  const auto words = vocabulary();
  CommandTable table{entry_of(app, words)};
  for (const auto* command : app.get_subcommands({})) table.commands.push_back(entry_of(*command, words));
  return table;
}

namespace {

/// `tenex help [COMMAND]`: whether these words are that, and the command they name.
std::optional<Arguments> answer_help(const CLI::App& app, int argc, char** argv) {
  const bool alone = argc < 2;
  if (!alone && argv[1] != std::string_view("help")) return std::nullopt;
  const bool of_command = argc > 2 && argv[2][0] != '-';
  if (of_command && complain_of_unknown_command(app, argc - 1, argv + 1))
    return Leave{static_cast<int>(ExitCode::bad_input)};
  print_help(of_command ? argv[2] : "");
  return Leave{alone ? static_cast<int>(ExitCode::bad_input) : 0};  // a script that lost its words must not go on
}

}  // namespace

Arguments parse_arguments(int argc, char** argv) {
  CLI::App app;
  Parsed parsed;
  add_all(app, parsed);
  // CLI11 prints its version text at once: the object is asked for before.
  if (argc == 3 && argv[1] == std::string_view("--version") && argv[2] == std::string_view("--json"))
    return VersionArguments{};
  if (auto helped = answer_help(app, argc, argv)) return *std::move(helped);
  if (complain_of_unknown_command(app, argc, argv)) return Leave{static_cast<int>(ExitCode::bad_input)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    print_help(chosen.empty() ? "" : chosen.front()->get_name());
    return Leave{0};
  } catch (const CLI::ParseError& error) {
    const bool asked = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
    if (asked)
      app.exit(error);
    else
      complain_of(app, error);
    return Leave{asked ? 0 : static_cast<int>(ExitCode::bad_input)};
  }
  return chosen(app.get_subcommands().front()->get_name(), parsed);
}

}  // namespace tenex::cli
