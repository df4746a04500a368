// The bandwidths that a training point states: per NPU and dimension, per link, or as shares of a total.
#include <fmt/format.h>

#include <numeric>

#include "tenex/base/units.hpp"
#include "training/training_setup.hpp"

namespace tenex {
namespace {

/// Divides `total` in these shares, each rounded down; the rest goes to the first dimensions, 1 B/s each. O(shares).
std::vector<Bandwidth> share_out(Bandwidth total, const std::vector<std::int64_t>& shares) {
  __extension__ using Wide = __int128;
  const auto sum = std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
  std::vector<Bandwidth> parts;
  parts.reserve(shares.size());
  auto left = total.count();
  for (const auto share : shares) {
    const auto part = static_cast<std::int64_t>(static_cast<Wide>(total.count()) * share / sum);
    parts.push_back(Bandwidth::of(part));
    left -= part;
  }
  for (auto part = parts.begin(); left > 0; ++part, --left) *part += bytes_per_second(1);
  return parts;
}

Result<std::vector<Bandwidth>> shares_of_total(const DesignPoint& point) {
  const auto& choice = point.training();
  const auto& shape = point.topology.shape;
  const auto& shares = choice.split;
  if (shares.size() != shape.dimensions())
    return input_error(place_of_key("split"), fmt::format("{} shares for {}", shares.size(), to_string(shape)),
                       fmt::format("there is one for each of its {} dimensions", shape.dimensions()));
  auto bandwidth = share_out(choice.total_bandwidth, shares);
  for (std::size_t dimension = 0; dimension < bandwidth.size(); ++dimension)
    if (bandwidth[dimension].count() < 1)
      return input_error(place_of_key("split"), fmt::format("dimension {} gets no bandwidth", dimension + 1),
                         fmt::format("{} in these shares rounds to zero there", to_string(choice.total_bandwidth)));
  return bandwidth;
}

}  // namespace

Result<std::vector<Bandwidth>> stated_bandwidth(const DesignPoint& point) {
  if (!point.training().split.empty()) return shares_of_total(point);
  const auto& [alpha, given, per_npu] = point.topology.links;
  const auto& shape = point.topology.shape;
  const auto key = place_of_key(per_npu ? "npu_bandwidth" : "bandwidth");
  if (given.size() != 1 && given.size() != shape.dimensions())
    return input_error(key, fmt::format("{} bandwidths for {}", given.size(), to_string(shape)),
                       fmt::format("there is one for all dimensions, or one for each of the {}", shape.dimensions()));
  std::vector<Bandwidth> bandwidth;
  for (std::size_t dimension = 0; dimension < shape.dimensions(); ++dimension) {
    const auto each = given[given.size() == 1 ? 0 : dimension];
    const std::int64_t links = per_npu ? 1 : bandwidth_shares(shape, dimension);
    if (each.count() < 1 || each.count() > Bandwidth::max().count() / links)
      return input_error(key, fmt::format("dimension {} has {} links of {} B/s", dimension + 1, links, each.count()),
                         "an NPU has 1 to 9.2e18 B/s in each dimension");
    bandwidth.push_back(each * links);
  }
  return bandwidth;
}

}  // namespace tenex
