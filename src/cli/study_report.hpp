// Internal to cli: what the commands that end with a merged study have in common.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/cli/cli.hpp"
#include "tenex/store/store.hpp"

namespace tenex::cli {

/// Prints a table of a merged file's rows, and its name.
ExitCode print_summary(const std::filesystem::path& file);

/// Of a run that ended with errors: 2 for mistakes of the input, which come before any work; 3 for what the environment
/// does to a run, which can be mended and resumed.
[[nodiscard]] ExitCode exit_of(const Diagnostics& errors);

/// The same of a command that is not resumed: 1 for what the environment does to it.
[[nodiscard]] ExitCode exit_of_once(const Diagnostics& errors);

/// Prints warnings on stderr.
void warn(const std::vector<std::string>& warnings);

/// Says that rows are missing from the merged file, and how to get them.
ExitCode say_missing(const MergeReport& merged, const std::filesystem::path& dir);

}  // namespace tenex::cli
