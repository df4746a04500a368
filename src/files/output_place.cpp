#include "tenex/files/output_place.hpp"

#include <cerrno>
#include <string>
#include <system_error>

#include <fmt/core.h>

#include "files/schedule_data.hpp"

namespace tenex {
namespace {

namespace fs = std::filesystem;

std::string quoted(const fs::path& path) { return fmt::format("\"{}\"", path.string()); }

/// Refuses names that no file or folder can have.
Status check_name(const fs::path& path, const Place& option) {
  if (path.empty()) return input_error(option, "an empty name", {}, "name what is to be written");
  std::error_code error;
  (void)fs::status(path, error);
  if (error == std::errc::filename_too_long || error == std::errc::too_many_symbolic_link_levels)
    return input_error(option, fmt::format("{} cannot be written", quoted(path)), error.message(),
                       "choose another name");
  return success();
}

}  // namespace

Status check_output_folder(const fs::path& path, const Place& option) {
  if (auto status = check_name(path, option); !status) return status;
  std::error_code error;
  // The nearest existing entry must be a folder: the missing folders are made in it.
  for (auto each = fs::absolute(path, error).lexically_normal(); !each.empty(); each = each.parent_path()) {
    const auto found = fs::status(each, error);
    if (fs::is_directory(found)) break;
    if (fs::exists(found))
      return input_error(option, fmt::format("{} is no folder", quoted(each)), "results are written to a folder",
                         "choose another name");
    if (each == each.parent_path()) break;
  }
  return success();
}

Status check_output_file(const fs::path& path, const Place& option) {
  if (auto status = check_name(path, option); !status) return status;
  // A file is first written under a temporary name, which is longer.
  constexpr std::size_t kLongestName = 255 - 32;
  if (path.filename().native().size() > kLongestName)
    return input_error(option, fmt::format("{} cannot be written", quoted(path)),
                       fmt::format("names have up to {} bytes", kLongestName), "choose a shorter one");
  std::error_code error;
  const auto found = fs::status(path, error);
  if (fs::is_directory(found) || !path.has_filename())
    return input_error(option, fmt::format("{} is a folder", quoted(path)), "a file is to be written",
                       "name a file in it");
  if (fs::exists(found) && !fs::is_regular_file(found) && found.type() != fs::file_type::unknown)
    return input_error(option, fmt::format("{} is no regular file", quoted(path)), "it would be replaced by one",
                       "choose another name");
  const auto folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const auto parent = fs::status(folder, error);
  if (parent.type() == fs::file_type::not_found)
    return input_error(option, fmt::format("{} cannot be written", quoted(path)),
                       fmt::format("there is no folder {}", quoted(folder)), "make it, or choose another");
  if (fs::exists(parent) && !fs::is_directory(parent) && parent.type() != fs::file_type::unknown)
    return input_error(option, fmt::format("{} cannot be written", quoted(path)),
                       fmt::format("{} is no folder", quoted(folder)), "choose another name");
  return success();
}

Status check_schedule_output(const fs::path& path, std::uint64_t least_sends, const Place& option) {
  if (auto status = check_output_file(path, option); !status) return status;
  const auto form = schedule_form_of(path);
  if (!form) return form.errors();
  if (*form == ScheduleForm::json && least_sends > kMostJsonSends)
    return too_large_for_json(path, fmt::format("at least {}", least_sends));
  return success();
}

}  // namespace tenex
