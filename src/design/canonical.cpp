// The canonical text of a point and its key.
//
// It has one `name=value` per line, sorted by name. It contains nothing that cannot change the result: frozen defaults,
// aliases, the spelling of quantities and groups, the path of a file, settings that the point's collective or algorithm
// never reads. The defaults are frozen: a later version that changes one must write the old value out, or old keys
// would change.
#include <algorithm>
#include <cstddef>
#include <string_view>

#include <fmt/core.h>

#include "design/canonical.hpp"
#include "design/settings/entry.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/topology/family.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

std::string_view to_string(SwitchForwarding forwarding) {
  if (forwarding == SwitchForwarding::as_built) return "as_built";
  return to_string(*forwarding_of(forwarding));
}

std::string_view to_string(SwitchAbility ability) {
  return ability == SwitchAbility::as_built ? "as_built" : ability == SwitchAbility::yes ? "yes" : "no";
}

std::string to_string(const SwitchBuffer& buffer) {
  if (!buffer.chunks) return "as_built";
  return *buffer.chunks == kUnlimitedBuffer ? "unlimited" : fmt::format("{}", *buffer.chunks);
}

std::string_view to_string(BoundSearch search) { return search == BoundSearch::quick ? "quick" : "full"; }

namespace {

void sort_pairs(std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs) {
  for (auto& [a, b] : pairs) {
    if (a > b) std::swap(a, b);
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

/// Settings by name, with `physics` at its place among them.
const std::vector<const Setting*>& by_name() {
  static const std::vector<const Setting*> sorted = [] {
    std::vector<const Setting*> list;
    for (const Setting& setting : settings()) list.push_back(&setting);
    std::ranges::sort(list, {}, [](const Setting* setting) { return frozen_name(*setting); });
    return list;
  }();
  return sorted;
}

/// The canonical text of a normalised point.
std::string canonical_text(const DesignPoint& point) {
  constexpr std::string_view kPhysics = "physics";
  const PointView view = view_of(point);
  CanonicalLines lines;
  bool has_physics = false;
  for (const Setting* setting : by_name()) {
    if (!has_physics && frozen_name(*setting) > kPhysics) {
      lines.add_number(kPhysics, physics_version);
      has_physics = true;
    }
    if (!has_key(*setting, view.trains)) continue;
    if (const std::string value = setting->canonical(view); !value.empty()) lines.add(frozen_name(*setting), value);
  }
  return lines.take();
}

/// Sets keys that the point does not read to their defaults. Decides for all keys before changing any.
void drop_unread(const PointDraft& draft, bool trains) {
  const PointView view{draft.point, draft.collective, draft.training, trains};
  PerKey<bool> unread{};
  for (const Setting& setting : settings()) {
    const bool read = has_key(setting, trains) && (setting.matters == nullptr || setting.matters(view));
    unread[index_of(setting.key)] = !read;
  }
  for (const Setting& setting : settings())
    if (unread[index_of(setting.key)] && setting.reset != nullptr) setting.reset(draft);
}

void reduce_lists(DesignPoint& point) {
  reduce_list(point.topology.links.alpha);
  reduce_list(point.topology.links.bandwidth);
}

/// The default of `optimize_with`: the model that times the collectives if it can be minimized.
TimingModel automatic_model(const TrainingPoint& training) {
  return is_libra(training.collective_time) ? training.collective_time : TimingModel::libra;
}

}  // namespace

std::string text_of_pairs(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs) {
  if (pairs.empty()) return "none";
  std::string text;
  for (const auto& [a, b] : pairs) text += fmt::format("{}[{},{}]", text.empty() ? "[" : ",", a, b);
  return text + "]";
}

/// The degree that takes effect: an NPU's neighbours on a switch are at most its other members. The switches of machine
/// files are not known here.
void reduce_unwinding(DesignPoint& point) {
  std::uint32_t members = 0;
  const Shape& shape = point.topology.shape;
  for (const Block& block : shape.blocks)
    if (block.rule->through_switch) members = std::max(members, block.size);
  if (!shape.is_product() && shape.family->domains != nullptr)
    members = static_cast<std::uint32_t>(std::ranges::max(shape.family->domains(shape.arguments)));
  if (members < 2) return;
  auto& degree = point.topology.unwind;
  degree = std::min(degree, members - 1);
}

/// A shape's switches as they are built anyway, and properties that take no effect.
void reduce_switches(TopologyChoice& topology) {
  auto& [forwarding, copy, reduce, buffer, able] = topology.switches;
  if (topology.machine_file.empty()) {
    if (forwarding == SwitchForwarding::store_and_forward) forwarding = SwitchForwarding::as_built;
    for (SwitchAbility* ability : {&copy, &reduce})
      if (*ability == SwitchAbility::no) *ability = SwitchAbility::as_built;
    if (buffer.chunks == kUnlimitedBuffer) buffer = {};
  }
  if (forwarding == SwitchForwarding::cut_through) buffer = {};  // nothing waits
}

void normalise(DesignPoint& point) {
  CollectivePoint collective;
  TrainingPoint training;
  if (point.trains())
    normalise_draft({point, collective, point.training()}, true);
  else
    normalise_draft({point, point.collective(), training}, false);
}

void normalise_draft(const PointDraft& draft, bool trains) {
  auto& [point, collective, training] = draft;
  const bool synthesized = !trains || is_synthesized(training.collective_time);
  if (trains && synthesized && point.algorithm.empty()) {
    point.algorithm = kTrainingAlgorithm;
    point.family = AlgorithmFamily::synthesizer;
    point.reads.switches = false;  // it needs direct links
  }
  drop_unread(draft, trains);
  if (trains && training.optimize_with == automatic_model(training)) training.optimize_with.reset();
  if (synthesized) reduce_unwinding(point);
  reduce_switches(point.topology);
  sort_pairs(point.topology.without);
  reduce_lists(point);
}

std::string settings_text(const DesignPoint& point, Changes changes) {
  const PointView view = view_of(point);
  std::string text;
  for (const Setting& setting : settings()) {
    if (!meet(setting.changes, changes) || !has_key(setting, view.trains)) continue;
    const auto value_of = setting.in_caches != nullptr ? setting.in_caches : setting.canonical;
    const std::string value = value_of(view);
    if (value.empty()) continue;
    text += static_cast<char>(index_of(setting.key) + 1);  // no value has such a character
    text += value;
  }
  return text;
}

void seal(DesignPoint& point) {
  DesignPoint plain = point;
  normalise(plain);
  seal_normalised(plain);
  point.canonical = std::move(plain.canonical);
  point.key = plain.key;
}

void seal_normalised(DesignPoint& point) {
  point.canonical = canonical_text(point);
  point.key = digest128(point.canonical);
}

}  // namespace tenex
