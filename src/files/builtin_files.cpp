// Finds a built-in file by its name. The files are in a source that src/files/builtin_files.cmake writes.
#include "tenex/files/input_files.hpp"

#include <algorithm>

namespace tenex {

std::optional<std::string_view> find_builtin(const std::vector<BuiltinFile>& files, std::string_view name) {
  const auto found = std::find_if(files.begin(), files.end(), [name](const auto& file) { return file.name == name; });
  if (found == files.end()) return std::nullopt;
  return found->content;
}

}  // namespace tenex
