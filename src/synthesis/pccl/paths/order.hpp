// The order in which conditions get their paths: farthest first, shuffled among equals (the ASTRA-sim2.0 thesis,
// 6.4.4; unshuffled, an All-to-All on a grid reaches 93 % of its bound).
//
// Encoding: a permutation of the chunks that move, sorted by counting over classes of distance, 4 bytes per chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "synthesis/pccl/paths/conditions.hpp"
#include "synthesis/pccl/paths/network.hpp"
#include "tenex/base/bitset.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/random.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// Chunks, farthest first.
struct ConditionOrder {
  std::vector<std::uint32_t> chunks;
  std::vector<std::size_t> class_begin;  ///< of the chunks that count as equally far; then the end

  /// The same with each class shuffled. O(chunks).
  [[nodiscard]] std::vector<std::uint32_t> shuffled(Random& random) const;
  /// All chunks in rounds: first the first chunk of every pair whose destination is one place after its source, in the
  /// order of NPUs, then two places, and so on; then the second chunks. The sends of a round load the links of all NPUs
  /// alike. Chunks with several destinations come by source. With `random` the rounds are shuffled. O(chunks log
  /// chunks).
  [[nodiscard]] std::vector<std::uint32_t> in_rounds(const Collective& collective, Random* random) const;
};

/// Orders the conditions of `problem.collective`. `members`: per group the vertices that its paths must not leave;
/// empty: paths may go anywhere. Errors (input): a destination that its source does not reach. O(chunks + sources *
/// links), and 8 bytes per chunk.
[[nodiscard]] Result<ConditionOrder> order_conditions(const SynthesisProblem& problem, const PathNetwork& network,
                                                      const std::vector<Bitset>& members);

}  // namespace tenex
