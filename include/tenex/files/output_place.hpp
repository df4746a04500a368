// What can be told of a place to write to before any work is done for it: whether its name can be meant. Whether the
// disk has room and the system allows it shows when it is written.
#pragma once

#include <cstdint>
#include <filesystem>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

/// A folder that is there or can be made. Errors (input): it, or what it is to be in, is a file; an empty or too long
/// name. `option` is where the user gave it.
[[nodiscard]] Status check_output_folder(const std::filesystem::path& path, const Place& option);

/// A file that is there or can be made. Errors (input): it is a folder or a device; no folder to write it in; an empty
/// or too long name. `option` is where the user gave it.
[[nodiscard]] Status check_output_file(const std::filesystem::path& path, const Place& option);

/// check_output_file() for a schedule of at least `least_sends`. Errors (input): also a name that no schedule file has;
/// more than JSON takes.
[[nodiscard]] Status check_schedule_output(const std::filesystem::path& path, std::uint64_t least_sends,
                                           const Place& option);

}  // namespace tenex
