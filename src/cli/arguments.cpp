// The commands' options, and their table for pages and completions. Only this file uses CLI11.
#include "arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command_table.hpp"
#include "commands.hpp"
#include "parsed.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/units.hpp"
#include "tenex/base/version.hpp"
#include "tenex/base/words.hpp"
#include "tenex/cli/cli.hpp"
#include "tenex/design/setting.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/store/rank_log.hpp"
#include "tenex/store/slice.hpp"

namespace tenex::cli {
namespace {

/// `--out "$OUT"` with an unset variable is an error, and not the same as no --out.
std::string check_named(const std::string& text) { return text.empty() ? "an empty name" : ""; }

void add_memory(CLI::App* command, std::string& memory) {
  command->add_option("--memory", memory, "memory limit, with unit, such as 8GiB");
}

std::string check_key(const std::string& text) {
  const bool hex = text.find_first_not_of("0123456789abcdef") == std::string::npos;
  return hex && !text.empty() && text.size() <= 32 ? std::string() : "a key is up to 32 hexadecimal digits";
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
                "one point at a time per rank, on all its threads, so that measured times are undisturbed");
  run->add_option("--slice", parsed.run.slice, "I/N: only the I-th of N parts of the study; `tenex merge` joins them")
      ->check([](const std::string& text) {
        const auto slice = parse_slice(text);
        return slice ? std::string() : to_string(slice.errors());
      });
  run->add_option("--time-limit", parsed.run.time_limit,
                  "with unit, such as 3600s: begin no point that is not expected to end within it (default: what Slurm "
                  "says); the same command continues")
      ->check([](const std::string& text) {
        const auto limit = parse_time(text);
        return limit ? std::string() : to_string(limit.errors());
      });
  run->add_option("--silence", parsed.run.silence,
                  "with unit: a rank that sends nothing for this long counts as dead, and others get its points (60s)")
      ->check([](const std::string& text) {
        const auto silence = parse_time(text);
        if (!silence) return to_string(silence.errors());
        if (*silence >= picoseconds(1'000'000'000'000)) return std::string();
        return text + " is too short (a rank sends twelve messages in it) give 1s or more";
      });
  run->add_flag("--quiet", parsed.run.quiet, "no progress on stderr");
  run->add_option("--log-level", parsed.run.log_level,
                  "off (default), warning, info (leases, commits, ranks) or debug (every point too): what each rank "
                  "writes to DIR/logs")
      ->check([](const std::string& text) {
        const auto level = parse_log_level(text);
        return level ? std::string() : to_string(level.errors());
      });
  run->footer("Example:\n  mpirun -n 2 --bind-to none tenex run experiments/quickstart/study.toml --out results/quick");

