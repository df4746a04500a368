// Faults: links, NPUs and switches that have failed, by name or drawn at random.
//
// A draw ranks links and NPUs by random numbers, and those of the least rank fail. The number of a link depends on the
// seed, the draw and the link's ends only (an NPU's: on the seed, the draw and its id). So all collectives, sizes and
// algorithms meet the same faults, in any order and on any rank; a larger share of a draw holds the smaller ones; and
// networks that have a link in common rank it alike. Where only links between switches are drawn, as in a tree whose
// NPUs have one link each, these keep their ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/ids.hpp"
#include "tenex/topology/elements.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The unit of NetworkFault::amount for shares: a thousandth of a percent.
inline constexpr std::int64_t kWholeShare = 100'000;

/// One kind of failure.
struct NetworkFault {
  enum class Kind : std::uint8_t {
    link,                ///< the links between vertices `first` and `second`, both ways
    one_way,             ///< the links from vertex `first` to vertex `second`
    drawn_links,         ///< link pairs; a link pair is a link with one that leads back, or a link that has none
    drawn_switch_links,  ///< link pairs between two switches
    npu,                 ///< NPU `first`, with all its links
    drawn_npus,          ///< NPUs, with all their links
    whole_switch,        ///< all links of the switch with vertex id `first`
    nic,                 ///< NIC `first` (elements.hpp), both ways
    leaf,                ///< leaf switch `first`, with all its links
    spine,               ///< spine switch `first`, with all its links
    plane,               ///< all switches of plane `first`
    parallel_link,       ///< of the links between `first` and `second` the one with number `amount`, both ways
  };
  Kind kind = Kind::link;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  bool is_share = false;    ///< of drawn faults: `amount` is a share
  std::int64_t amount = 0;  ///< of drawn faults: how many, or thousandths of a percent of all
  std::uint32_t draw = 0;   ///< of drawn faults: from 1
  bool operator==(const NetworkFault&) const = default;

  /// Whether it names an element that resolve_elements() finds.
  [[nodiscard]] bool is_named() const { return kind >= Kind::nic && kind <= Kind::plane; }
  [[nodiscard]] bool is_drawn() const {
    return kind == Kind::drawn_links || kind == Kind::drawn_switch_links || kind == Kind::drawn_npus;
  }
};
using NetworkFaults = std::vector<NetworkFault>;

/// Whether some of them are drawn: then they depend on the seed.
[[nodiscard]] bool draws(const NetworkFaults& faults);

/// The kind of fault in which an element fails.
[[nodiscard]] NetworkFault::Kind fault_of(NetworkElement element);

/// The faults with links and switches in place of NICs, leaves, spines and planes. `built` is the network before links
/// are removed or slowed, whose vertices later ones keep. Errors (input): an element that does not exist. O(links)
/// where an element is named.
[[nodiscard]] Result<NetworkFaults> resolve_elements(const Topology& built, const NetworkFaults& faults);

/// How many of `total` a drawn fault takes: its count, or its share rounded to the nearest whole number (halves up).
[[nodiscard]] std::size_t amount_of(const NetworkFault& fault, std::size_t total);

/// The NPUs of `npus` that fail, in order of ids. A count above `npus` takes all. O(npus) per drawn fault.
[[nodiscard]] std::vector<NpuId> failed_npus(const NetworkFaults& faults, std::size_t npus, std::uint64_t seed);

/// The link pairs of a topology. A link and one that leads back are a pair; parallel links are in pairs of their own,
/// in the order of their ids; a link with none that leads back is alone. O(links log links).
[[nodiscard]] std::size_t count_link_pairs(const Topology& topology);
/// Those of them that join two switches. O(links log links).
[[nodiscard]] std::size_t count_switch_link_pairs(const Topology& topology);

/// Why the fault does not fit the topology; nullopt where it does. Expects: no element that is still a name. Errors
/// (input): a link, an NPU or a switch that does not exist, a count above all, no link between switches to draw from.
/// O(degree), or O(links log links) for a count of links and for links between switches.
[[nodiscard]] std::optional<Diagnostic> refuse_fault(const Topology& topology, const NetworkFault& fault);

struct FaultyTopology {
  Topology topology;
  std::size_t failed_links = 0;  ///< those of failed NPUs and switches included
};

/// The topology without the failed links. Its vertices stay: failed NPUs and switches have no links. The shape is
/// forgotten if a link has failed. Errors (input): those of refuse_fault(). O(links log links) per drawn fault.
[[nodiscard]] Result<FaultyTopology> with_faults(const Topology& topology, const NetworkFaults& faults,
                                                 std::uint64_t seed);

/// "NPU 3", or the first few of many: "NPUs 3, 7, 9, 11 and 12 more". Expects: an NPU.
[[nodiscard]] std::string few_of(std::span<const NpuId> npus);

/// A cut of a network: no path leads from any NPU of `from` to any NPU of `to`.
struct DisconnectedNpus {
  std::vector<NpuId> from;
  std::vector<NpuId> to;
};

/// A cut between the members of a group, all of which it names; nullopt if every member reaches every other. Paths may
/// lead over any vertex. O(links).
[[nodiscard]] std::optional<DisconnectedNpus> find_cut_between(const Topology& topology,
                                                               std::span<const NpuId> members);

}  // namespace tenex
