// --version, and --version --json: what this program was built from, and what it reads and writes.
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "commands.hpp"
#include "mpi_session.hpp"
#include "report.hpp"
#include "tenex/base/version.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/design/study.hpp"
#include "tenex/files/column_file.hpp"
#include "tenex/store/store.hpp"

namespace tenex::cli {
namespace {

#if defined(__clang__)
constexpr const char* kCompiler = "Clang " __clang_version__;
#else
constexpr const char* kCompiler = "GCC " __VERSION__;
#endif

}  // namespace

std::string version_text() {
  const auto libraries = optional_libraries();
  return fmt::format("tenex {} ({}{})\nwith {}", version(), git_revision(), git_dirty() ? ", modified" : "",
                     libraries.empty() ? "no optional library" : libraries);
}

ExitCode execute(const VersionArguments& /*arguments*/) {
  Report report;
  report.add("version", std::string(version()));
  report.add("git_revision", std::string(git_revision()));
  report.add("git_dirty", git_dirty());
  report.add("compiler", std::string(kCompiler));
  report.add("mpi", mpi_library());
  report.add("hdf5", hdf5_version());
  report.add("optional_libraries", std::string(optional_libraries()));
  report.add("physics", physics_version);
  report.add("study_schema", kStudySchema);
  report.add("result_schema", result_schema());
  std::fputs(to_json(report).c_str(), stdout);
  return ExitCode::done;
}

}  // namespace tenex::cli
