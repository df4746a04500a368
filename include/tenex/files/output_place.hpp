// Checks of an output path before any work is done for it. A full disk or a missing permission shows only when the file
// is written.
#pragma once

#include <cstdint>
#include <filesystem>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

/// Checks that the folder exists or can be made. Errors (input): it, or a folder above it, is a file; an empty or too
/// long name. `option` is where the user gave it.
[[nodiscard]] Status check_output_folder(const std::filesystem::path& path, const Place& option);

/// Checks that the file exists or can be made. Errors (input): it is a folder or a device; no folder to write it in; an
/// empty or too long name. `option` is where the user gave it.
[[nodiscard]] Status check_output_file(const std::filesystem::path& path, const Place& option);

/// check_output_file() for a schedule of at least `least_sends`. Errors (input): also an extension that schedule files
/// do not have; more sends than JSON takes.
[[nodiscard]] Status check_schedule_output(const std::filesystem::path& path, std::uint64_t least_sends,
                                           const Place& option);

}  // namespace tenex
