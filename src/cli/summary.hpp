// Internal to cli: a merged result as tables.
#pragma once

#include <filesystem>
#include <string>

#include "tenex/base/diagnostic.hpp"

namespace tenex::cli {

/// Per collective and algorithm: number of points, of verified rows and of rows at the bound, geometric mean and least
/// efficiency, and the best algbw. Rows that train a model have a table of their own, per workload and scheme: the
/// shortest time, the cost of its network, and the best performance per cost. Rows that are not ok are counted
/// separately by cause, with advice for lack of memory.
[[nodiscard]] Result<std::string> summarize(const std::filesystem::path& file);

}  // namespace tenex::cli
