// Spreads "each nic" over the NICs of the sweep's network, and likewise the other elements. Which NPUs, links and
// switches a name stands for is known when a point is built; here only their number matters. Links are named by their
// ends.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "design/sweep.hpp"
#include "tenex/files/input_files.hpp"
#include "tenex/topology/elements.hpp"
#include "tenex/topology/shape.hpp"

namespace tenex {

namespace {

constexpr std::uint64_t kMostLinks = std::uint64_t{1} << 26;  // of a network whose elements are counted

const ParsedFaults* spread_of(const SharedValue& value) {
  if (value == nullptr) return nullptr;
  const auto& faults = value->as<ParsedFaults>();
  return faults.each ? &faults : nullptr;
}

NetworkFaults numbered(NetworkElement element, std::size_t count) {
  NetworkFaults failures;
  for (std::uint32_t number = 0; number < count; ++number)
    failures.push_back({.kind = fault_of(element), .first = number});
  return failures;
}

/// How each such part of the network fails.
NetworkFaults failures_of(NetworkElement element, const NetworkElements& elements) {
  NetworkFaults failures = numbered(element, elements.count(element));
  if (element == NetworkElement::link)
    for (std::size_t i = 0; i < failures.size(); ++i) {
      const auto& [lower, higher] = elements.linked()[i];
      failures[i].first = lower.value();
      failures[i].second = higher.value();
    }
  return failures;
}

/// The same for a topology as it is built. Errors (input, resource), without a place.
Result<NetworkFaults> failures_of(NetworkElement element, const TopologyValue& topology) {
  if (element == NetworkElement::npu) return numbered(element, topology.npus);
  if (topology.is_machine()) {
    const auto machine = parse_machine(topology.choice.machine_content, topology.choice.machine_file);
    if (!machine) return machine.errors();
    return failures_of(element, NetworkElements(machine->topology));
  }
  if (const auto links = count_shape(topology.choice.shape).links; links > kMostLinks)
    return resource_error(fmt::format("a network of {} links", links),
                          fmt::format("the elements of at most {} are counted", kMostLinks));
  // No element of a shape depends on its links' times.
  const auto built = build_topology(topology.choice.shape, {{SimTime::zero()}, {gigabytes_per_second(1)}, false});
  if (!built) return built.errors();
  return failures_of(element, NetworkElements(*built));
}

/// The failures that all topologies of the sweep have; nullopt after an error.
std::optional<NetworkFaults> common_failures(const Sweep& sweep, const ParsedFaults& faults, Diagnostics& errors) {
  std::optional<NetworkFaults> common;
  std::string of;
  bool sound = true;
  for_each_value(sweep, Key::topology, [&](const SharedValue& value) {
    if (value == nullptr || !sound) return;
    auto failures = failures_of(*faults.each, value->as<TopologyValue>());
    const auto refuse = [&](Diagnostic error) {
      error.place = faults.each_place;
      errors.push_back(std::move(error));
      sound = false;
    };
    const auto name = to_string(*faults.each);
    if (!failures) return refuse(failures.errors().front());
    if (failures->empty())
      return refuse(input_error({}, fmt::format("no {} in \"{}\"", name, shortened(value->text)),
                                "each of them should fail",
                                "a nic, leaf, spine and plane are parts of a network with switches"));
    if (common && *common != *failures)
      return refuse(input_error(
          {},
          fmt::format("\"{}\" has {} of \"each {}\", \"{}\" has {}{}", shortened(of), common->size(), name,
                      shortened(value->text), failures->size(), common->size() == failures->size() ? " others" : ""),
          "rows of a sweep take the same values", "write a [[sweep]] for each topology"));
    common = *std::move(failures);
    of = value->text;
  });
  return sound ? common : std::nullopt;
}

/// A value for every element.
std::vector<SharedValue> values_of(const SharedValue& value, const ParsedFaults& faults,
                                   const NetworkFaults& failures) {
  std::vector<SharedValue> values;
  for (ParsedFaults& one : each_of(faults, failures)) {
    SettingValue copy = *value;
    copy.text = to_string(one.faults);
    copy.expression = copy.text;
    copy.data = std::move(one);
    values.push_back(std::make_shared<const SettingValue>(std::move(copy)));
  }
  return values;
}

/// The axis with as many copies of a row as its value of `faults`, in column `which`, stands for.
bool spread(Axis& axis, std::size_t which, const Sweep& sweep, Diagnostics& errors) {
  std::vector<AxisColumn> columns(axis.columns.size());
  for (std::size_t row = 0; row < axis.length(); ++row) {
    const SharedValue value = axis.columns[which][row];
    std::vector<SharedValue> values{value};
    if (const ParsedFaults* faults = spread_of(value)) {
      const auto failures = common_failures(sweep, *faults, errors);
      if (!failures) return false;
      values = values_of(value, *faults, *failures);
    }
    for (std::size_t c = 0; c < columns.size(); ++c)
      for (const SharedValue& one : values) columns[c].push_back(c == which ? one : axis.columns[c][row]);
  }
  axis.columns = std::move(columns);
  return true;
}

}  // namespace

void spread_elements(Sweep& sweep, Diagnostics& errors) {
  SharedValue& fixed = sweep.fixed[index_of(Key::faults)];
  if (spread_of(fixed) != nullptr) {
    sweep.axes.push_back({{Key::faults}, {{fixed}}});
    fixed = nullptr;
  }
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    const auto& keys = sweep.axes[a].keys;
    const auto found = std::ranges::find(keys, Key::faults);
    if (found == keys.end()) continue;
    const auto which = static_cast<std::size_t>(found - keys.begin());
    Axis axis = sweep.axes[a];
    if (std::ranges::none_of(axis.columns[which], [](const SharedValue& value) { return spread_of(value) != nullptr; }))
      continue;
    if (spread(axis, which, sweep, errors)) sweep.axes[a] = std::move(axis);
  }
}

}  // namespace tenex
