// Internal to pages: the scripts, styles and skeletons of src/pages/web and the libraries of scripts, as they were when
// this program was built.
#pragma once

#include <string_view>
#include <vector>

#include "tenex/files/input_files.hpp"

namespace tenex {

/// Files of src/pages/web, with their extensions: "view.js".
[[nodiscard]] const std::vector<BuiltinFile>& page_files();
/// The libraries, in the order in which a page loads them; empty: built without them.
[[nodiscard]] const std::vector<BuiltinFile>& page_libraries();
/// SHA-256 in hexadecimal of a file or a library; empty: unknown.
[[nodiscard]] std::string_view page_digest(std::string_view name);
/// The file of this name. InvariantError where there is none.
[[nodiscard]] std::string_view page_file(std::string_view name);

}  // namespace tenex
