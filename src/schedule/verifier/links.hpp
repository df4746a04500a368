// Link occupancy: no link carries two sends at once.
//
// Sends come in order of start. Where links are physical, one time per link is enough. Where they are wires
// (topology/wires.hpp), a send takes the physical links of its path at different times, so a later send may take a link
// earlier: each physical link keeps the sends that have not ended, which are few.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "schedule/verifier/context.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex::verifier {

/// The sends that occupy links. O(links) memory, and the sends under way where links are wires.
class LinkOccupancy {
 public:
  /// Checks the wires against the physical network: ends, offsets, alpha and slowest link of each. A wire that is not
  /// what it claims to be breaks an invariant of the topology.
  explicit LinkOccupancy(const Context& context);

  /// Takes the send's links for its busy time. Returns what is wrong, as a clause, if one of them was taken.
  std::optional<std::string> take(const Send& send) { return wires_ == nullptr ? take_link(send) : take_path(send); }

 private:
  /// A send on a physical link.
  struct Taken {
    SimTime from;
    SimTime until;
    Send send;
    std::uint32_t span = 0;  ///< the link's place in the send's path
  };
  /// What one signal would lack for two sends to be that signal.
  enum class Sharing : std::uint8_t { none, fine, needs_copy, needs_reduce };

  std::optional<std::string> take_link(const Send& send);
  std::optional<std::string> take_path(const Send& send);
  [[nodiscard]] Sharing sharing(const Taken& a, const Taken& b) const;
  [[nodiscard]] Sharing of_one_source(const Taken& a, const Taken& b) const;
  [[nodiscard]] Sharing of_one_target(const Taken& a, const Taken& b) const;
  void check_wire(LinkId wire) const;
  [[nodiscard]] SimTime serialization(const Send& send) const;

  const Context& context_;
  const Wires* wires_;
  std::vector<SimTime> busy_until_;        ///< by link, where links are physical
  std::vector<std::vector<Taken>> taken_;  ///< by physical link, where links are wires
};

}  // namespace tenex::verifier
