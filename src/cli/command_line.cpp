// Parses argv, runs a command and returns the exit code.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <variant>

#include "arguments.hpp"
#include "commands.hpp"
#include "mpi_session.hpp"
#include "tenex/base/message.hpp"
#include "tenex/base/units.hpp"
#include "tenex/cli/cli.hpp"
#include "tenex/design/study.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex {
namespace cli {

// Output to a full disk (`> file`) must not count as success.
bool printed_whole() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  std::fprintf(stderr, "cannot write to standard output (%s)\n", std::strerror(errno));
  return false;
}

namespace {

/// Colours where a person reads: on a terminal that has them, unless NO_COLOR (no-color.org) is set.
Colours colours_of_stderr() {
  const char* const refused = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool has_none = terminal == nullptr || std::string_view(terminal) == "dumb";
  const bool refuses = refused != nullptr && *refused != '\0';
  return isatty(STDERR_FILENO) == 1 && !has_none && !refuses ? Colours::terminal : Colours::none;
}

}  // namespace

void complain(const Diagnostics& errors) { std::fputs(render(errors, colours_of_stderr()).c_str(), stderr); }

ExitCode refuse(const Diagnostics& errors, ExitCode code) {
  complain(errors);
  return code;
}

void warn(std::string_view warning) { std::fputs(render_warning(warning, colours_of_stderr()).c_str(), stderr); }

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

Result<DesignPoint> point_of_words(const std::vector<std::pair<std::string, std::string>>& settings) {
  std::vector<std::string> notes;
  auto point = make_point(settings, vocabulary(), &notes);
  for (const auto& note : notes) warn(note);
  return point;
}

Result<std::size_t> memory_limit(const std::string& text, std::size_t fallback) {
  if (text.empty()) return fallback;
  const auto size = parse_bytes(text, {"--memory", 0, 0});
  if (!size) return size.errors();
  return static_cast<std::size_t>(size->count());
}

}  // namespace cli

namespace {

int run_guarded(int argc, char** argv) {
  try {
    const auto arguments = cli::parse_arguments(argc, argv);
    const int code = std::visit(
        [](const auto& a) -> int {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(a)>, cli::Leave>)
            return a.code;
          else
            return static_cast<int>(cli::execute(a));
        },
        arguments);
    return cli::printed_whole() ? code : static_cast<int>(ExitCode::some_failed);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr,
                 "memory ran out (a study or a schedule takes more than this process may use) raise its limit\n");
    return static_cast<int>(ExitCode::some_failed);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tenex: broken invariant: %s (a defect of tenex, please report it)\n", error.what());
    return static_cast<int>(ExitCode::some_failed);
  }
}

}  // namespace

int run_command_line(int argc, char** argv) {
  // With SIGXFSZ ignored, a file-size limit fails the write with EFBIG instead of ending the process, and is reported
  // as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  const int code = run_guarded(argc, argv);
  cli::tell_exit_code(code);
  return code;
}

}  // namespace tenex
