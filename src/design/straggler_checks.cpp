// The checks of the key `stragglers`: its NPUs and links exist, and the algorithm knows late NPUs and varying
// bandwidth.
#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "design/row_checks.hpp"
#include "tenex/topology/slow_windows.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {

namespace {

/// What `keep` would say to leave out a row whose algorithm takes such stragglers for no collective, or not for its
/// own.
std::string without_stragglers(std::string_view algorithm, CollectiveKind kind, bool for_none) {
  const auto keep = fmt::format("stragglers = none or algorithm != {}", algorithm);
  return for_none ? keep : fmt::format("{} or collective != {}", keep, to_string(kind));
}

}  // namespace

void RowChecker::check_stragglers(const Row& row, const TopologyValue& topology) {
  const SettingValue* value = row[index_of(Key::stragglers)];
  if (value == nullptr) return;
  const auto& stragglers = value->as<Stragglers>();
  const auto keep = fmt::format("stragglers = none or topology != '{}'", topology.choice.text);
  for (const auto& each : stragglers) {
    const bool of_npu = each.kind == Straggler::Kind::npu || each.kind == Straggler::Kind::delay;
    if (of_npu && topology.npus != 0 && each.first >= topology.npus)
      fail(*value, fmt::format("straggler NPU {} does not exist", each.first),
           fmt::format("\"{}\" has NPUs 0 to {}", shortened(topology.choice.text), topology.npus - 1),
           "name another one", keep);
  }
  check_delays(row, *value);
  check_windows(row, *value);
  if (topology.is_machine()) return;
  for (const Diagnostic& error : slow_link_errors(*value, *row[index_of(Key::topology)]))
    fail(*value, error.problem, error.why, error.suggestion, keep);
}

void RowChecker::check_delays(const Row& row, const SettingValue& value) {
  const auto& algorithm = row[index_of(Key::algorithm)]->text;
  const auto kind = row[index_of(Key::collective)]->as<CollectiveKind>();
  const auto& stragglers = value.as<Stragglers>();
  const auto* traits = find_traits(vocabulary_, algorithm);
  const bool delays = std::any_of(stragglers.begin(), stragglers.end(),
                                  [](const Straggler& each) { return each.kind == Straggler::Kind::delay; });
  if (!delays || traits == nullptr || traits->waits_for_late(kind)) return;
  std::string others;  // synthesizers
  for (const AlgorithmTraits* each : vocabulary_.algorithms)
    if (!each->delays.empty()) others += fmt::format(", and for {} in {}", each->name, join(names_of(each->delays)));
  fail(value, fmt::format("a delayed NPU for {} of the synthesizer \"{}\"", to_string(kind), algorithm),
       fmt::format("its schedules have fixed start times: delays are for textbook algorithms{}", others),
       "slow links or NPUs down instead", without_stragglers(algorithm, kind, traits->delays.empty()));
}

void RowChecker::check_windows(const Row& row, const SettingValue& value) {
  const auto& algorithm = row[index_of(Key::algorithm)]->text;
  const auto kind = row[index_of(Key::collective)]->as<CollectiveKind>();
  const auto* traits = find_traits(vocabulary_, algorithm);
  if (windows_of(value.as<Stragglers>()).empty() || traits == nullptr) return;
  if (std::ranges::find(traits->varying, kind) != traits->varying.end()) return;
  std::string others;
  for (const AlgorithmTraits* each : vocabulary_.algorithms)
    if (!each->varying.empty())
      others +=
          fmt::format("{}choose {} for {}", others.empty() ? "" : ", or ", each->name, join(names_of(each->varying)));
  fail(value, fmt::format("bandwidth that varies for {} of \"{}\"", to_string(kind), algorithm),
       "its times do not depend on when a send starts",
       (others.empty() ? "slow links down at all times instead" : others) + ", or remove the windows",
       without_stragglers(algorithm, kind, traits->varying.empty()));
}

const Diagnostics& RowChecker::slow_link_errors(const SettingValue& stragglers, const SettingValue& topology) {
  const auto [found, is_new] = slow_.try_emplace({&stragglers, &topology});
  if (!is_new) return found->second;
  auto links = stragglers.as<Stragglers>();
  std::erase_if(links, [](const Straggler& each) {
    return each.kind != Straggler::Kind::link && each.kind != Straggler::Kind::one_way;
  });
  for (Straggler& each : links) each.from = each.until = SimTime::zero();
  if (links.empty()) return found->second;
  const auto& choice = topology.as<TopologyValue>().choice;
  // Only the connections matter here, so alpha and bandwidth are arbitrary.
  const auto built = build_topology(choice.shape, {{SimTime::zero()}, {gigabytes_per_second(1)}, false});
  if (!built) return found->second = built.errors();
  if (const auto slowed = slow_links(*built, slowdowns_of(links)); !slowed) {
    found->second = slowed.errors();
    for (Diagnostic& error : found->second) error.problem += fmt::format(" in \"{}\"", shortened(choice.text));
  }
  return found->second;
}

}  // namespace tenex
