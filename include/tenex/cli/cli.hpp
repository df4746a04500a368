// The command line: arguments and wiring. MPI is initialised only by `run`, and only under a launcher.
#pragma once

namespace tenex {

/// The exit code of the process.
enum class ExitCode : int {
  done = 0,         ///< everything was done
  some_failed = 1,  ///< some points failed, or a verification found a violation
  bad_input = 2,    ///< refused before any work
  interrupted = 3,  ///< stopped before the end; the same command resumes
};

/// Parses the arguments, runs one command and prints. Never throws.
[[nodiscard]] int run_command_line(int argc, char** argv);

}  // namespace tenex