  auto* plan = app.add_subcommand("plan", "Say what a study would do: points, expected time and memory");
  plan->add_option("study", parsed.plan.study, "the study, a TOML file")->required();
  plan->add_flag("--points", parsed.plan.points, "list every point");
  plan->add_flag("--json", parsed.plan.json, "one JSON object on stdout");
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
      ->check(CLI::Range(1, 65'536));
  plan->add_option("--threads", parsed.plan.threads,
                   "per rank (default: the cores of this machine; in the sbatch file as the estimate needs)")
      ->check(CLI::Range(1, 1024));
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
  status->add_flag("--json", parsed.status.json, "one JSON object on stdout, on a line of its own for each folder");
  status->footer("Examples:\n  tenex status results/quick\n  tenex status results/big/slice-*");

  auto* replay = app.add_subcommand("replay", "Evaluate one row of a result folder again and compare");
  replay->add_option("dir", parsed.row_replay.dir, "the result folder")->required();
  replay->add_option("key", parsed.row_replay.key, "the point's key, or its first digits")
      ->required()
      ->check(check_key);
  replay->add_option("--threads", parsed.row_replay.threads, "threads; never changes the result")
      ->check(CLI::Range(1, 1024));
  add_memory(replay, parsed.row_replay.memory);
  replay->add_flag("--json", parsed.row_replay.json, "one JSON object on stdout");
  replay->footer("Example:\n  tenex replay results/quick 3f2a91");
}

void add_show(CLI::App& app, Parsed& parsed) {
  auto& show = parsed.show;
  auto* command = app.add_subcommand("show", "Print a table of results, or why one row is as it is");
  command->add_option("dir", show.dir, "the result folder, or a result file (.h5)")->required();
  command->add_option("key", show.key, "the point's key, or its first digits: explain this row")->check(check_key);
  command->add_option("--where", show.where, "a condition on columns, such as \"size >= 1MiB and algorithm != ring\"");
  command->add_option("--sort", show.sort, "a column, such as collective_time or topology");
  command->add_flag("--descending", show.descending, "sort from the largest");
  command->add_option("--group-by", show.group_by, "a column: a table for each of its values");
  command->add_option("--columns", show.columns, "columns, separated by commas (`tenex list columns`)")->delimiter(',');
  auto* csv = command->add_flag("--csv", show.csv, "comma-separated values, in integer SI units");
  command->add_flag("--json", show.json, "one JSON object on stdout, in integer SI units")->excludes(csv);
  command->footer(
      "Examples:\n  tenex show results/quick --where \"size = 1GiB\" --group-by topology --sort collective_time"
      "\n  tenex show results/quick 3f2a91");
}

using Settings = std::vector<std::pair<std::string, std::string>>;

// "--npu-bandwidth,--npu_bandwidth": a key spelled as an option and as in a study.
std::string flags_of(const Setting& setting) {
  std::string flags;
  for (const auto name : {setting.name, setting.alias}) {
    if (name.empty()) continue;
    std::string dashed(name);
    std::ranges::replace(dashed, '_', '-');
    flags += (flags.empty() ? "--" : ",--") + dashed;
    if (dashed != name) flags += ",--" + std::string(name);
  }
  return flags;
}

std::string help_of(const Setting& setting) {
  std::string help(setting.help);
  if (setting.fallback && !setting.fallback->empty()) help += "; default " + std::string(*setting.fallback);
  return help;
}

// Adds options for the keys that points of this kind read, written as in a study.
void add_options(CLI::App* command, ReadBy kind, Settings& settings) {
  for (const auto& setting : tenex::settings()) {
    if (setting.read_by != ReadBy::all && setting.read_by != kind) continue;
    if (setting.written == Written::texts) continue;  // it has its own option, which may be repeated
    const std::string key(setting.name);
    command->add_option_function<std::string>(
        flags_of(setting), [&settings, key](const std::string& text) { settings.emplace_back(key, text); },
        help_of(setting));
  }
}

void add_point_options(CLI::App* command, PointArguments& point) {
  add_options(command, ReadBy::collectives, point.settings);
}

void add_observations(CLI::App* command, PointArguments& point) {
  command
      ->add_option("--observe", point.observe,
                   "also print any of link_bytes, utilization, arrivals, group_times: --observe "
                   "utilization,link_bytes, or one option for each")
      ->delimiter(',')
      ->check(CLI::IsMember({"link_bytes", "utilization", "arrivals", "group_times"}));
  command->add_option("--bins", point.bins, "bins of time of the utilization; default 100")
      ->check(CLI::Range(1, 10'000));
}

void add_schedule_output(CLI::App* command, PointArguments& point, const char* what) {
  command->add_option("--out,--output", point.out, what)->check(check_named);
  command
      ->add_option("--as", point.keep_as,
                   "what to write: list (every send) or recipe (how to make it again); default: a recipe above 2^24 "
                   "sends")
      ->check(CLI::IsMember({"list", "recipe"}));
}

void add_point_commands(CLI::App& app, Parsed& parsed) {
  const std::string machine = "--topology \"mesh(10,10)\" --alpha 0.5us --bandwidth 50GiB/s";

  auto* synthesize = app.add_subcommand("synthesize", "Synthesize one schedule, verify it, compare it with the bound");
  add_point_options(synthesize, parsed.point);
  synthesize->add_option("--threads", parsed.point.threads, "threads; never changes the result")
      ->check(CLI::Range(1, 1024));
  add_memory(synthesize, parsed.point.memory);
  add_schedule_output(synthesize, parsed.point, "write the schedule: .h5 or .json");
  add_observations(synthesize, parsed.point);
  synthesize->add_flag("--progress", parsed.point.progress,
                       "the gap of a solver on stderr each second, also where stderr is no terminal");
  synthesize->add_flag("--json", parsed.point.json, "one JSON object on stdout");
  synthesize->footer("Example:\n  tenex synthesize " + machine +
                     "\n    --collective all_gather --size 1GiB --synthesizer tacos --occupancy transfer --out s.h5");

  auto* simulate = app.add_subcommand("simulate", "Simulate one textbook algorithm, or replay a schedule file");
  add_point_options(simulate, parsed.point);
  simulate->add_option("--schedule", parsed.replay.file, "replay this schedule file instead");
  simulate->add_option("--replay", parsed.replay.mode, "timed (default) or as_soon_as_possible")
      ->check(CLI::IsMember({"timed", "as_soon_as_possible"}));
  simulate->add_flag("--on-switches", parsed.replay.on_switches,
                     "play the schedule, made for unwound switches, on the switches of --topology");
  simulate->add_option("--threads", parsed.point.threads, "threads; never changes the result")
      ->check(CLI::Range(1, 1024));
  add_memory(simulate, parsed.point.memory);
  add_observations(simulate, parsed.point);
  simulate->add_flag("--time-only", parsed.point.time_only,
                     "use the fastest engine, and record and verify nothing: for the time of large systems");
  add_schedule_output(simulate, parsed.point, "write the timed sends: .h5 or .json");
  simulate->add_flag("--json", parsed.point.json, "one JSON object on stdout");
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
  bound->add_flag("--json", parsed.point.json, "one JSON object on stdout");
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
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31));
  optimize->get_option("--scheme")
      ->description("perf_opt (default), perf_per_cost, equal or given, see `tenex list schemes`");
  optimize
      ->add_option(
          "--constraint,--constraints", parsed.optimize.constraints,
          "a linear constraint on the bandwidths, such as \"B1 >= B2 >= B3\" or \"25GB/s <= B3 <= 150GB/s\"; may "
          "be given again")
      ->allow_extra_args(false);
  optimize->add_option("--threads", parsed.optimize.threads, "threads; never changes the result")
      ->check(CLI::Range(1, 1024));
  add_memory(optimize, parsed.optimize.memory);
  optimize->add_flag("--json", parsed.optimize.json, "one JSON object on stdout");
  optimize->footer(
      "Example:\n  tenex optimize --workload gpt3 --topology \"RI(4)_FC(8)_RI(4)_SW(32)\" --hp 16,256"
      "\n    --total-bandwidth 1000GB/s --scheme perf_opt --compute 234TFLOPS --constraint \"B4 <= 100GB/s\"");
}

void add_others(CLI::App& app, Parsed& parsed) {
  auto* verify = app.add_subcommand(
      "verify", "Replay a schedule file against the definition of validity; the schedule of a recipe is made first");
  verify->add_option("file", parsed.verify.file, "a schedule file, .h5 or .json")->required();
  verify->add_option("--threads", parsed.verify.threads, "threads; never changes the verdict")
      ->check(CLI::Range(1, 1024));
  add_memory(verify, parsed.verify.memory);
  verify->add_flag("--json", parsed.verify.json, "one JSON object on stdout");
  verify->footer("Example:\n  tenex verify s.h5 --json");

  auto& exported = parsed.export_;
  auto* command = app.add_subcommand("export", "Write the sends of a schedule file, or some of them, in another form");
  command->add_option("file", exported.file, "a schedule file, .h5 or .json: a list or a recipe")->required();
  command->add_option("--format", exported.format, "list (default): every send with its times, NPUs and bytes")
      ->check(CLI::IsMember(export_formats()));
  command->add_option("-o,--out,--output", exported.out, "the file to write: .h5 or .json")
      ->required()
      ->check(check_named);
  command->add_option("--npus", exported.npus, "only sends from or to these NPUs, such as 0-7,12");
  command->add_option("--chunks", exported.chunks, "only sends that carry one of these chunks, such as 0-7,12");
  command->add_option("--from", exported.from, "only sends that start at this time or later, with unit");
  command->add_option("--to", exported.to, "only sends that start before this time, with unit");
  command->add_option("--threads", exported.threads, "threads; never changes the file")->check(CLI::Range(1, 1024));
  add_memory(command, exported.memory);
  command->add_flag("--json", exported.json, "one JSON object on stdout");
  command->footer("Example:\n  tenex export s.h5 --format list --npus 0-7 --to 20us -o first.h5");

  auto* list = app.add_subcommand("list", "List what studies may name");
  list->add_option("what", parsed.list.what, "all (default), or one of: " + CLI::detail::join(list_topics(), ", "))
      ->check(CLI::IsMember(list_topics()) | CLI::IsMember({"all"}));
  list->footer("Example:\n  tenex list algorithms");

  auto* init = app.add_subcommand("init", "Print a commented study to begin with");
  init->add_option("name", parsed.init.name,
                   "one of: " + CLI::detail::join(init_names(), ", ") + "; without: list them")
      ->check(CLI::IsMember(init_names()));
  init->footer("Example:\n  tenex init fabric > fabric.toml && tenex run fabric.toml --out results/fabric");

  auto* schema =
      app.add_subcommand("schema", "Print what a study may say as JSON: every key, its values and its column");
  schema->add_flag("--markdown", parsed.schema.markdown, "the reference page instead (experiments/reference.md)");
  schema->add_flag("--columns", parsed.schema.columns, "the page of result columns instead (analysis/columns.md)");
  schema->footer("Example:\n  tenex schema | jq '.keys[].name'");

  auto* manual = app.add_subcommand("manual", "Print the man page");
  manual->footer("Example:\n  tenex manual | man -l -");

  auto* completion = app.add_subcommand("completion", "Print a script that completes words in a shell");
  completion->add_option("shell", parsed.completion.shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  completion->footer("Example:\n  eval \"$(tenex completion bash)\"");
}

void add_all(CLI::App& app, Parsed& parsed) {
  app.description("tenex explores the design space of collective communication on machine-learning clusters.");
  app.name("tenex");
  app.require_subcommand(1);
  app.set_version_flag("--version",
                       std::string("tenex ") + std::string(version()) + " (" + std::string(git_revision()) +
                           (git_dirty() ? ", modified)" : ")") + "\nwith " +
                           (optional_libraries().empty() ? "no optional library" : std::string(optional_libraries())));
  app.footer(
      "Each command explains itself with an example: tenex COMMAND --help\n"
      "tenex --version --json prints versions of the compiler, libraries and file formats, too");
  add_run(app, parsed);
  add_folder_commands(app, parsed);
  add_show(app, parsed);
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
  const auto nearest = did_you_mean(word, names);
  complain({input_error({"tenex", 0, 0}, "unknown command \"" + std::string(word) + "\"", {},
                        nearest.empty() ? "`tenex --help` lists the commands" : nearest)});
  return true;
}

/// The options of a command, each by all its names.
std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* option : command.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// Errors of CLI11 in the project's form; unknown options with the nearest one.
void complain_of(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::string place = chosen.empty() ? "tenex" : "tenex " + command.get_name();
  const std::string fallback = "`" + place + " --help` shows the options";
  Diagnostics errors;
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    const auto names = option_names(command);
    const std::vector<std::string_view> known(names.begin(), names.end());
    for (const auto& word : app.remaining(true)) {
      if (!word.starts_with("--")) continue;
      const std::string option = word.substr(0, word.find('='));
      const auto nearest = did_you_mean(option, known);
      errors.push_back(
          input_error({place, 0, 0}, "unknown option \"" + option + "\"", {}, nearest.empty() ? fallback : nearest));
    }
  }
  if (errors.empty()) errors.push_back(input_error({place, 0, 0}, error.what(), {}, fallback));
  complain(errors);
}

/// The words of CLI::IsMember, which describes itself as "{a,b}"; several are joined by "OR".
std::vector<std::string> words_in(std::string_view description) {
  std::vector<std::string> words;
  for (auto open = description.find('{'); open != std::string_view::npos; open = description.find('{', open)) {
    const auto close = description.find('}', open);
    if (close == std::string_view::npos) break;
    for (const auto& word : CLI::detail::split(std::string(description.substr(open + 1, close - open - 1)), ','))
      words.push_back(word);
    open = close;
  }
  return words;
}

/// The words of the key that an option sets.
std::vector<std::string> words_of_key(std::string name, const Vocabulary& vocabulary) {
  std::ranges::replace(name, '-', '_');
  const auto* setting = find_setting(name);
  return setting == nullptr ? std::vector<std::string>() : words_of(*setting, vocabulary);
}

OptionEntry entry_of(const CLI::Option& option, const Vocabulary& vocabulary) {
  OptionEntry entry;
  entry.positional = option.get_positional();
  if (entry.positional) entry.names.push_back(option.get_name(true));
  for (const auto& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) entry.names.push_back("--" + name);
  entry.help = option.get_description();
  entry.required = option.get_required();
  if (option.get_items_expected_max() == 0) return entry;  // a flag
  const auto type = option.get_type_name();
  entry.value = type.substr(0, type.find(':'));
  entry.repeated = option.get_items_expected_max() > 1;
  entry.optional_value = !entry.positional && option.get_items_expected_min() == 0;
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

Arguments parse_arguments(int argc, char** argv) {
  CLI::App app;
  Parsed parsed;
  add_all(app, parsed);
  // CLI11 prints its version text at once: the object is asked for before.
  if (argc == 3 && argv[1] == std::string_view("--version") && argv[2] == std::string_view("--json"))
    return VersionArguments{};
  if (complain_of_unknown_command(app, argc, argv)) return Leave{static_cast<int>(ExitCode::bad_input)};
  try {
    app.parse(argc, argv);
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
