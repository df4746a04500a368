// From argv to an exit code.
#include <csignal>
#include <cstdio>
#include <exception>
#include <variant>

#include "arguments.hpp"
#include "commands.hpp"
#include "tenex/base/units.hpp"
#include "tenex/cli/cli.hpp"

namespace tenex {
namespace cli {

void complain(const Diagnostics& errors) { std::fprintf(stderr, "%s\n", to_string(errors).c_str()); }

Result<std::size_t> memory_limit(const std::string& text, std::size_t fallback) {
  if (text.empty()) return fallback;
  const auto size = parse_bytes(text, {"--memory", 0, 0});
  if (!size) return size.errors();
  return static_cast<std::size_t>(size->count());
}

}  // namespace cli

int run_command_line(int argc, char** argv) {
  // A file-size limit then fails the write with EFBIG, which is told as a full disk is, instead of ending the process.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    const auto arguments = cli::parse_arguments(argc, argv);
    return std::visit(
        [](const auto& a) -> int {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(a)>, cli::Leave>) return a.code;
          else return static_cast<int>(cli::execute(a));
        },
        arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tenex: broken invariant: %s (a defect of tenex, please report it)\n", error.what());
    return static_cast<int>(ExitCode::some_failed);
  }
}

}  // namespace tenex
