// The kinds of collectives: names and bus factors.
#include <array>

#include "tenex/base/words.hpp"
#include "tenex/collective/collective.hpp"

namespace tenex {

namespace {

constexpr std::array<std::string_view, 12> kNames{"all_gather",  "reduce_scatter", "all_reduce", "broadcast",
                                                  "reduce",      "all_to_all",     "gather",     "scatter",
                                                  "all_to_allv", "halo_exchange",  "conditions", "mixed"};

}  // namespace

std::string_view to_string(CollectiveKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

std::vector<std::string_view> collective_names() { return {kNames.begin(), kNames.end()}; }

Result<CollectiveKind> parse_collective_kind(std::string_view text, const Place& place) {
  return parse_name<CollectiveKind>(text, kNames, "collective", place);
}

double bus_factor(CollectiveKind kind, std::size_t npus_in_group) {
  const auto n = static_cast<double>(npus_in_group);
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2 * (n - 1) / n;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
      return (n - 1) / n;
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::all_to_allv:
    case CollectiveKind::halo_exchange:
    case CollectiveKind::conditions:
    case CollectiveKind::mixed:
      return 1;
  }
  throw InvariantError("a collective kind without a bus factor");
}

}  // namespace tenex
