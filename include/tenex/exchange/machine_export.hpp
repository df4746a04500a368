// Machines for other tools.
#pragma once

#include <string>

#include "tenex/base/diagnostic.hpp"
#include "tenex/files/input_files.hpp"

namespace tenex {

/// ASTRA-sim's analytical network (network.yml) of a shape; import_machine() reads the same shape, alphas and
/// bandwidths back, exactly. Errors (unsupported): what the format cannot say: a family, a line, a tree of switches, a
/// bandwidth per NPU. O(dimensions).
[[nodiscard]] Result<std::string> astra_network_text(const ShapedNetwork& network);

}  // namespace tenex
