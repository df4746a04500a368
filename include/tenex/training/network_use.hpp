// What an iteration makes of each dimension of its network: cost, busy time, and what more bandwidth would save.
#pragma once

#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/base/units.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/training/training_point.hpp"

namespace tenex {

/// One dimension. Times are by LIBRA's formula, whatever model times the point's collectives.
struct DimensionUse {
  Bandwidth bandwidth;  ///< of an NPU
  Money cost;           ///< of the whole network's dimension
  SimTime busy;         ///< of the links of an NPU in an iteration: volume over bandwidth of all communications
  SimTime saved;        ///< of the iteration's time, if this dimension alone had 1 % more bandwidth
  SimTime lost;         ///< the same with 1 % less: more than `saved` where two dimensions end together
};

/// All dimensions at some bandwidths.
struct NetworkUse {
  std::vector<DimensionUse> dimensions;
  SimTime time;  ///< of the iteration
  Money cost;    ///< of the network
};

/// The use of a prepared point's network if its bandwidths were these, one per dimension. Errors (resource): times
/// beyond int64. O(dimensions^2 * communications).
[[nodiscard]] Result<NetworkUse> network_use(const DesignPoint& point, const PreparedTraining& prepared,
                                             const std::vector<Bandwidth>& bandwidth);

}  // namespace tenex
