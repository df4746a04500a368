// Tables of names.
#include "design/keys.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace tenex {

namespace {

constexpr PerKey<std::string_view> kNames{"topology",      "alpha",        "bandwidth",
                                          "npu_bandwidth", "unwind",       "without",
                                          "collective",    "size",         "chunks",
                                          "groups",        "root",         "algorithm",
                                          "occupancy",     "overlap",      "backend",
                                          "attempts",      "engine",       "window",
                                          "order",         "stragglers",   "simulation_engine",
                                          "workload",      "hp",           "compute",
                                          "training_loop", "batch_rule",   "collective_time",
                                          "contention",    "in_network",   "scheme",
                                          "optimize_with", "optimize_for", "total_bandwidth",
                                          "split",         "constraints",  "cost_budget",
                                          "cost_model",    "price_level",  "dimension_kinds",
                                          "seed"};
constexpr std::string_view kAlias = "synthesizer";

constexpr std::array kLaterKeys{
    LaterWord{"faults", "it draws link failures"},
    LaterWord{"switch_forwarding", "it changes how switches forward"},
    LaterWord{"forwarding", "it changes how switches forward"},
    LaterWord{"cut_through", "it changes how switches forward"},
    LaterWord{"cost", "it prices the network"},
};

constexpr std::array kLaterCollectives{
    LaterWord{"gather", "the root collects a chunk of every NPU"},
    LaterWord{"scatter", "the root sends every NPU a chunk of its own"},
};

constexpr std::array kLaterAlgorithms{
    LaterWord{"pccl", "a synthesizer for process groups"},
    LaterWord{"te_ccl", "a synthesizer by mixed-integer programming"},
    LaterWord{"taccl", "a synthesizer guided by sketches"},
};

template <class Table>
const LaterWord* find_in(const Table& table, std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const LaterWord& candidate) { return candidate.name == name; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace

std::string_view name_of(Key key) { return kNames[index_of(key)]; }

std::string_view why_not_training(Key key) {
  switch (key) {
    case Key::collective:
    case Key::size:
      return "the workload says which collectives it runs, and how large they are";
    case Key::groups:
      return "the parallelization makes the process groups";
    case Key::stragglers:
    case Key::without:
      return "a parallelization is laid over the dimensions of a whole shape";
    case Key::root:
    case Key::overlap:
    case Key::backend:
    case Key::window:
    case Key::order:
    case Key::simulation_engine:
      return "the key collective_time says how its collectives are timed";
    default:
      return {};
  }
}

std::string_view training_purpose(Key key) {
  switch (key) {
    case Key::workload:
      return "it trains a model on the topology";
    case Key::hp:
      return "it parallelizes a workload";
    case Key::compute:
      return "it says how fast an NPU computes a workload";
    case Key::training_loop:
      return "it says which parts of a workload's iteration overlap";
    case Key::batch_rule:
      return "it says what a workload's batch is";
    case Key::collective_time:
      return "it says how a workload's collectives are timed";
    case Key::contention:
      return "it lets a workload's collectives share links";
    case Key::in_network:
      return "it lets switches reduce for a workload";
    case Key::scheme:
    case Key::optimize_with:
    case Key::optimize_for:
    case Key::total_bandwidth:
    case Key::split:
    case Key::constraints:
    case Key::cost_budget:
      return "it splits bandwidth over dimensions for a workload";
    case Key::cost_model:
    case Key::price_level:
    case Key::dimension_kinds:
      return "it prices the network of a workload";
    default:
      return {};
  }
}

std::optional<Key> find_key(std::string_view name) {
  if (name == kAlias) return Key::algorithm;
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Key>(found - kNames.begin());
}

const std::vector<std::string_view>& key_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> list(kNames.begin(), kNames.end());
    list.push_back(kAlias);
    return list;
  }();
  return names;
}

const LaterWord* find_later_key(std::string_view name) { return find_in(kLaterKeys, name); }
const LaterWord* find_later_collective(std::string_view name) { return find_in(kLaterCollectives, name); }
const LaterWord* find_later_algorithm(std::string_view name) { return find_in(kLaterAlgorithms, name); }

Diagnostic refuse_key(const Place& place, std::string_view name, std::string_view table,
                      const std::vector<std::string_view>& known) {
  if (const LaterWord* later = find_later_key(name)) {
    return unsupported_error(place, fmt::format("\"{}\" is not supported by this version", name),
                             std::string(later->purpose), "remove the key");
  }
  return input_error(place, fmt::format("unknown key \"{}\"", name), fmt::format("{} may have {}", table, join(known)),
                     did_you_mean(name, known));
}

std::string join(const std::vector<std::string_view>& words) {
  std::string list;
  for (const std::string_view word : words) {
    if (!list.empty()) list += ", ";
    list += word;
  }
  return list;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const std::string_view near = nearest_spelling(word, candidates);
  return near.empty() ? std::string() : fmt::format("did you mean \"{}\"?", near);
}

}  // namespace tenex
