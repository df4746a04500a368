// merge: merges one result folder, gathers several folders of one study, or joins the results of several studies in one
// file.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "study_report.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/files/output_place.hpp"
#include "tenex/store/gather.hpp"
#include "tenex/store/merge_studies.hpp"
#include "tenex/store/store.hpp"

namespace tenex::cli {
namespace {

namespace fs = std::filesystem;

bool is_file_name(const fs::path& path) { return path.extension() == ".h5"; }

/// The files to join; folders are merged anew first. `missing` counts points without a row.
Result<std::vector<fs::path>> merged_files(const std::vector<fs::path>& names, std::size_t& missing) {
  std::vector<fs::path> files;
  Diagnostics wrong;
  for (const auto& name : names) {
    std::error_code error;
    if (!fs::is_directory(name, error)) {
      files.push_back(name);
      continue;
    }
    const auto study = read_stored_study(name, vocabulary());
    const auto report = study ? merge(name, *study) : study.errors();
    if (!report) {
      append(wrong, report.errors());
      continue;
    }
    warn(report->warnings);
    missing += report->missing;
    files.push_back(report->file);
  }
  if (!wrong.empty()) return wrong;
  return files;
}

/// Joins several studies in one file.
ExitCode join_studies(const std::vector<fs::path>& names, const fs::path& out) {
  if (const auto place = check_output_file(out, {"--out", 0, 0}); !place) return refuse(place.errors());
  std::size_t missing = 0;
  const auto files = merged_files(names, missing);
  if (!files) return refuse(files.errors(), exit_of(files.errors()));
  const auto report = merge_studies(out, *files);
  if (!report) return refuse(report.errors(), exit_of_once(report.errors()));
  fmt::print("{} rows of {} studies, {} not ok, {} found more than once\n", report->rows, files->size(), report->failed,
             report->repeated);
  const auto printed = print_summary(out);
  if (printed != ExitCode::done) return printed;
  if (missing > 0) {
    std::fprintf(stderr, "%zu points have no row yet; `tenex run` continues their studies\n", missing);
    return ExitCode::interrupted;
  }
  return report->failed > 0 ? ExitCode::some_failed : ExitCode::done;
}

/// Merges one study, from one folder or from several.
ExitCode merge_study(const std::vector<fs::path>& dirs, const fs::path& asked) {
  const auto& out = asked.empty() ? dirs.front() : asked;
  const auto study = read_stored_study(dirs.front(), vocabulary());
  if (!study) return refuse(study.errors());
  if (!asked.empty()) {
    if (const auto place = check_output_folder(out, {"--out", 0, 0}); !place) return refuse(place.errors());
    const auto gathered = gather(out, dirs, *study);
    if (!gathered) return refuse(gathered.errors(), exit_of(gathered.errors()));
    warn(gathered->warnings);
    fmt::print("{} rows in {} shards taken from {} folders\n", gathered->rows, gathered->shards, dirs.size());
  }
  const auto report = merge(out, *study);
  if (!report) return refuse(report.errors(), exit_of_once(report.errors()));
  warn(report->warnings);
  fmt::print("{} rows, {} missing, {} not ok, {} found more than once{}\n", report->rows, report->missing,
             report->failed, report->repeated,
             report->pruned > 0 ? fmt::format(", {} pruned", report->pruned) : std::string());
  const auto printed = print_summary(report->file);
  if (printed != ExitCode::done) return printed;
  if (report->missing > 0) return say_missing(*report, out);
  return report->failed > 0 ? ExitCode::some_failed : ExitCode::done;
}

}  // namespace

ExitCode execute(const MergeArguments& arguments) {
  auto names = arguments.dirs;
  auto out = arguments.out;
  std::error_code error;
  // Accepts `merge OUT.h5 DIR...` unless it would overwrite a file that may be meant as an input.
  if (out.empty() && names.size() > 1 && is_file_name(names.front()) && !fs::exists(names.front(), error)) {
    out = names.front();
    names.erase(names.begin());
  }
  if (names.size() > 1 && out.empty())
    return refuse({input_error({"tenex merge", 0, 0}, "several folders, and none to merge them in", {},
                               "give --out DIR, a folder that may be new, or --out FILE.h5 for several studies")});
  return is_file_name(out) ? join_studies(names, out) : merge_study(names, out);
}

}  // namespace tenex::cli
