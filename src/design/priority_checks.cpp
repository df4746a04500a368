// The check of the key `priorities`: one weight for each of several process groups that only copy.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "design/row_checks.hpp"
#include "tenex/schedule/run_choices.hpp"

namespace tenex {

void RowChecker::check_priorities(const Row& row, const GroupFacts& facts) {
  const SettingValue* value = row[index_of(Key::priorities)];
  const std::string& algorithm = row[index_of(Key::algorithm)]->text;
  const auto* known = find_traits(vocabulary_, algorithm);
  if (value == nullptr || known == nullptr || !facts.errors.empty()) return;
  const auto weights = value->as<Priorities>().weights.size();
  if (weights == 0) return;
  if (!known->reads.epochs) {
    std::string remedy = "remove them";
    for (const AlgorithmTraits* each : vocabulary_.algorithms)
      if (each->reads.epochs) remedy += fmt::format(", or choose {}", each->name);
    fail(*value, fmt::format("priorities for the algorithm \"{}\"", algorithm), "it does not weigh process groups",
         std::move(remedy), fmt::format("priorities = none or algorithm != {}", algorithm));
  }
  if (weights != facts.count)
    fail(*value,
         fmt::format("{} priorit{} for {} process group{}", weights, weights == 1 ? "y" : "ies", facts.count,
                     facts.count == 1 ? "" : "s"),
         "each group has one, in the order of `groups`", fmt::format("write {}, or remove them", facts.count),
         "priorities = none or groups = all");
  const auto common = row[index_of(Key::collective)]->as<CollectiveKind>();
  const auto is_sum = [&](const ProcessGroup& group) { return reduces(group.kind.value_or(common)); };
  if (reduces(common) || std::ranges::any_of(facts.groups.list(), is_sum))
    fail(*value, "priorities for groups that form sums", "finish epochs are weighed where chunks are only copied",
         "choose all_gather, broadcast, all_to_all, gather or scatter, or remove them",
         fmt::format("priorities = none or collective != {}", to_string(common)));
}

}  // namespace tenex
