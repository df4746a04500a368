// A play on switches: the links of an unwound network as paths over the switches that it was unwound from.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/topology.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {

/// The path of each unwound link in the links of the network on which a schedule is played: its own, or wires.
class PlayedPaths {
 public:
  [[nodiscard]] std::span<const LinkId> operator[](LinkId link) const {
    return std::span(hops_).subspan(begins_[link.index()], begins_[link.index() + 1] - begins_[link.index()]);
  }
  [[nodiscard]] std::size_t size() const { return begins_.size() - 1; }

 private:
  friend class PlayedPathFinder;

  std::vector<LinkId> hops_;
  std::vector<std::size_t> begins_{0};
};

/// What is played on what.
struct SwitchedInput {
  const Topology& network;
  const UnwoundNetwork& unwound;
  const PlayedPaths& paths;
  const Collective& collective;
  const Schedule& schedule;  ///< for unwound.topology
  const SimulationOptions& options;
  bool overlap = true;  ///< of the halves of an All-Reduce
};

/// Errors (input): the network has no path for an unwound link. O(links); on wires O(links * links of an NPU).
[[nodiscard]] Result<PlayedPaths> find_played_paths(const Topology& network, const UnwoundNetwork& unwound);

}  // namespace tenex
