#include "study_report.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "commands.hpp"

namespace tenex::cli {

ExitCode print_summary(const std::filesystem::path& file) {
  const auto table = summarize(file);
  if (!table) return refuse(table.errors(), ExitCode::some_failed);
  std::fputs(table->c_str(), stdout);
  fmt::print("result: {}\n", file.string());
  return ExitCode::done;
}

ExitCode exit_of(const Diagnostics& errors) {
  for (const auto& error : errors)
    if (error.fault == Fault::input || error.fault == Fault::unsupported) return ExitCode::bad_input;
  return ExitCode::interrupted;
}

ExitCode exit_of_once(const Diagnostics& errors) {
  return exit_of(errors) == ExitCode::bad_input ? ExitCode::bad_input : ExitCode::some_failed;
}

void warn(const std::vector<std::string>& warnings) {
  for (const auto& warning : warnings) warn(warning);
}

ExitCode say_missing(const MergeReport& merged, const std::filesystem::path& dir) {
  std::fprintf(stderr, "%zu of %zu points have no row yet; `tenex run STUDY --out %s` continues\n", merged.missing,
               merged.rows + merged.missing, dir.string().c_str());
  return ExitCode::interrupted;
}

}  // namespace tenex::cli
