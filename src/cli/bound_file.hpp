// Internal to cli: what `tenex bound --json` printed, read back for `tenex bound --check`.
#pragma once

#include <filesystem>
#include <vector>

#include "tenex/bound/bound.hpp"

namespace tenex::cli {

/// A bound as a file states it; nothing of it is proven yet.
struct StatedBound {
  const BoundMethod* method = nullptr;  ///< nullptr: "none", no bound applies
  SimTime time;
  /// As the checkers of all methods read it: a weight for every link, and ids of vertices that exist. What the file
  /// leaves out is zero or empty and proves nothing.
  CertifiedBound certificate;
};

/// The bounds of a file for a point on this topology; each name at most once. Errors: the file cannot be read, is not
/// what `tenex bound --json` prints, or belongs to another network. The memory is O(links + vertices), whatever the
/// file holds.
[[nodiscard]] Result<std::vector<StatedBound>> read_bound_file(const std::filesystem::path& path,
                                                               const Topology& topology);

}  // namespace tenex::cli
