// Internal to exchange: boxes joined by a network over their NICs.
#pragma once

#include <cstdint>
#include <vector>

#include "exchange/machine_draft.hpp"
#include "exchange/rate_choice.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/exchange/machine_import.hpp"

namespace tenex::exchange {

/// A NIC of a box: links of these rates, one per port, from this vertex into the network.
struct Uplink {
  std::uint32_t vertex = 0;
  std::vector<std::uint32_t> rates;
};

/// `options.nodes` copies of the box, joined by `options.fabric`. NIC r of box b is endpoint r * nodes + b of the
/// network, so that a leaf switch with as many endpoints as there are boxes is a rail. Numbers of links between
/// switches come from `rates`. Errors (input, at --fabric or --nodes): no NIC, no such network, a network of another
/// size, one in which endpoints pass on.
[[nodiscard]] Result<MachineDraft> join_boxes(const MachineDraft& box, const std::vector<Uplink>& uplinks,
                                              const ImportOptions& options, RateChoice& rates);

}  // namespace tenex::exchange
