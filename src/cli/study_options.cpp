// The options of commands that read studies and results, and of those that print what tenex knows.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "command_options.hpp"
#include "commands.hpp"
#include "option_checks.hpp"
#include "parsed.hpp"
#include "tenex/base/units.hpp"
#include "tenex/design/setting.hpp"
#include "tenex/pages/view.hpp"
#include "tenex/store/rank_log.hpp"
#include "tenex/store/slice.hpp"

namespace tenex::cli {
namespace {

constexpr const char* kRun = "Run";

void add_run(CLI::App& app, Parsed& parsed) {
  auto* run = app.add_subcommand("run", "Run a study, or continue it, alone or under mpirun/srun");
  run->add_option("study", parsed.run.study, "the study, a TOML file")->required();
  run->add_option("-o,--out", parsed.run.out, "the result folder; the merged file is DIR/study.h5")->required();
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
}

void add_plan(CLI::App& app, Parsed& parsed) {
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

}  // namespace

void add_study_commands(CLI::App& app, Parsed& parsed) {
  add_run(app, parsed);
  add_plan(app, parsed);
  add_folder_commands(app, parsed);
  add_show(app, parsed);
  add_view(app, parsed);
  add_report(app, parsed);
}

void add_word_commands(CLI::App& app, Parsed& parsed) {
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

}  // namespace tenex::cli
