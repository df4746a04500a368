// A training point's network by dimension, beside the same total bandwidth in equal shares.
#pragma once

#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/codesign/network_cost.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/training/network_use.hpp"

namespace tenex {

/// The two networks.
struct DimensionTable {
  std::vector<std::string> kinds;  ///< by which dimensions are priced
  NetworkUse chosen;               ///< with the point's bandwidths
  NetworkUse equal;                ///< with their sum in equal shares
};

/// The table of a training point. Errors: those of prepare_training() and network_use().
[[nodiscard]] Result<DimensionTable> dimension_table(const DesignPoint& point, Cache& cache);

}  // namespace tenex
