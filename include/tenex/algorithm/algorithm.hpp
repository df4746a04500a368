// Textbook algorithms: they make Programs. A new algorithm is one file and one line of the registry.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/program.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// A registry entry.
struct Algorithm {
  std::string_view name;
  std::string_view description;
  std::string_view source;  ///< who described it first, or the paper that uses it
  /// The collectives it is defined for.
  std::vector<CollectiveKind> collectives;
  /// Errors (input): a collective it is not defined for, a group size it cannot handle. `collective` is copied into the
  /// program.
  Result<std::shared_ptr<const Program>> (*make)(const Topology&, const Collective&);
};

/// The explicit table: ring (bidirectional), ring_unidirectional, direct.
[[nodiscard]] const std::vector<Algorithm>& algorithms();
/// nullptr when there is none of that name.
[[nodiscard]] const Algorithm* find_algorithm(std::string_view name);

}  // namespace tenex
