// The checks of the keys of links: alpha, the bandwidths, overhead, protocol.
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "design/row_checks.hpp"
#include "tenex/base/message.hpp"
#include "tenex/base/units.hpp"

namespace tenex {

void RowChecker::check_protocol(const Row& row, const TopologyValue& topology) {
  const SettingValue* protocol = row[index_of(Key::link_protocol)];
  if (protocol == nullptr || protocol->text == setting_of(Key::link_protocol).fallback ||
      find_protocol(topology.choice, protocol->text) != nullptr)
    return;
  std::vector<std::string_view> known{*setting_of(Key::link_protocol).fallback};
  if (topology.choice.protocols)
    for (const LinkProtocol& each : *topology.choice.protocols) known.push_back(each.name);
  fail(*protocol,
       fmt::format("\"{}\" has no protocol \"{}\"", shortened(topology.choice.text), shortened(protocol->text)),
       known.size() == 1 ? std::string("a machine's file names those that it has under [protocols]")
                         : fmt::format("it has {}", fmt::join(known, ", ")),
       "take one that it has, or add it to a copy of the machine's file",
       fmt::format("link_protocol = none or topology != '{}'", topology.choice.text));
}

/// An overhead is that of messages which an NPU sends to a switch, which links in place of paths over switches do not
/// tell from those to an NPU.
void RowChecker::check_overhead(const Row& row, const TopologyValue& topology) {
  const SettingValue* overhead = row[index_of(Key::overhead)];
  if (overhead == nullptr || overhead->as<SimTime>() == SimTime::zero() || topology.switches == 0) return;
  const SettingValue* unwind = row[index_of(Key::unwind)];
  const SettingValue* given = row[index_of(Key::forwarding)];
  const auto forwarding = given == nullptr ? SwitchForwarding::as_built : given->as<SwitchForwarding>();
  const bool as_built = forwarding == SwitchForwarding::as_built && topology.cuts_through;
  const auto problem = [&](std::string_view where) {
    return fmt::format("overhead = \"{}\" {}", overhead->text, where);
  };
  if (unwind != nullptr && unwind->as<std::int64_t>() > 0)
    fail(*overhead, problem("where switches are unwound"), "links in place of switches know no messages to a switch",
         "write unwind = 0", "overhead = 0us or unwind = 0");
  if (forwarding == SwitchForwarding::cut_through || as_built)
    fail(*overhead, problem("where switches cut through"), "a send takes several links at once there",
         "write forwarding = \"virtual_cut_through\" or \"store_and_forward\"",
         as_built ? fmt::format("overhead = 0us or topology != '{}'", topology.choice.text)
                  : std::string("overhead = 0us or forwarding != cut_through"));
}

void RowChecker::check_links(const Row& row, const TopologyValue& topology) {
  check_protocol(row, topology);
  check_overhead(row, topology);
  const SettingValue& place = *row[index_of(Key::topology)];
  const SettingValue* alpha = row[index_of(Key::alpha)];
  const SettingValue* bandwidth = row[index_of(Key::bandwidth)];
  const SettingValue* per_npu = row[index_of(Key::npu_bandwidth)];
  if (topology.from_file) {
    for (const Key key : {Key::alpha, Key::bandwidth, Key::npu_bandwidth, Key::total_bandwidth}) {
      const SettingValue* given = row[index_of(key)];
      if (given == nullptr) continue;
      fail(*given, fmt::format("\"{}\" for the machine file \"{}\"", name_of(key), topology.choice.text),
           "a machine file states alpha and bandwidth of its links",
           "leave it out, or write a machine file with other links", "");
    }
    return;
  }
  if (alpha == nullptr) {
    fail(place, fmt::format("the shape \"{}\" has no alpha", shortened(place.text)), "the links of a shape need one",
         "write for instance alpha = \"0.5us\"", "");
  }
  const SettingValue* total = row[index_of(Key::total_bandwidth)];
  if (bandwidth == nullptr && per_npu == nullptr && total == nullptr) {
    fail(place, fmt::format("the shape \"{}\" has no bandwidth", shortened(place.text)),
         "the links of a shape need one",
         "write for instance bandwidth = \"50GB/s\", or npu_bandwidth, or total_bandwidth", "");
  }
  if (total != nullptr) check_total(*total, row[index_of(Key::split)], topology);
  if (alpha != nullptr) check_dimensions<SimTime>(*alpha, topology);
  if (bandwidth != nullptr) check_dimensions<Bandwidth>(*bandwidth, topology);
  if (per_npu != nullptr) {
    check_dimensions<Bandwidth>(*per_npu, topology);
    check_npu_bandwidth(*per_npu, topology);
  }
}

template <class T>
void RowChecker::check_dimensions(const SettingValue& value, const TopologyValue& topology) {
  const std::size_t given = value.as<std::vector<T>>().size();
  const std::size_t dimensions = topology.choice.shape.dimensions();
  if (given == 1 || given == dimensions) return;
  fail(value, fmt::format("\"{}\" is for {} {}", shortened(value.text), given, topology.choice.shape.dimensions_word()),
       fmt::format("\"{}\" has {}", shortened(topology.choice.text), dimensions),
       dimensions == 1 ? std::string("give one value") : fmt::format("give one value for all, or {}", dimensions),
       varies_ ? fmt::format("topology != '{}'", topology.choice.text) : "");
}

// training_checks.cpp calls these for workloads.
template void RowChecker::check_dimensions<SimTime>(const SettingValue&, const TopologyValue&);
template void RowChecker::check_dimensions<Bandwidth>(const SettingValue&, const TopologyValue&);

void RowChecker::check_npu_bandwidth(const SettingValue& value, const TopologyValue& topology) {
  const auto& list = value.as<std::vector<Bandwidth>>();
  const Shape& shape = topology.choice.shape;
  if (list.size() != 1 && list.size() != shape.dimensions()) return;
  for (std::size_t dimension = 0; dimension < shape.dimensions(); ++dimension) {
    const Bandwidth given = list.size() == 1 ? list.front() : list[dimension];
    const std::uint32_t shares = bandwidth_shares(shape, dimension);
    if (static_cast<std::uint64_t>(given.count()) >= shares) continue;
    fail(value, fmt::format("npu_bandwidth {} is too small", to_string(given)),
         fmt::format("divided over the {} links of {} {} of \"{}\" it rounds to zero", shares, shape.dimension_word(),
                     dimension + 1, shortened(topology.choice.text)),
         fmt::format("use at least {}B/s", shares), "");
  }
}

}  // namespace tenex
