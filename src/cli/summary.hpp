// Internal to cli: a merged result in one table.
#pragma once

#include <filesystem>
#include <string>

#include "tenex/base/diagnostic.hpp"

namespace tenex::cli {

/// Per collective and algorithm: points, verified rows, how many at the bound, geometric mean and least efficiency, and
/// the best algbw. Rows that are not ok are counted apart.
[[nodiscard]] Result<std::string> summarize(const std::filesystem::path& file);

}  // namespace tenex::cli
