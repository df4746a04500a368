// Internal to cli: the arguments of each command, as plain values.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "measure_arguments.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/exchange/machine_import.hpp"

namespace tenex::cli {

/// What is printed beside the times.
struct Observe {
  std::vector<std::string> words = {};  ///< as a study's [outputs] store
  std::uint32_t bins = 100;             ///< of the utilization
  [[nodiscard]] bool observes(std::string_view word) const {
    return std::find(words.begin(), words.end(), word) != words.end();
  }
};

struct RunArguments {
  std::filesystem::path study;
  std::filesystem::path out;
  int threads = 0;
  std::string memory;
  bool extend = false;
  bool retry_failed = false;
  bool quiet = false;
  bool one_by_one = false;
  std::string slice = "1/1";      ///< I/N, as parse_slice() takes it
  std::string time_limit;         ///< as parse_time() takes it; empty: the batch system's limit
  std::string silence = "60s";    ///< as parse_time() takes it
  std::string log_level = "off";  ///< as parse_log_level() takes it
};

struct PlanArguments {
  std::filesystem::path study;
  bool points = false;
  bool json = false;
  std::optional<std::filesystem::path> sbatch;  ///< write an sbatch file; empty: to stdout
  bool submit = false;                          ///< give the job to Slurm
  int ranks = 0;                                ///< of the run; 0: 1 here, chosen by the estimate for a job
  int threads = 0;                              ///< per rank; 0: all cores here, chosen by the estimate for a job
  std::string memory;                           ///< empty: that of this machine
};

struct MergeArguments {
  std::vector<std::filesystem::path> dirs;  ///< at least one
  std::filesystem::path out;                ///< empty: the only folder itself; a file: results of several studies
};

struct StatusArguments {
  std::vector<std::filesystem::path> dirs;  ///< at least one
  bool json = false;
};

/// replay: evaluates a row of a result folder again.
struct RowReplayArguments {
  std::filesystem::path dir;
  std::string key;  ///< the key or its first digits
  int threads = 1;
  std::string memory;
  bool json = false;
};

/// synthesize, simulate and bound: one point in the study's words.
struct PointArguments {
  enum class Command : std::uint8_t { synthesize, simulate, bound } command = Command::synthesize;
  std::vector<std::pair<std::string, std::string>> settings;
  int threads = 1;
  std::string memory;
  std::filesystem::path out;
  Observe observe;
  std::string keep_as;          ///< list or recipe; empty: by size
  bool time_only = false;       ///< neither record nor verify
  bool progress = false;        ///< of solvers, also where stderr is no terminal
  bool exact = false;           ///< bounds with the best weights
  std::filesystem::path check;  ///< a file of bounds to confirm; empty: search for bounds
  bool json = false;
};

/// optimize: one point that trains a model, in the study's words.
struct OptimizeArguments {
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<std::string> constraints;  ///< one per --constraint
  /// Tensor and data parallelism, pipeline stages, experts, each from its own option; 0: not given. They make `hp`.
  std::array<std::int64_t, 4> degrees{};
  std::int64_t npus = 0;   ///< searches the parallelization of so many; 0: the point states it
  std::int64_t most = 10;  ///< answers of a search
  int threads = 1;
  std::string memory;
  bool json = false;
};

/// simulate --schedule: replays a schedule file.
struct ReplayArguments {
  std::filesystem::path file = {};
  std::string mode = {};
  bool on_switches = false;  ///< play it on the network with switches that `network` describes
  std::vector<std::pair<std::string, std::string>> network = {};
  std::filesystem::path out = {};
  Observe observe = {};
  int threads = 1;
  std::string memory = {};
  bool json = false;
  bool other_options = false;  ///< options of a point were given beside the file that it does not take
};

struct VerifyArguments {
  std::filesystem::path file;
  std::string reader;  ///< of a tuner table; empty: the file is a schedule
  /// The network, size and algorithm to compare with, for a schedule of another tool.
  std::vector<std::pair<std::string, std::string>> settings = {};
  int threads = 1;
  std::string memory;
  bool json = false;
};

/// export: writes sends of a schedule file in some form, a machine, or a table of a result.
struct ExportArguments {
  std::filesystem::path file;                                      ///< empty: the point of the settings
  std::vector<std::pair<std::string, std::string>> settings = {};  ///< without chunks, which stand below
  std::string format = "list";
  std::filesystem::path out;
  std::string npus;                ///< as "0-7,12"; empty: all
  std::string chunks;              ///< the same; of a point: as a study has them
  std::string from;                ///< as parse_time() takes it; empty: the beginning
  std::string to;                  ///< the same; empty: the end
  std::string reader;              ///< of a tuner table, or who runs MSCCLang
  std::string protocol;            ///< of MSCCLang; empty: Simple
  std::int64_t npus_per_node = 0;  ///< of an mscclpp plan; 0: all
  std::int64_t channels = -1;      ///< of a tuner table's lines; -1: not said
  std::int64_t nodes = -1;         ///< the same
  std::string ll_limit;            ///< of a tuner table: as parse_bandwidth() takes it; empty: none
  int threads = 1;
  std::string memory;
  bool json = false;
};

/// execute: a schedule on real buffers, a rank for each NPU.
struct ExecuteArguments {
  std::filesystem::path file;
  std::string type = "int32";
  std::int64_t elements = 0;  ///< of a chunk; 0: as the schedule's chunks have, within a limit
  std::int64_t repeats = 5;
  std::string memory;
  bool json = false;
};

/// import: another tool's machine as a machine file.
struct ImportArguments {
  std::string what;  ///< machine
  std::filesystem::path file;
  std::filesystem::path out;     ///< empty: stdout
  std::filesystem::path system;  ///< ASTRA-sim's system file; empty: none
  ImportOptions options;
};

/// schema.
struct SchemaArguments {
  bool markdown = false;
  bool columns = false;
};

struct ListArguments {
  std::string what;
};

/// manual.
struct ManualArguments {};

/// completion.
struct CompletionArguments {
  std::string shell;  ///< bash, zsh or fish
};

/// --version --json.
struct VersionArguments {};

/// init.
struct InitArguments {
  std::string name;  ///< of a study; empty: list them
};

/// show: rows of a result, or one of them; or the sends of a schedule file.
struct ShowArguments {
  std::filesystem::path dir;         ///< a result folder or file, or a schedule file
  std::string key;                   ///< the key of a row or its first digits; empty: a table
  std::string where;                 ///< a condition on columns; empty: all rows
  std::string sort;                  ///< a column; empty: the study's order
  bool descending = false;           ///< sort from the largest
  std::string group_by;              ///< a column; empty: one table
  std::string over;                  ///< a column over whose values rows are summed up; empty: every row
  std::string crossover;             ///< a setting: its fastest value by size; empty: a table of rows
  std::vector<std::string> columns;  ///< empty: chosen for the rows
  std::int64_t limit = -1;           ///< most rows or sends; negative: all
  std::string npus;                  ///< of a schedule's sends: as "0-7,12"; empty: all
  std::string chunks;                ///< the same
  std::string at;                    ///< sends on their way at this time, as parse_time() takes it; empty: all
  int threads = 1;                   ///< for making a recipe's schedule
  std::string memory;
  bool csv = false;
  bool json = false;
};

/// view: a schedule file, a point or a network as a page or a picture.
struct ViewArguments {
  std::filesystem::path file = {};                                 ///< a schedule file; empty: the point
  std::vector<std::pair<std::string, std::string>> settings = {};  ///< of a point, or of a network alone
  std::filesystem::path out = {};                                  ///< of the page; empty: none
  std::filesystem::path svg = {};
  std::filesystem::path png = {};
  std::string picture = {};  ///< of SVG and PNG; empty: gantt, or network where there is no schedule
  int threads = 1;
  std::string memory = {};
};

/// report: a result as a page.
struct ReportArguments {
  std::filesystem::path dir;  ///< a result folder or file
  std::filesystem::path out;
  std::string where;  ///< a condition on columns; empty: all rows
};

/// Help was printed, or the arguments were wrong: the command ends with this code.
struct Leave {
  int code = 0;
};

using Arguments =
    std::variant<Leave, RunArguments, PlanArguments, MergeArguments, StatusArguments, RowReplayArguments,
                 PointArguments, OptimizeArguments, ReplayArguments, VerifyArguments, ExportArguments, ImportArguments,
                 ExecuteArguments, FitArguments, PredictArguments, ListArguments, SchemaArguments, InitArguments,
                 ShowArguments, ViewArguments, ReportArguments, VersionArguments, ManualArguments, CompletionArguments>;

/// Parses the command line; prints help and errors itself.
[[nodiscard]] Arguments parse_arguments(int argc, char** argv);

}  // namespace tenex::cli
