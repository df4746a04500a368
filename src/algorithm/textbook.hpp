// The makers behind the registry's lines; one file each.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/program.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// What all makers are: Algorithm::make.
using ProgramResult = Result<std::shared_ptr<const Program>>;

[[nodiscard]] ProgramResult make_ring(const Topology& topology, const Collective& collective,
                                      const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_ring_unidirectional(const Topology& topology, const Collective& collective,
                                                     const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_ring_per_dimension(const Topology& topology, const Collective& collective,
                                                    const AlgorithmOptions& options);
[[nodiscard]] ProgramResult make_direct(const Topology& topology, const Collective& collective,
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

/// Whether a value could be made.
template <class T>
[[nodiscard]] Status status_of(const Result<T>& result) {
  return result ? success() : Status(result.errors());
}

/// check_fits() of the algorithm called `name`: what every maker asks first.
[[nodiscard]] Status check_fits(std::string_view name, const Topology& topology, const Collective& collective);

// Algorithm::fits of those that do not do everything.
[[nodiscard]] Status fits_powers_of_two(const Topology& topology, const Collective& collective);
[[nodiscard]] Status fits_multitree(const Topology& topology, const Collective& collective);
[[nodiscard]] Status fits_c_cube(const Topology& topology, const Collective& collective);
[[nodiscard]] Status fits_tto(const Topology& topology, const Collective& collective);
[[nodiscard]] Status fits_blink(const Topology& topology, const Collective& collective);

/// Messages of a program that brings each chunk's parts between its owner and every other member of the group in one
/// message each (twice for All-Reduce). O(groups).
[[nodiscard]] std::uint64_t messages_of_all_pairs(const Collective& collective);

}  // namespace tenex
