// The makers behind the registry's lines; one file each.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/program.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

[[nodiscard]] Result<std::shared_ptr<const Program>> make_ring(const Topology& topology, const Collective& collective);
[[nodiscard]] Result<std::shared_ptr<const Program>> make_ring_unidirectional(const Topology& topology,
                                                                              const Collective& collective);
[[nodiscard]] Result<std::shared_ptr<const Program>> make_direct(const Topology& topology,
                                                                 const Collective& collective);

/// Errors (input): the algorithm called `name` is not defined for the collective's kind, or the collective was made for
/// another number of NPUs than the topology has.
[[nodiscard]] Status check_fits(std::string_view name, const Topology& topology, const Collective& collective);

/// Messages of a program that brings each chunk's parts between its owner and every other member of the group in one
/// message each (twice for All-Reduce). O(groups).
[[nodiscard]] std::uint64_t messages_of_all_pairs(const Collective& collective);

}  // namespace tenex
