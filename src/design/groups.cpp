// The canonical text of process groups.
#include "tenex/design/groups.hpp"

#include <utility>

#include <fmt/core.h>

#include "tenex/base/units.hpp"

namespace tenex {

namespace {

/// The longest arithmetic run of members from `start`: its end (exclusive) and step.
std::pair<std::size_t, std::uint32_t> longest_run(const std::vector<NpuId>& members, std::size_t start) {
  if (start + 1 == members.size() || members[start + 1] <= members[start]) return {start + 1, 1};
  const std::uint32_t step = members[start + 1].value() - members[start].value();
  std::size_t end = start + 2;
  while (end < members.size() && members[end] > members[end - 1] &&
         members[end].value() - members[end - 1].value() == step) {
    ++end;
  }
  const bool worth_it = step == 1 || end - start >= 3;
  return worth_it ? std::pair(end, step) : std::pair(start + 1, std::uint32_t{1});
}

/// " all_gather 1MiB 2 chunks root 3": what the group has of its own; defaults of chunks and root are left out.
std::string own_text(const ProcessGroup& group) {
  std::string text;
  if (group.kind) text += fmt::format(" {}", to_string(*group.kind));
  if (group.size) text += fmt::format(" {}", to_string(*group.size));
  if (group.chunks.value_or(1) != 1) text += fmt::format(" {} chunks", *group.chunks);
  if (group.root.value_or(0) != 0) text += fmt::format(" root {}", *group.root);
  return text;
}

std::string group_text(const ProcessGroup& group) {
  std::string text;
  for (std::size_t start = 0; start < group.members.size();) {
    const auto [end, step] = longest_run(group.members, start);
    if (!text.empty()) text += ',';
    text += fmt::format("{}", group.members[start].value());
    if (end > start + 1) text += fmt::format("-{}", group.members[end - 1].value());
    if (step > 1) text += fmt::format(":{}", step);
    start = end;
  }
  return text + own_text(group);
}

}  // namespace

Groups::Groups(std::vector<ProcessGroup> groups, std::size_t npus) {
  std::string text = canonical_groups(groups, npus);
  if (text != "all") shared_ = std::make_shared<const Members>(Members{std::move(groups), std::move(text)});
}

const std::vector<ProcessGroup>& Groups::list() const {
  static const std::vector<ProcessGroup> none;
  return shared_ ? shared_->groups : none;
}

std::string canonical_groups(const std::vector<ProcessGroup>& groups, std::size_t npus) {
  std::string text;
  for (const ProcessGroup& group : groups) text += (text.empty() ? "" : "; ") + group_text(group);
  // "0-15" of 16 NPUs is all NPUs in their natural order.
  const bool everyone =
      groups.size() == 1 && groups[0].members.size() == npus && npus > 1 && text == fmt::format("0-{}", npus - 1);
  return everyone ? "all" : text;
}

}  // namespace tenex
