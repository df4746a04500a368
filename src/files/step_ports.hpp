// Step tables in a third of a byte per send.
//
// Idea: an NPU forwards its list roughly in the order in which it received it. So a send is written as its place in its
// source's list minus the place of the port's previous send: nearly always a number near one. Ports of one source
// follow each other, so only one list at a time must be inverted (chunk -> place). Writing takes no further memory.
//
// Reading: the numbers go to the slots of the chunks. Then each place is replaced, tile by tile, by the chunk at that
// place in the source's list. This chunk arrived in an earlier tile and so is known by then.
//
// Encoding: one signed byte per send (-128: the value is in `jump` instead), ports in order of (source, port). If a
// port's sends do not all come from an earlier tile of the source's list, its values are chunks instead of places.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "tenex/schedule/storage/step_table.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

inline constexpr std::int8_t kJump = -128;
inline constexpr std::uint32_t kNoSource = std::numeric_limits<std::uint32_t>::max();

/// Meaning of a port's values.
enum class PortForm : std::uint8_t { chunks, places };

/// Ports by the NPU at the other end of their links. Which end that is depends on whether the table belongs to the
/// topology or to its reverse.
struct SourceOrder {
  std::vector<std::uint32_t> source;  ///< per port; kNoSource: no NPU
  std::vector<std::uint32_t> ports;   ///< by (source, port), those without a source last
  std::vector<std::size_t>
      source_begin;  ///< per NPU, and for the ports without a source: first index into `ports`; then the end

  template <class Slot>
  SourceOrder(const StepTable<Slot>& table, const Topology& topology)
      : source(table.ports(), kNoSource), ports(table.ports()), source_begin(table.npus() + 2, 0) {
    for (std::size_t npu = 0; npu < table.npus(); ++npu)
      for (std::size_t port = table.port_begin[npu]; port < table.port_begin[npu + 1]; ++port) {
        const auto from = topology.source(table.port_link[port]).index();
        const auto to = topology.target(table.port_link[port]).index();
        const auto other = from == npu ? to : from;
        if ((from == npu || to == npu) && other < table.npus()) source[port] = static_cast<std::uint32_t>(other);
      }
    const auto place = [&](std::size_t port) { return std::min<std::size_t>(source[port], table.npus()); };
    for (std::size_t port = 0; port < ports.size(); ++port) ++source_begin[place(port) + 1];
    std::partial_sum(source_begin.begin(), source_begin.end(), source_begin.begin());
    auto next = source_begin;
    for (std::size_t port = 0; port < ports.size(); ++port)
      ports[next[place(port)]++] = static_cast<std::uint32_t>(port);
  }
};

/// The NPU of each port.
[[nodiscard]] inline std::vector<std::uint32_t> npu_of_ports(const std::vector<std::uint32_t>& port_begin) {
  std::vector<std::uint32_t> npus(port_begin.back());
  for (std::size_t npu = 0; npu + 1 < port_begin.size(); ++npu)
    std::fill(npus.begin() + port_begin[npu], npus.begin() + port_begin[npu + 1], static_cast<std::uint32_t>(npu));
  return npus;
}

}  // namespace tenex
