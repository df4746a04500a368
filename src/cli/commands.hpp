// Internal to cli: one function per command. Each prints its answer on stdout, its errors on stderr, and returns the
// exit code.
#pragma once

#include "arguments.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/cli/cli.hpp"

namespace tenex::cli {

ExitCode execute(const RunArguments& arguments);
ExitCode execute(const PlanArguments& arguments);
ExitCode execute(const MergeArguments& arguments);
ExitCode execute(const PointArguments& arguments);
ExitCode execute(const ReplayArguments& arguments);
ExitCode execute(const VerifyArguments& arguments);
ExitCode execute(const ListArguments& arguments);

/// Flushes stdout; false, with a message, when something printed was lost.
[[nodiscard]] bool printed_whole();

/// Prints diagnostics on stderr.
void complain(const Diagnostics& errors);

/// "8GiB" to bytes; `fallback` when empty.
[[nodiscard]] Result<std::size_t> memory_limit(const std::string& text, std::size_t fallback);

}  // namespace tenex::cli
