// Groups: the process groups of a point, parsed once.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/collective/collective.hpp"

namespace tenex {

/// Process groups with their canonical text: "all", or every group's members in order with the longest arithmetic runs
/// as "first-last[:step]", joined by ",", what the group has of its own, and groups joined by "; ". Equal groups have
/// equal texts. A cheap value: copies share the members.
class Groups {
 public:
  /// One group of all NPUs in their order.
  Groups() = default;
  /// Groups among `npus` NPUs. O(members).
  Groups(std::vector<ProcessGroup> groups, std::size_t npus);

  /// Whether there is one group of all NPUs in their order.
  [[nodiscard]] bool everyone() const { return shared_ == nullptr; }
  /// The groups. Empty if everyone() holds, because the number of NPUs is not known here.
  [[nodiscard]] const std::vector<ProcessGroup>& list() const;
  /// The canonical text.
  [[nodiscard]] std::string_view text() const { return shared_ ? std::string_view(shared_->text) : "all"; }
  bool operator==(const Groups& other) const { return text() == other.text(); }

 private:
  struct Members {
    std::vector<ProcessGroup> groups;
    std::string text;
  };
  std::shared_ptr<const Members> shared_;
};

/// The text of groups among `npus` NPUs. O(members).
[[nodiscard]] std::string canonical_groups(const std::vector<ProcessGroup>& groups, std::size_t npus);

}  // namespace tenex
