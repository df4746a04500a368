// The canonical text of a point and its key.
//
// One `name=value` per line, sorted by name. What cannot change the result is not in it: frozen defaults, aliases, the
// spelling of quantities and groups, the path of a file, settings that the point's collective or algorithm never reads.
// The defaults are frozen: a later version that changes one must write the old value out, or old keys would change.
#include <algorithm>
#include <cstddef>
#include <string_view>

#include <fmt/core.h>

#include "design/canonical.hpp"
#include "design/settings/entry.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/topology/block.hpp"

namespace tenex {

namespace {

/// Equal texts for equal groups; a text that cannot be parsed stands for itself.
std::string groups_of(const DesignPoint& point) {
  if (point.groups == "all") return point.groups;
  const TopologyChoice& choice = point.topology;
  const std::size_t known = choice.shape.blocks.empty() ? choice.machine_npus : choice.shape.npus();
  const std::size_t npus = known != 0 ? known : npus_named_in(point.groups);
  const auto groups = parse_groups(point.groups, npus);
  if (!groups) return point.groups;
  return canonical_groups(*groups, known);
}

/// The next run of members from `start`: its end (exclusive) and step.
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

std::string text_of(const ProcessGroup& group) {
  std::string text;
  for (std::size_t start = 0; start < group.members.size();) {
    const auto [end, step] = longest_run(group.members, start);
    if (!text.empty()) text += ',';
    text += fmt::format("{}", group.members[start].value());
    if (end > start + 1) text += fmt::format("-{}", group.members[end - 1].value());
    if (step > 1) text += fmt::format(":{}", step);
    start = end;
  }
  return text;
}

void sort_pairs(std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs) {
  for (auto& [a, b] : pairs) {
    if (a > b) std::swap(a, b);
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

/// Settings by name, with the place of `physics` among them.
const std::vector<const Setting*>& by_name() {
  static const std::vector<const Setting*> sorted = [] {
    std::vector<const Setting*> list;
    for (const Setting& setting : settings()) list.push_back(&setting);
    std::ranges::sort(list, {}, &Setting::name);
    return list;
  }();
  return sorted;
}

/// The canonical text of a normalised point.
std::string text_of(const DesignPoint& point) {
  constexpr std::string_view kPhysics = "physics";
  const PointView view = view_of(point);
  CanonicalLines lines;
  bool has_physics = false;
  for (const Setting* setting : by_name()) {
    if (!has_physics && setting->name > kPhysics) {
      lines.add_number(kPhysics, physics_version);
      has_physics = true;
    }
    if (!has_key(*setting, view.trains)) continue;
    if (const std::string value = setting->canonical(view); !value.empty()) lines.add(setting->name, value);
  }
  return lines.take();
}

/// Sets what the point does not read to its default. What it reads is judged before anything is changed.
void drop_unread(const PointDraft& draft, bool trains) {
  const PointView view{draft.point, draft.training, trains, TrainingReads(draft.training)};
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

/// What "auto" means: the model that times the collectives, where it is one that can be minimized.
std::string_view automatic_model(const TrainingChoice& training) {
  return training.collective_time == "libra_derated" ? "libra_derated" : "libra";
}

}  // namespace

std::string canonical_groups(const std::vector<ProcessGroup>& groups, std::size_t npus) {
  std::string text;
  for (const ProcessGroup& group : groups) text += (text.empty() ? "" : "; ") + text_of(group);
  // "0-15" of 16 NPUs is everybody in the natural order.
  const bool everyone =
      groups.size() == 1 && groups[0].members.size() == npus && npus > 1 && text == fmt::format("0-{}", npus - 1);
  return everyone ? "all" : text;
}

std::size_t npus_named_in(std::string_view groups) {
  constexpr std::size_t kLargest = std::size_t{1} << 24;
  std::size_t largest = 0;
  std::size_t number = 0;
  for (const char letter : groups) {
    const bool digit = letter >= '0' && letter <= '9';
    number = digit ? std::min(number * 10 + static_cast<std::size_t>(letter - '0'), kLargest) : 0;
    largest = std::max(largest, number);
  }
  return largest + 1;
}

std::string text_of_pairs(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs) {
  if (pairs.empty()) return "none";
  std::string text;
  for (const auto& [a, b] : pairs) text += fmt::format("{}[{},{}]", text.empty() ? "[" : ",", a, b);
  return text + "]";
}

/// The degree that is in effect: an NPU has no more neighbours on a switch than its members but one, and a synthesizer
/// unwinds with degree 1 unless told otherwise. Of machine files the switches are not known here.
void reduce_unwinding(DesignPoint& point) {
  std::uint32_t members = 0;
  for (const Block& block : point.topology.shape.blocks)
    if (block.rule->through_switch) members = std::max(members, block.size);
  if (members < 2) return;
  auto& degree = point.topology.unwind;
  if (degree == 0 && point.family == AlgorithmFamily::synthesizer) degree = 1;
  degree = std::min(degree, members - 1);
}

void normalise(DesignPoint& point) {
  if (point.training != nullptr) {
    auto training = *point.training;
    normalise_training(training, point);
    point.training = std::make_shared<const TrainingChoice>(std::move(training));
    return;
  }
  point.groups = groups_of(point);
  normalise_but_groups(point);
}

void normalise_but_groups(DesignPoint& point) {
  TrainingChoice none;
  drop_unread({point, none}, false);
  reduce_unwinding(point);
  sort_pairs(point.topology.without);
  reduce_lists(point);
}

TrainingReads::TrainingReads(const TrainingChoice& training)
    : synthesizes(training.collective_time == "synthesized"),
      simulates(synthesizes || training.collective_time == "pipeline" || training.collective_time == "themis") {}

void normalise_training(TrainingChoice& training, DesignPoint& point) {
  if (point.algorithm.empty() && TrainingReads(training).synthesizes) {
    point.algorithm = kTrainingAlgorithm;
    point.family = AlgorithmFamily::synthesizer;
  }
  drop_unread({point, training}, true);
  if (training.optimize_with == automatic_model(training)) training.optimize_with = "auto";
  if (TrainingReads(training).synthesizes) reduce_unwinding(point);
  reduce_lists(point);
}

void seal(DesignPoint& point) {
  DesignPoint plain = point;
  normalise(plain);
  seal_normalised(plain);
  point.canonical = std::move(plain.canonical);
  point.key = plain.key;
}

void seal_normalised(DesignPoint& point) {
  point.canonical = text_of(point);
  point.key = digest128(point.canonical);
}

}  // namespace tenex
