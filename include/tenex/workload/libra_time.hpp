// LIBRA's collective time: the largest over the dimensions of volume over bandwidth (Won et al., LIBRA, 2024, IV-C).
//
// A multi-rail collective runs on one dimension after another, its chunks in a pipeline whose bottleneck is one
// dimension. For a group with g_i members in its i-th dimension and collective size m, the bytes that each NPU moves
// there are
//   All-Reduce                  2m (g_i - 1) / (g_1 .. g_i)
//   Reduce-Scatter, All-Gather   m (g_i - 1) / (g_1 .. g_i)
//   All-to-All                   m (g_i - 1) / g_i
//   point-to-point               m in every dimension that the stages span: the slowest boundary sets the pace
//   All-Reduce, in-network       m / (g_1 .. g_(i-1)) in a dimension whose switches reduce
// `libra` gives a group on a part of a dimension all of B_i, as the public LIBRA does. `libra_derated` gives it the
// bandwidth of its own links (derating()). Both are volume over bandwidth, so the optimizer can take either.
//
// LIBRA has no term for a hierarchy of switches inside a dimension (its Fig. 4b). Here every level that a group's
// messages climb counts as the NPUs' links do, and the slowest sets the time. A level whose switches have h_j members
// of the group below each, and which leaves each of them 1/o_j of B_i (the product of the oversubscriptions), carries
// for each member
//   All-Reduce                  2m (g_i - h_j) / (g_1 .. g_i h_j): halving and doubling sums within a switch first
//   Reduce-Scatter, All-Gather   m (g_i - h_j) / (g_1 .. g_i h_j)
//   All-to-All                   m (g_i - h_j) / g_i
//   point-to-point               m
//   All-Reduce, in-network       m / (g_1 .. g_(i-1) h_j)
// over o_j: with h_j = o_j = 1 the formulas above. Where switches of a level differ in their members, h_j is 1, which
// is never too fast.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/topology/shape.hpp"
#include "tenex/workload/collective_time.hpp"

namespace tenex {

/// The variant of the model.
struct LibraModel {
  bool derated = false;          ///< a group on a part of a dimension has the bandwidth of its own links
  std::vector<bool> in_network;  ///< per dimension: whether its switches reduce; empty: none does
  bool operator==(const LibraModel&) const = default;
};

/// An exact number of bytes, numerator / denominator, per byte of collective size. Both positive.
struct Fraction {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;
  bool operator==(const Fraction&) const = default;
};

/// The share of B_i that a group's own links carry in a collective. FC: (g-1)/(k-1). SW: all (one link to the switch).
/// RI and LI: 1/s for members s apart, because s interleaved groups share every link; half of that where the members do
/// not close the ring (an end has one neighbour: a line, or a part of a ring). RI(2) is one link each way: all of it. A
/// point-to-point message uses one link: FC 1/(k-1), RI and LI half of 1/s.
[[nodiscard]] Fraction derating(const Block& block, const DimensionShare& share, TrafficKind kind);

/// The NPUs of a group that share what one of them has, on the narrowest level of switches that its messages climb: 1
/// without oversubscribed levels.
[[nodiscard]] std::int64_t oversubscription(const Block& block, const DimensionShare& share);

/// The volume of one communication in one dimension, per byte of its size.
struct DimensionVolume {
  std::size_t dimension = 0;
  Fraction per_byte;
  bool operator==(const DimensionVolume&) const = default;
};

/// The volumes of a kind of traffic in the dimensions that `span` crosses; a derated model divides them by the
/// derating. Of a hierarchy of switches the level counts that takes longest. O(dimensions * levels).
[[nodiscard]] std::vector<DimensionVolume> libra_volumes(TrafficKind kind, const GroupSpan& span, const Shape& shape,
                                                         const LibraModel& model);

/// ceil over the dimensions' maximum of volume / bandwidth, in ps; saturates. `npu_bandwidth[i]` is B_i. O(dimensions).
[[nodiscard]] SimTime libra_time(const std::vector<DimensionVolume>& volumes, Bytes size,
                                 const std::vector<Bandwidth>& npu_bandwidth);

/// `libra` or `libra_derated` on one network.
class LibraTime final : public CollectiveTime {
 public:
  /// `npu_bandwidth` holds B_i per NPU, one for each dimension or one for all. Errors (input): a wrong number of
  /// bandwidths, a bandwidth that is not positive, a wrong number of in-network flags, in-network reduction in a
  /// dimension without switches.
  [[nodiscard]] static Result<LibraTime> make(const Shape& shape, std::vector<Bandwidth> npu_bandwidth,
                                              LibraModel model = {});

  [[nodiscard]] std::string_view name() const override { return model_.derated ? "libra_derated" : "libra"; }
  /// Errors (input): the mapping is for another shape.
  [[nodiscard]] Result<SimTime> time(const Communication& communication, const Mapping& mapping) const override;

  [[nodiscard]] const LibraModel& model() const { return model_; }
  [[nodiscard]] const std::vector<Bandwidth>& npu_bandwidth() const { return bandwidth_; }

 private:
  LibraTime() = default;
  Shape shape_;
  std::vector<Bandwidth> bandwidth_;
  LibraModel model_;
};

}  // namespace tenex
