// Programs that work dimension by dimension: Reduce-Scatter up the dimensions, All-Gather down, All-to-All up.
//
// The ranks of a group are numbers with one digit per dimension, lowest first. In a stage all NPUs whose digits agree
// in all but one dimension exchange. In a Reduce-Scatter an NPU sends each of the others one part, whose owners have
// the receiver's digit; so parts shrink from stage to stage. The All-Gather is the reverse. In an All-to-All a stage
// moves every chunk to the right digit of one dimension. The chunks with the same k of all NPUs are one slice. Slices
// are independent and under way together, each in its own order of dimensions. A stage of a slice begins at an NPU when
// the slice's previous stage is complete there. With a window of w, at most w slices at a time are in a stage at an
// NPU, or in whatever resource a GroupExchange makes them take turns for: turn j begins only when turn j - w is
// complete there. Without a window, all slices' first messages queue in front of all second ones, and no slice leaves
// its first ring before the last slice has nearly gone round. With a window, the dimensions work as a pipeline, which
// is how ASTRA-sim schedules chunks.
//
// Sums of whole inputs (Contents::inputs) are an All-Reduce in one pass up the dimensions: in a stage an NPU sends the
// sum that it has, of all chunks, to each of the others, so that after stage s it has the sum over all NPUs that agree
// with it in the dimensions of the later stages. A dimension of all NPUs sends every input to everyone at once; a row
// of dimensions of two is recursive doubling. A message states its contributors: an NPU of a later stage may be ahead.
//
// Contents::inputs_across joins both: parts are reduced up the dimensions but the last, there every NPU sends the part
// that it has summed to each of the others, and the gather goes down the dimensions before. One stage fewer, for a
// dimension of few, far NPUs.
//
// Turns are the same at every NPU and are given in an order in which they could be taken one by one. So no slices wait
// for each other in a circle: a stage waits only for its slice's previous stage and for an earlier turn.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/program.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The way in which the NPUs of a dimension exchange their parts.
enum class Exchange : std::uint8_t {
  ring,    ///< every part goes both ways round; All-to-All: as direct
  direct,  ///< every part straight to its destination
};

/// What an All-Reduce sends.
enum class Contents : std::uint8_t {
  parts,          ///< parts of the data, to be reduced up the dimensions and gathered down
  inputs,         ///< sums of whole inputs, up the dimensions; every dimension exchanges directly
  inputs_across,  ///< parts up and down the dimensions before the last, whole parts in that one; all exchange directly
};

/// One dimension of a group.
struct ExchangeDimension {
  std::uint32_t size = 2;  ///< at least 2
  Exchange exchange = Exchange::direct;
  bool operator==(const ExchangeDimension&) const = default;
};

/// The stages first .. last of a slice during which it holds its turn. Stages count the sums of a slice first, then its
/// copies.
struct StageTurn {
  std::uint32_t slice = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  bool operator==(const StageTurn&) const = default;
};

/// How the NPUs of one group exchange.
struct GroupExchange {
  std::vector<ExchangeDimension> dimensions;  ///< lowest digit of the rank first; the sizes' product is the group's
  /// The orders in which slices take the dimensions: slice k takes orders[k % orders.size()].
  std::vector<std::vector<std::uint32_t>> orders;
  /// With a window: the resources that slices take turns for, each in the order of its turns. Empty: one resource per
  /// stage, for the slices of one order by number.
  std::vector<std::vector<StageTurn>> turns = {};
  bool operator==(const GroupExchange&) const = default;
};

/// One GroupExchange per group, at most 32 dimensions each. `of_groups` has the order of the collective's groups.
/// `window`: 0 for none. `contents`: inputs only for an All-Reduce.
[[nodiscard]] std::shared_ptr<const Program> make_dimensionwise(const Collective& collective,
                                                                const std::vector<GroupExchange>& of_groups,
                                                                DestinationOrder order, std::uint32_t window = 0,
                                                                Contents contents = Contents::parts);

/// A dimension of a group of NPUs that is a box of the topology's shape.
struct GridDimension {
  std::uint32_t dimension = 0;  ///< of the shape
  const BlockRule* rule = nullptr;
  std::uint32_t size = 2;  ///< positions of the group there; at least 2
};
using Grid = std::vector<GridDimension>;

/// The dimensions of every group. Errors (input): a topology without the dimensions of a product shape, a group whose
/// members are not a box of it in order of id. O(npus * dimensions).
[[nodiscard]] Result<std::vector<Grid>> grids_of(std::string_view algorithm, const Topology& topology,
                                                 const Collective& collective);

/// The exchanges of a grid by the algorithm made for each block: rings where links lead from position to position,
/// recursive halving-doubling (dimensions of two) on switches of a power of two of NPUs, else direct. An All-to-All is
/// direct over switches: halving would send each part log2(k)/2 times on the average.
struct BlockExchanges {
  std::vector<ExchangeDimension> dimensions;
  std::vector<std::uint32_t> first;  ///< index of the grid's d-th dimension in `dimensions`; one more entry than the
                                     ///< grid has dimensions

  /// An order of the grid's dimensions as an order of `dimensions`.
  [[nodiscard]] std::vector<std::uint32_t> expanded(const std::vector<std::uint32_t>& order) const;
};
[[nodiscard]] BlockExchanges exchanges_by_block(const Grid& grid, CollectiveKind kind);

/// 0, 1, .., dimensions - 1.
[[nodiscard]] std::vector<std::uint32_t> in_order(std::size_t dimensions);

}  // namespace tenex
