// Internal to cli: functions for the commands that end with a merged study.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/cli/cli.hpp"
#include "tenex/store/store.hpp"

namespace tenex::cli {

/// Prints a summary of a merged file and the file's name.
ExitCode print_summary(const std::filesystem::path& file);

/// The exit code of a run with errors: 2 for input errors, which come before any work; 3 for errors of the environment,
/// after which the run can be resumed.
[[nodiscard]] ExitCode exit_of(const Diagnostics& errors);

/// The same for a command that cannot be resumed: 1 for errors of the environment.
[[nodiscard]] ExitCode exit_of_once(const Diagnostics& errors);

/// Prints warnings on stderr.
void warn(const std::vector<std::string>& warnings);

/// Says that rows are missing from the merged file, and how to get them.
ExitCode say_missing(const MergeReport& merged, const std::filesystem::path& dir);

/// A merged result as tables.
///
/// Per collective and algorithm: number of points, of verified rows and of rows at the bound, geometric mean and least
/// efficiency, and the best algbw. Rows that train a model have a table of their own, per workload and scheme: the
/// shortest time, the cost of its network, and the best performance per cost. Rows that are not ok are counted
/// separately by cause, with advice for lack of memory.
[[nodiscard]] Result<std::string> summarize(const std::filesystem::path& file);

}  // namespace tenex::cli
