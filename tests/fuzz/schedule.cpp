// Fuzz target: the importer of schedules from JSON, written by people and other tools.
#include "targets.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "check_schedule.hpp"
#include "tenex/files/schedule_file.hpp"

namespace {

/// A temporary file of this process, removed at its end.
struct Draft {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("tenex-fuzz-" + std::to_string(::getpid()) + ".json");
  ~Draft() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

}  // namespace

void tenex::fuzz::schedule(std::string_view input) {
  static const Draft draft;
  std::ofstream(draft.path, std::ios::binary).write(input.data(), static_cast<std::streamsize>(input.size()));
  const auto content = tenex::read_schedule(draft.path);
  if (!content.ok() && content.errors().empty()) __builtin_trap();
  if (content.ok()) tenex::fuzz::check_schedule(*content);
}
