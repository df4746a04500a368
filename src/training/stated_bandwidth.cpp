// The bandwidths that a training point states: per NPU and dimension, per link, or as shares of a total.
#include <fmt/format.h>

#include "tenex/base/units.hpp"
#include "tenex/design/divide_bandwidth.hpp"
#include "training/training_setup.hpp"

namespace tenex {
namespace {

Result<std::vector<Bandwidth>> shares_of_total(const DesignPoint& point) {
  const auto& choice = point.training();
  const auto& shape = point.topology.shape;
  const auto& shares = choice.split;
  if (shares.size() != shape.dimensions())
    return input_error(place_of_key("split"), fmt::format("{} shares for {}", shares.size(), to_string(shape)),
                       fmt::format("there is one for each of its {} dimensions", shape.dimensions()));
  auto bandwidth = divide_bandwidth(choice.total_bandwidth, shares);
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

Diagnostics bandwidth_beyond_limits(const CostRates& rates, const std::vector<Bandwidth>& bandwidth) {
  Diagnostics errors;
  for (const auto& [dimension, most, kind] : rates.limits)
    if (bandwidth[dimension] > most)
      errors.push_back(
          input_error(place_of_key("dimension_kinds"),
                      fmt::format("dimension {} ({}) has {}", dimension + 1, kind, to_string(bandwidth[dimension])),
                      fmt::format("the kind {} has at most {} per NPU", kind, to_string(most)),
                      "choose another kind for the dimension, or less bandwidth"));
  return errors;
}

}  // namespace tenex
