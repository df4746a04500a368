// Builds the links of a shape, dimension by dimension or, in families, level by level, and by increasing vertex id in
// each.
#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "tenex/topology/family.hpp"
#include "tenex/topology/plan.hpp"
#include "tenex/topology/shape.hpp"
#include "tenex/topology/topology.hpp"
#include "topology/shapes/block.hpp"

namespace tenex {

namespace {

/// The one value for every dimension, or the dimension's own.
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
                    fmt::format("the shape has {} {}", shape.dimensions(), shape.dimensions_word()),
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

/// The link class of a dimension or level. Where `bandwidth` is per NPU, it is divided over the NPU's out-links.
Result<LinkClass> resolve(const Shape& shape, const ShapeLinks& links, std::size_t index) {
  const Bandwidth given = pick(links.bandwidth, index);
  LinkClass link{pick(links.alpha, index), given};
  const auto at = [&] { return fmt::format("in {} {} of {}", shape.dimension_word(), index + 1, to_string(shape)); };
  if (link.alpha < SimTime::zero()) {
    return input_error({}, fmt::format("a negative alpha {}", at()), "a latency is at least 0");
  }
  if (given <= Bandwidth::zero()) {
    return input_error({}, fmt::format("a bandwidth of {} B/s {}", given.count(), at()), "a bandwidth is positive");
  }
  if (!links.per_npu) return link;
  const std::uint32_t shares = bandwidth_shares(shape, index);
  link.bandwidth = given / shares;
  if (link.bandwidth == Bandwidth::zero()) {
    return input_error({}, fmt::format("npu_bandwidth of {} B/s {}", given.count(), at()),
                       fmt::format("divided over {} links it rounds to zero", shares),
                       fmt::format("use at least {}B/s", shares));
  }
  return link;
}

/// The most links of an unwound network that share a link of this dimension or level: the degree on single switches,
/// a bound where switches are joined with each other. 1 where nothing is unwound.
std::int64_t most_unwound_shares(const Shape& shape, std::size_t index, std::uint32_t unwind) {
  if (unwind == 0) return 1;
  if (!shape.is_product()) {
    if (shape.family->switches == nullptr) return 1;
    const auto npus = static_cast<std::int64_t>(shape.npus());
    return npus * std::clamp<std::int64_t>(npus - 1, 1, unwind);  // all of them
  }
  const Block& block = shape.blocks[index];
  if (!block.rule->through_switch || block.size == 1) return 1;
  const std::int64_t degree = std::min(unwind, block.size - 1);
  // A switch of a tree has consecutive NPUs below it: k of its links to the k-th next NPU lead to others.
  return block.levels.empty() ? degree : degree * (degree + 1) / 2;
}

}  // namespace

ShapeCounts count_shape(const Shape& shape) {
  ShapeCounts counts;
  if (!shape.is_product()) {
    for (const FamilyLevel& level : shape.family->levels(shape.arguments)) counts.links += level.links;
    if (shape.family->switches != nullptr) counts.switches = shape.family->switches(shape.arguments);
    return counts;
  }
  for (std::size_t index = 0; index < shape.dimensions(); ++index) {
    const BlockRule& rule = *shape.blocks[index].rule;
    const Dimension dimension = dimension_of(shape, index);
    counts.links += rule.count_links(dimension);
    counts.switches += count_switches(rule, dimension);
  }
  return counts;
}

std::uint64_t links_between_switches(const Shape& shape, std::size_t dimension) {
  const Block& block = shape.blocks[dimension];
  if (block.levels.empty()) return 0;
  const Dimension placed = dimension_of(shape, dimension);
  return block.rule->count_links(placed) / 2 - placed.npus;  // the others join NPUs
}

std::uint32_t bandwidth_shares(const Shape& shape, std::size_t dimension) {
  if (!shape.is_product()) return shape.family->levels(shape.arguments)[dimension].bandwidth_shares;
  return shape.blocks[dimension].rule->bandwidth_shares(shape.blocks[dimension].size);
}

Diagnostics check_shape(const Shape& shape, const ShapeLinks& links, std::uint32_t unwind) {
  if (shape.dimensions() == 0) return {input_error({}, "a shape without blocks", "a shape has at least one dimension")};
  Diagnostics errors = check_counts(shape, links);
  if (!errors.empty()) return errors;
  for (std::size_t index = 0; index < shape.dimensions(); ++index) {
    const auto link = resolve(shape, links, index);
    const auto shares = most_unwound_shares(shape, index, unwind);
    if (!link) {
      append(errors, link.errors());
    } else if (link->bandwidth / shares == Bandwidth::zero()) {
      errors.push_back(input_error(
          {}, fmt::format("{} {} of {} cannot be unwound", shape.dimension_word(), index + 1, to_string(shape)),
          fmt::format("{} B/s over {} links round to zero", link->bandwidth.count(), shares)));
    }
  }
  return errors;
}

std::vector<LinkClass> link_classes(const Shape& shape, const ShapeLinks& links, std::uint32_t unwind) {
  if (!check_shape(shape, links, unwind).empty()) return {};
  std::vector<LinkClass> classes;
  for (std::size_t index = 0; index < shape.dimensions(); ++index) {
    classes.push_back(*resolve(shape, links, index));
    classes.back().bandwidth = classes.back().bandwidth / most_unwound_shares(shape, index, unwind);
  }
  return classes;
}

Result<Topology> build_topology(const Shape& shape, const ShapeLinks& links) {
  if (Diagnostics errors = check_shape(shape, links); !errors.empty()) return errors;
  const std::vector<LinkClass> classes = link_classes(shape, links);
  TopologyBuilder builder(shape.npus());
  builder.reserve_links(count_shape(shape).links);
  if (!shape.is_product()) shape.family->add_links(shape.arguments, classes, builder);
  for (std::size_t index = 0; index < shape.blocks.size(); ++index) {
    Dimension dimension = dimension_of(shape, index);
    dimension.link = classes[index];
    shape.blocks[index].rule->add_links(dimension, builder);
  }
  builder.declare_shape(shape);
  return std::move(builder).build();
}

}  // namespace tenex
