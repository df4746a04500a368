// The functions that make the registry's algorithms; one file each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string_view>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/program.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The type of all functions that make programs, as in Algorithm::make.
using ProgramResult = Result<std::shared_ptr<const Program>>;

[[nodiscard]] ProgramResult make_ring(const Topology& topology, const Collective& collective,
                                      const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_ring_unidirectional(const Topology& topology, const Collective& collective,
                                                     const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_ring_per_dimension(const Topology& topology, const Collective& collective,
                                                    const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_direct(const Topology& topology, const Collective& collective,
                                        const AlgorithmOptions& options);
/// Direct for any collective. It reads no window. Equals make_direct() without a window for the collectives that both
/// do.
[[nodiscard]] ProgramResult make_direct_by_group(const Topology& topology, const Collective& collective,
                                                 const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_rhd(const Topology& topology, const Collective& collective,
                                     const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_dbt(const Topology& topology, const Collective& collective,
                                     const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_bruck(const Topology& topology, const Collective& collective,
                                       const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_hierarchical(const Topology& topology, const Collective& collective,
                                              const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_blueconnect(const Topology& topology, const Collective& collective,
                                             const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_themis(const Topology& topology, const Collective& collective,
                                        const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_multitree(const Topology& topology, const Collective& collective,
                                           const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_c_cube(const Topology& topology, const Collective& collective,
                                        const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_tto(const Topology& topology, const Collective& collective,
                                     const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_blink(const Topology& topology, const Collective& collective,
                                       const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_binomial(const Topology& topology, const Collective& collective,
                                          const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_rings(const Topology& topology, const Collective& collective,
                                       const AlgorithmOptions& options);

[[nodiscard]] ProgramResult make_one_shot(const Topology& topology, const Collective& collective,
                                          const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_one_shot_per_dimension(const Topology& topology, const Collective& collective,
                                                        const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_recursive_doubling(const Topology& topology, const Collective& collective,
                                                    const AlgorithmOptions& options);

[[nodiscard]] ProgramResult make_pxn(const Topology& topology, const Collective& collective,
                                     const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_one_shot_across(const Topology& topology, const Collective& collective,
                                                 const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_swing(const Topology& topology, const Collective& collective,
                                       const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_swing_whole(const Topology& topology, const Collective& collective,
                                             const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_pat(const Topology& topology, const Collective& collective,
                                     const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_bine(const Topology& topology, const Collective& collective,
                                      const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_k_ary_tree(const Topology& topology, const Collective& collective,
                                            const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_chain(const Topology& topology, const Collective& collective,
                                       const AlgorithmOptions& options);

/// The status of a result, without its value.
template <class T>
[[nodiscard]] Status status_of(const Result<T>& result) {
  return result ? success() : Status(result.errors());
}

/// check_fits() of the algorithm called `name`; every maker calls it first.
[[nodiscard]] Status check_fits(std::string_view name, const Topology& topology, const Collective& collective);

// Algorithm::fits of the algorithms with a requirement.
[[nodiscard]] Status fits_powers_of_two(std::string_view name, const Topology& topology, const Collective& collective);
/// Checks that groups have even numbers of members.
[[nodiscard]] Status fits_even(std::string_view name, const Topology& topology, const Collective& collective);
[[nodiscard]] Status fits_swing(std::string_view name, const Topology& topology, const Collective& collective);
[[nodiscard]] Status fits_whole_swing(std::string_view name, const Topology& topology, const Collective& collective);
/// Checks that the groups are boxes of a shape.
[[nodiscard]] Status fits_boxes(std::string_view name, const Topology& topology, const Collective& collective);
[[nodiscard]] Status fits_multitree(std::string_view name, const Topology& topology, const Collective& collective);
[[nodiscard]] Status fits_c_cube(std::string_view name, const Topology& topology, const Collective& collective);
[[nodiscard]] Status fits_tto(std::string_view name, const Topology& topology, const Collective& collective);
[[nodiscard]] Status fits_blink(std::string_view name, const Topology& topology, const Collective& collective);
[[nodiscard]] Status fits_rings(std::string_view name, const Topology& topology, const Collective& collective);

// Algorithm::sizes. Algorithms that go by dimensions, halve or double send large messages; trees send slices down and
// up. Equal payloads are kept once: every step of a recursion, and every tree, divides all chunks among its messages.
[[nodiscard]] ProgramSizes sizes_of_ring(const ProgramScale& scale);
[[nodiscard]] ProgramSizes sizes_of_direct(const ProgramScale& scale);
[[nodiscard]] ProgramSizes sizes_of_rhd(const ProgramScale& scale);
[[nodiscard]] ProgramSizes sizes_of_bruck(const ProgramScale& scale);
[[nodiscard]] ProgramSizes sizes_by_rings(const ProgramScale& scale);
[[nodiscard]] ProgramSizes sizes_by_blocks(const ProgramScale& scale);
[[nodiscard]] ProgramSizes sizes_of_multitree(const ProgramScale& scale);
/// The sizes for a few trees.
[[nodiscard]] ProgramSizes sizes_of_forest(const ProgramScale& scale);
[[nodiscard]] ProgramSizes sizes_of_binomial(const ProgramScale& scale);
[[nodiscard]] ProgramSizes sizes_of_one_shot(const ProgramScale& scale);
[[nodiscard]] ProgramSizes sizes_of_one_shot_per_dimension(const ProgramScale& scale);
[[nodiscard]] ProgramSizes sizes_of_recursive_doubling(const ProgramScale& scale);
[[nodiscard]] ProgramSizes sizes_of_pxn(const ProgramScale& scale);
[[nodiscard]] ProgramSizes sizes_of_one_shot_across(const ProgramScale& scale);
[[nodiscard]] ProgramSizes sizes_of_swing(const ProgramScale& scale);
[[nodiscard]] ProgramSizes sizes_of_swing_whole(const ProgramScale& scale);
[[nodiscard]] ProgramSizes sizes_of_pat(const ProgramScale& scale);
[[nodiscard]] ProgramSizes sizes_of_chain(const ProgramScale& scale);
/// The number of steps in which distances double until they reach `members`.
[[nodiscard]] inline double doubling_steps(double members) { return std::ceil(std::log2(std::max(2.0, members))); }

/// The number of messages of a program that sends each chunk, or its contributions, in one message each from where it
/// is to where it must be (All-Reduce: to the owner, and from there to the others). O(groups + conditions).
[[nodiscard]] std::uint64_t messages_of_all_pairs(const Collective& collective);

}  // namespace tenex
