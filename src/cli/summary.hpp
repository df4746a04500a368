// Internal to cli: a merged result in one table.
#pragma once

#include <filesystem>
#include <string>

#include "tenex/base/diagnostic.hpp"

namespace tenex::cli {

/// Per collective and algorithm: points, verified rows, how many at the bound, geometric mean and least efficiency, and
/// the best algbw. Rows that train a model have a table of their own, per workload and scheme: the shortest time and
/// what its network costs, and the best performance per cost. Rows that are not ok are counted apart, by what was
/// wrong, with what to do about want of memory.
[[nodiscard]] Result<std::string> summarize(const std::filesystem::path& file);

}  // namespace tenex::cli
