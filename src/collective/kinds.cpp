// The kinds of collectives: names and bus factors.
#include <array>

#include <fmt/core.h>

#include "tenex/collective/collective.hpp"

namespace tenex {

namespace {

constexpr std::array<std::string_view, 6> kNames{"all_gather", "reduce_scatter", "all_reduce",
                                                 "broadcast",  "reduce",         "all_to_all"};

}  // namespace

std::string_view to_string(CollectiveKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

std::vector<std::string_view> collective_names() { return {kNames.begin(), kNames.end()}; }

Result<CollectiveKind> parse_collective_kind(std::string_view text, const Place& place) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == text) return static_cast<CollectiveKind>(i);
  }
  std::string list;
  for (const auto name : kNames) list += fmt::format("{}{}", list.empty() ? "" : ", ", name);
  const std::string_view near = nearest_spelling(text, collective_names());
  return input_error(place, fmt::format("unknown collective \"{}\"", text), fmt::format("collectives are {}", list),
                     near.empty() ? std::string() : fmt::format("did you mean \"{}\"?", near));
}

double bus_factor(CollectiveKind kind, std::size_t npus_in_group) {
  const auto n = static_cast<double>(npus_in_group);
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2 * (n - 1) / n;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
      return (n - 1) / n;
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
      return 1;
  }
  throw InvariantError("a collective kind without a bus factor");
}

}  // namespace tenex
