// Internal to pages: large networks as groups of NPUs, and schedules as shares of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenex/pages/view.hpp"

namespace tenex {

/// A network whose vertices stand for groups of another's.
struct GroupedNetwork {
  Topology topology;                    ///< a link from group to group, as fast as all of those together
  std::optional<Shape> shape;           ///< of the groups
  std::size_t npus_per_group = 1;       ///< the last group may have fewer
  std::vector<std::uint32_t> link_of;   ///< per link of the network; kInside: within a group
  std::vector<std::uint32_t> links_in;  ///< per grouped link: how many it stands for
  static constexpr std::uint32_t kInside = 0xFFFFFFFFU;
};

/// Groups of NPUs with consecutive ids, at most `most` of them: of a product the inner dimensions. Switches keep to
/// themselves unless they are more than `most`, and are then grouped likewise. O(links log links).
[[nodiscard]] GroupedNetwork group_network(const Topology& topology, const std::optional<Shape>& shape,
                                           std::size_t most);

/// How much of each span of time each link is busy: spans by link, in 255ths, for sums and for copies.
struct BusyShares {
  std::size_t spans = 0;
  std::vector<std::uint8_t> reduce;
  std::vector<std::uint8_t> copy;
  double end = 0;  ///< the last arrival, in ps
};

/// `groups`: nullptr counts each link by itself. O(sends) time, a segment of memory.
[[nodiscard]] BusyShares measure_use(const ScheduleFile& file, const GroupedNetwork* groups, std::size_t spans);

}  // namespace tenex
