// The canonical text of a point and its key.
//
// One `name=value` per line, sorted by name. What cannot change the result is not in it: frozen defaults, aliases, the
// spelling of quantities and groups, the path of a file, settings that the point's collective or algorithm never reads.
// The defaults are frozen: a later version that changes one must write the old value out, or old keys would change.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

#include <fmt/core.h>

#include "design/canonical.hpp"
#include "tenex/design/design_point.hpp"

namespace tenex {

namespace {

/// Which of the optional settings the point's result can depend on. An algorithm of unknown family may read everything.
struct Relevance {
  explicit Relevance(const DesignPoint& point)
      : root(has_root(point.collective)),
        overlap(point.collective == CollectiveKind::all_reduce),
        attempts(point.family != AlgorithmFamily::textbook),
        engine(point.family != AlgorithmFamily::textbook),
        backend(point.family != AlgorithmFamily::synthesizer),
        order(reads_order(point)),
        window(reads_window(point)) {}
  /// Only who addresses several peers at once can take them in one order or another.
  static bool reads_order(const DesignPoint& point) {
    if (point.family != AlgorithmFamily::textbook) return point.family == AlgorithmFamily::unknown;
    constexpr std::string_view readers[] = {"direct", "hierarchical", "themis", "auto"};
    return std::ranges::find(readers, point.algorithm) != std::end(readers);
  }
  /// Only who may have several messages or chunks under way can be held back.
  static bool reads_window(const DesignPoint& point) {
    if (point.family != AlgorithmFamily::textbook) return point.family == AlgorithmFamily::unknown;
    constexpr std::string_view readers[] = {"direct", "hierarchical", "blueconnect", "ring_per_dimension",
                                            "themis", "auto"};
    return std::ranges::find(readers, point.algorithm) != std::end(readers);
  }
  bool root;
  bool overlap;
  bool attempts;
  bool engine;
  bool backend;
  bool order;
  bool window;
};

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

std::string topology_of(const TopologyChoice& choice) {
  if (choice.machine_file.empty()) return to_string(choice.shape);
  return "machine:" + to_string(choice.machine_content.digest());
}

/// The canonical text of a normalised point that runs a collective.
std::string collective_text(const DesignPoint& point) {
  const TopologyChoice& choice = point.topology;
  CanonicalLines lines;
  // In the order of the names.
  lines.add("algorithm", point.algorithm);
  if (!choice.links.alpha.empty()) lines.add("alpha", comma_list(choice.links.alpha));
  if (point.attempts != 1) lines.add_number("attempts", point.attempts);
  if (point.backend != "congestion_aware") lines.add("backend", point.backend);
  if (!choice.links.bandwidth.empty() && !choice.links.per_npu)
    lines.add("bandwidth", comma_list(choice.links.bandwidth));
  if (point.chunks != 1) lines.add_number("chunks", point.chunks);
  lines.add("collective", to_string(point.collective));
  if (point.engine != "auto") lines.add("engine", point.engine);
  if (point.groups != "all") lines.add("groups", point.groups);
  if (!choice.links.bandwidth.empty() && choice.links.per_npu) {
    lines.add("npu_bandwidth", comma_list(choice.links.bandwidth));
  }
  if (point.occupancy != Occupancy::serialization) lines.add("occupancy", to_string(point.occupancy));
  if (point.order != "relative") lines.add("order", point.order);
  if (!point.overlap) lines.add("overlap", "false");
  lines.add_number("physics", physics_version);
  if (point.root != 0) lines.add_number("root", point.root);
  lines.add_number("seed", point.seed);
  if (point.simulation_engine != "auto") lines.add("simulation_engine", point.simulation_engine);
  lines.add_number("size", point.size.count());
  if (!point.stragglers.empty()) lines.add("stragglers", to_string(point.stragglers));
  lines.add("topology", topology_of(choice));
  if (choice.unwind != 0) lines.add_number("unwind", choice.unwind);
  if (point.window != 0) lines.add_number("window", point.window);
  if (!choice.without.empty()) lines.add("without", text_of_pairs(choice.without));
  return lines.take();
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
    if (block.kind == BlockKind::switched) members = std::max(members, block.size);
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
  const Relevance relevant(point);
  if (!relevant.root) point.root = 0;
  if (!relevant.overlap) point.overlap = true;
  if (!relevant.attempts) point.attempts = 1;
  if (!relevant.engine) point.engine = "auto";
  reduce_unwinding(point);
  if (!relevant.backend) point.backend = "congestion_aware";
  if (!relevant.backend) point.simulation_engine = "auto";
  if (!relevant.order) point.order = "relative";
  if (!relevant.window) point.window = 0;
  sort_pairs(point.topology.without);
  reduce_list(point.topology.links.alpha);
  reduce_list(point.topology.links.bandwidth);
}

void seal(DesignPoint& point) {
  DesignPoint plain = point;
  normalise(plain);
  seal_normalised(plain);
  point.canonical = std::move(plain.canonical);
  point.key = plain.key;
}

void seal_normalised(DesignPoint& point) {
  point.canonical = point.training != nullptr ? training_text(point) : collective_text(point);
  point.key = digest128(point.canonical);
}

}  // namespace tenex
