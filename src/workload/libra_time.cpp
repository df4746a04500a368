// Volumes per dimension as exact fractions of the collective's size, and the time of the slowest dimension.
#include "tenex/workload/libra_time.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "tenex/topology/block.hpp"
#include "workload/exact_arithmetic.hpp"
#include "workload/saturating.hpp"

namespace tenex {

namespace {

/// The bytes per byte of S that go up for each member of a group at the switches with `below` of its members each,
/// before derating: with one each, what an NPU sends. `inner` is g_1 .. g_(i-1).
Fraction plain_volume(TrafficKind kind, std::int64_t members, std::int64_t below, std::int64_t inner, bool in_network) {
  switch (kind) {
    case TrafficKind::all_reduce:
      if (in_network) return {1, inner * below};
      return product({2 * (members - below), members}, {1, inner * below});
    case TrafficKind::reduce_scatter:
    case TrafficKind::all_gather:
      return product({members - below, members}, {1, inner * below});
    case TrafficKind::all_to_all:
      return {members - below, members};
    case TrafficKind::point_to_point:
      break;
  }
  return {1, 1};
}

/// A level of switches below the top one of a group's dimension that the group's messages climb.
struct Climb {
  std::int64_t below = 1;  ///< members below each of its switches; 1 where switches differ in that
  std::int64_t sharers =
      1;  ///< members that share what one of them has: oversubscriptions up to this level, multiplied
};

std::vector<Climb> climbs_of(const Block& block, const DimensionShare& share) {
  std::vector<Climb> climbs;
  std::int64_t sharers = 1;
  for (const auto& [npus, oversubscription] : block.levels) {
    if (npus % (share.members * share.stride) == 0) break;  // the group is below one switch
    sharers *= oversubscription;
    const auto below = npus % share.stride == 0 ? npus / share.stride : 1;
    climbs.push_back({share.members % below == 0 ? below : 1, sharers});
  }
  return climbs;
}

Fraction larger(const Fraction& a, const Fraction& b) {
  const bool first = static_cast<Wide>(a.numerator) * static_cast<Wide>(b.denominator) >=
                     static_cast<Wide>(b.numerator) * static_cast<Wide>(a.denominator);
  return first ? a : b;
}

}  // namespace

Fraction derating(const Block& block, const DimensionShare& share, TrafficKind kind) {
  const auto part = block.rule->part(block, {share.extent, share.members, share.stride});
  const std::int64_t links = kind == TrafficKind::point_to_point ? 1 : part.links;
  return product({links, block.rule->bandwidth_shares(share.extent)}, {1, part.hops});
}

std::int64_t oversubscription(const Block& block, const DimensionShare& share) {
  const auto climbs = climbs_of(block, share);
  return climbs.empty() ? 1 : climbs.back().sharers;
}

std::vector<DimensionVolume> libra_volumes(TrafficKind kind, const GroupSpan& span, const Shape& shape,
                                           const LibraModel& model) {
  std::vector<DimensionVolume> volumes;
  volumes.reserve(span.shares.size());
  std::int64_t inner = 1;
  for (const auto& share : span.shares) {
    const bool in_network = !model.in_network.empty() && model.in_network[share.dimension];
    auto volume = plain_volume(kind, share.members, 1, inner, in_network);
    if (model.derated) volume = quotient(volume, derating(shape.blocks[share.dimension], share, kind));
    for (const auto& [below, sharers] : climbs_of(shape.blocks[share.dimension], share))
      volume = larger(volume, product(plain_volume(kind, share.members, below, inner, in_network), {sharers, 1}));
    volumes.push_back({share.dimension, volume});
    inner *= share.members;
  }
  return volumes;
}

SimTime libra_time(const std::vector<DimensionVolume>& volumes, Bytes size,
                   const std::vector<Bandwidth>& npu_bandwidth) {
  constexpr Wide kScale = 1'000'000'000'000U;
  constexpr Wide kLargest = ~Wide{0} / kScale / 2;
  SimTime slowest;
  for (const auto& volume : volumes) {
    const auto bandwidth = npu_bandwidth.size() == 1 ? npu_bandwidth[0] : npu_bandwidth[volume.dimension];
    const Wide moved = static_cast<Wide>(size.count()) * static_cast<Wide>(volume.per_byte.numerator);
    if (moved > kLargest) return SimTime::max();
    const Wide divisor = static_cast<Wide>(volume.per_byte.denominator) * static_cast<Wide>(bandwidth.count());
    // divisor < 2^126 and the dividend < 2^127: the sum below does not wrap.
    const Wide time = (moved * kScale + divisor - 1) / divisor;
    if (time > static_cast<Wide>(kMostInt64)) return SimTime::max();
    slowest = std::max(slowest, SimTime::of(static_cast<std::int64_t>(time)));
  }
  return slowest;
}

Result<LibraTime> LibraTime::make(const Shape& shape, std::vector<Bandwidth> npu_bandwidth, LibraModel model) {
  Diagnostics errors;
  const auto refuse = [&](std::string problem, std::string why) {
    errors.push_back(input_error({}, std::move(problem), std::move(why)));
  };
  const auto dimensions = shape.dimensions();
  if (!shape.is_product()) {
    refuse(fmt::format("{} has no LIBRA time", to_string(shape)), "the formula is for products of dimensions");
    return errors;
  }
  if (npu_bandwidth.size() != 1 && npu_bandwidth.size() != dimensions)
    refuse(fmt::format("{} bandwidths for {}", npu_bandwidth.size(), to_string(shape)),
           fmt::format("there is one for all dimensions, or one for each of the {}", dimensions));
  for (const auto bandwidth : npu_bandwidth)
    if (bandwidth.count() < 1) refuse("a bandwidth that is not positive", "every dimension needs bandwidth");
  if (!model.in_network.empty() && model.in_network.size() != dimensions)
    refuse(fmt::format("{} in-network flags for {}", model.in_network.size(), to_string(shape)),
           fmt::format("there are none, or one for each of the {} dimensions", dimensions));
  else
    for (std::size_t dimension = 0; dimension < model.in_network.size(); ++dimension)
      if (model.in_network[dimension] && !shape.blocks[dimension].rule->through_switch)
        refuse(fmt::format("in-network reduction in dimension {} of {}", dimension + 1, to_string(shape)),
               "only a switch can reduce in the network");
  if (!errors.empty()) return errors;
  LibraTime time;
  time.shape_ = shape;
  time.bandwidth_ = std::move(npu_bandwidth);
  time.model_ = std::move(model);
  return time;
}

Result<SimTime> LibraTime::time(const Communication& communication, const Mapping& mapping) const {
  if (mapping.shape() != shape_)
    return input_error({},
                       fmt::format("a mapping on {} has no time on {}", to_string(mapping.shape()), to_string(shape_)),
                       "both must be the same shape");
  return libra_time(libra_volumes(communication.kind, mapping.span(communication.scope), shape_, model_),
                    communication.size, bandwidth_);
}

}  // namespace tenex
