// Internal to cli: one function per command. Each prints its answer on stdout and its errors on stderr, and returns the
// exit code.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/cli/cli.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/design/setting.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/evaluate/kept_schedule.hpp"

namespace tenex::cli {

ExitCode execute(const RunArguments& arguments);
ExitCode execute(const PlanArguments& arguments);
ExitCode execute(const MergeArguments& arguments);
ExitCode execute(const StatusArguments& arguments);
ExitCode execute(const RowReplayArguments& arguments);
ExitCode execute(const PointArguments& arguments);
ExitCode execute(const OptimizeArguments& arguments);
ExitCode execute(const ReplayArguments& arguments);
ExitCode execute(const VerifyArguments& arguments);
ExitCode execute(const ExportArguments& arguments);
ExitCode execute(const ImportArguments& arguments);
ExitCode execute(const ExecuteArguments& arguments);
ExitCode execute(const FitArguments& arguments);
ExitCode execute(const PredictArguments& arguments);
ExitCode execute(const ListArguments& arguments);
ExitCode execute(const SchemaArguments& arguments);
ExitCode execute(const InitArguments& arguments);
ExitCode execute(const VersionArguments& arguments);
ExitCode execute(const ShowArguments& arguments);
ExitCode execute(const ViewArguments& arguments);
ExitCode execute(const ReportArguments& arguments);
ExitCode execute(const ManualArguments& arguments);
ExitCode execute(const CompletionArguments& arguments);

/// make_point() with the vocabulary of this program; warns of how values were read that may be meant otherwise.
[[nodiscard]] Result<DesignPoint> point_of_words(const std::vector<std::pair<std::string, std::string>>& settings);
/// show of a schedule file.
[[nodiscard]] ExitCode show_schedule(const ShowArguments& arguments);
/// A folder whose rows are not merged says so, and how they are; the reader tells what else is wrong with `file`, which
/// is that of the folder or `dir` itself.
[[nodiscard]] Status check_merged(const std::filesystem::path& dir, const std::filesystem::path& file);
/// Prints all bounds that apply to a point (tenex bound).
ExitCode print_bounds(DesignPoint point, const PointArguments& arguments);
/// Whether the options of a point name a key.
[[nodiscard]] bool names(const PointArguments& arguments, std::string_view key);

/// The topics of `list`, in the order in which it prints them.
[[nodiscard]] std::vector<std::string> list_topics();

/// Whether a command can use a part of a schedule.
enum class Parts : std::uint8_t { refused, allowed };
/// The schedule of a file; of a recipe, it is made in the memory that is given as text, or in what the recipe says.
/// Errors: those of open_schedule() and memory_limit(); (input) a part.
[[nodiscard]] Result<OpenedSchedule> load_schedule(const std::filesystem::path& path, const std::string& memory,
                                                   int threads, Parts parts);

/// A schedule of another tool, and what is asked of it.
struct ForeignArguments {
  std::filesystem::path file = {};
  std::vector<std::pair<std::string, std::string>> settings = {};  ///< of the network and of what to compare with
  bool compares = true;                                            ///< with the best schedule that tenex knows
  std::filesystem::path out = {};                                  ///< the timed sends; empty: not written
  int threads = 1;
  std::string memory = {};
  bool json = false;
};
/// Whether the file is a schedule of another tool. False for what cannot be read.
[[nodiscard]] bool is_foreign_schedule_file(const std::filesystem::path& path);
/// verify and simulate of a schedule of another tool: its verdict, and on a network its time beside the bound.
ExitCode judge_foreign(const ForeignArguments& arguments);

/// export of a machine as ASTRA-sim's network.
ExitCode export_machine(const ExportArguments& arguments);
/// export of a schedule as traces of ASTRA-sim: files whose names begin with `prefix`. Adds to `notes` what is not
/// written, and why. Errors: those of to_checked_chakra() and of writing.
Status export_traces(const std::filesystem::path& prefix, const ScheduleFile& file, std::vector<std::string>& notes);
/// export of a point: its schedule, made now and given to `write`. Where that fails for limits of an executor, and no
/// number of chunks is stated, of fewer chunks; the report says how much longer that takes.
ExitCode export_point(const ExportArguments& arguments, const std::function<Status(const ScheduleFile&)>& write);
/// export of a result as a tuner table.
ExitCode export_tuner(const ExportArguments& arguments);
/// verify of a tuner table.
ExitCode verify_tuner(const VerifyArguments& arguments);

/// The kinds of elements of `execute`.
[[nodiscard]] std::vector<std::string> element_words();
/// The formats of `export`.
[[nodiscard]] std::vector<std::string> export_formats();

/// What `import` reads.
[[nodiscard]] std::vector<std::string> import_words();

/// The studies of `init`.
[[nodiscard]] std::vector<std::string> init_names();

/// What the cells of a setting's column hold: "integer", "real", "integer per dimension" or "text".
[[nodiscard]] std::string_view kind_name(SettingColumn::Kind kind);

/// All words that the key takes, if it takes only listed words.
[[nodiscard]] std::vector<std::string> words_of(const Setting& setting, const Vocabulary& vocabulary);

/// What `tenex --version` prints, without a newline at its end.
[[nodiscard]] std::string version_text();

/// The text in single quotes, so that a shell reads it as one word whatever it holds.
[[nodiscard]] std::string shell_quoted(std::string_view text);

/// All columns of a result file as Markdown.
[[nodiscard]] std::string columns_page();

/// Flushes stdout; false, with a message, when something printed was lost.
[[nodiscard]] bool printed_whole();

/// Prints diagnostics on stderr, in colours on a terminal.
void complain(const Diagnostics& errors);
/// Prints diagnostics likewise, and returns the exit code of a command that ends with them.
[[nodiscard]] ExitCode refuse(const Diagnostics& errors, ExitCode code = ExitCode::bad_input);
/// Prints a warning on stderr, likewise.
void warn(std::string_view warning);

/// The exit code of a one-shot command whose point has this status.
[[nodiscard]] ExitCode exit_of(PointStatus status);

/// "8GiB" to bytes; `fallback` when empty.
[[nodiscard]] Result<std::size_t> memory_limit(const std::string& text, std::size_t fallback);

}  // namespace tenex::cli
