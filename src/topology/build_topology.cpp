// From a shape to its links, dimension by dimension, in each by increasing NPU id.
#include <limits>

#include <fmt/core.h>

#include "tenex/topology/shape.hpp"
#include "tenex/topology/topology.hpp"
#include "topology/shapes/block.hpp"

namespace tenex {

namespace {

/// One value for every dimension, or the dimension's own.
template <class T>
T pick(const std::vector<T>& values, std::size_t dimension) {
  return values.size() == 1 ? values.front() : values[dimension];
}

Diagnostics check_counts(const Shape& shape, const ShapeLinks& links) {
  Diagnostics errors;
  const auto check = [&](std::size_t count, std::string_view what) {
    if (count == 1 || count == shape.dimensions()) return;
    errors.push_back(
        input_error({}, fmt::format("{} {} for {}", count, what, to_string(shape)),
                    fmt::format("the shape has {} dimensions", shape.dimensions()),
                    shape.dimensions() == 1 ? "give one" : fmt::format("give one for all or {}", shape.dimensions())));
  };
  check(links.alpha.size(), links.alpha.size() == 1 ? "alpha" : "alphas");
  check(links.bandwidth.size(), links.bandwidth.size() == 1 ? "bandwidth" : "bandwidths");
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max() - 1;
  const ShapeCounts counts = count_shape(shape);
  if (counts.links > most || shape.npus() + counts.switches > most) {
    errors.push_back(
        resource_error(fmt::format("{} has {} links and {} switches", to_string(shape), counts.links, counts.switches),
                       fmt::format("at most {} are addressed", most)));
  }
  return errors;
}

/// The dimension with its link class; `bandwidth` divided over the NPU's out-links where it is per NPU.
Result<Dimension> resolve(const Shape& shape, const ShapeLinks& links, std::size_t index) {
  Dimension dimension = dimension_of(shape, index);
  const Bandwidth given = pick(links.bandwidth, index);
  dimension.link = {pick(links.alpha, index), given};
  const auto at = [&] { return fmt::format("in dimension {} of {}", index + 1, to_string(shape)); };
  if (dimension.link.alpha < SimTime::zero()) {
    return input_error({}, fmt::format("a negative alpha {}", at()), "a latency is at least 0");
  }
  if (given <= Bandwidth::zero()) {
    return input_error({}, fmt::format("a bandwidth of {} B/s {}", given.count(), at()), "a bandwidth is positive");
  }
  if (!links.per_npu) return dimension;
  const std::uint32_t shares = rule_of(shape.blocks[index].kind).bandwidth_shares(dimension);
  dimension.link.bandwidth = given / shares;
  if (dimension.link.bandwidth == Bandwidth::zero()) {
    return input_error({}, fmt::format("npu_bandwidth of {} B/s {}", given.count(), at()),
                       fmt::format("divided over {} links it rounds to zero", shares),
                       fmt::format("use at least {}B/s", shares));
  }
  return dimension;
}

}  // namespace

ShapeCounts count_shape(const Shape& shape) {
  ShapeCounts counts;
  for (std::size_t index = 0; index < shape.dimensions(); ++index) {
    const BlockRule& rule = rule_of(shape.blocks[index].kind);
    const Dimension dimension = dimension_of(shape, index);
    counts.links += rule.count_links(dimension);
    counts.switches += rule.count_switches(dimension);
  }
  return counts;
}

Result<Topology> build_topology(const Shape& shape, const ShapeLinks& links) {
  if (shape.blocks.empty()) return input_error({}, "a shape without blocks", "a shape has at least one dimension");
  Diagnostics errors = check_counts(shape, links);
  if (!errors.empty()) return errors;
  std::vector<Dimension> dimensions;
  for (std::size_t index = 0; index < shape.dimensions(); ++index) {
    auto dimension = resolve(shape, links, index);
    if (dimension) {
      dimensions.push_back(*dimension);
    } else {
      append(errors, dimension.errors());
    }
  }
  if (!errors.empty()) return errors;
  TopologyBuilder builder(shape.npus());
  builder.reserve_links(count_shape(shape).links);
  for (std::size_t index = 0; index < shape.dimensions(); ++index) {
    rule_of(shape.blocks[index].kind).add_links(dimensions[index], builder);
  }
  builder.declare_shape(shape);
  return std::move(builder).build();
}

}  // namespace tenex
