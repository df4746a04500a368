// Epochs: times of hops as whole numbers of a length tau (TE-CCL, sections III and V, appendix F).
//
// Rounded up, a plan in epochs is a schedule: a link takes a chunk for no longer, and the chunk arrives no later, than
// the plan says. Rounded down, every schedule of time T is a plan whose last arrival is in epoch floor(T / tau): for
// arrivals, floor(start / tau) + floor(latency / tau) <= floor((start + latency) / tau), and two sends of a link that
// are `busy` apart start floor(busy / tau) epochs apart at least. So a horizon that has no plan rounded down is a lower
// bound on time. Over wires (tenex/topology/wires.hpp), what shares a physical link must be apart after its offset.
// Rounded down, offsets that differ by parts of an epoch move a send by one epoch, so links of such wires take one more
// epoch's signals. Rounded up, they may meet, so plans over wires are schedules only once they are played, or where tau
// divides all times. Where tau divides all times, both are the same, and the shortest plan is an optimum.
//
// Where bandwidth varies (TE-CCL, section 5), a send of an epoch takes as long as one that starts at its first instant,
// and sends of one epoch follow each other from there. Rounded down, that still holds for every schedule: a send that
// starts later ends no sooner, so it arrives no sooner than one that starts with its epoch, and the n-th of several
// does not start before the n-th of those that follow each other from there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/run_choices.hpp"

namespace tenex::te_ccl {

enum class Rounding : std::uint8_t { up, down };

/// The sends of a link in epochs.
struct LinkEpochs {
  int latency = 0;        ///< a send of epoch k arrives at the start of epoch k + latency ...
  int soonest = 0;        ///< ... and, played at the start of its epoch, not before epoch k + soonest
  int span = 1;           ///< in so many consecutive epochs ...
  int most = 1;           ///< ... at most this many sends start
  SimTime busy;           ///< of one send
  SimTime serialization;  ///< of one chunk: sends of one signal have the same
};

/// More epochs than these are not told apart by windows.
inline constexpr int kMostVaryingEpochs = 1 << 17;

/// Links that take a physical link in the same way: wires of one source over the same links so far. A plain link is
/// its only one.
struct RoomUse {
  std::vector<LinkId> links;
  std::size_t span = 0;  ///< the physical link is this one of their spans
  int offset = 0;        ///< epochs from the start of a send until the physical link becomes busy
};

/// What a physical link takes.
struct LinkRoom {
  int span = 1;  ///< in so many consecutive epochs ...
  int most = 1;  ///< ... at most this many signals become busy
  std::vector<RoomUse> uses;
};

/// All links, for chunks of one size.
struct EpochGrid {
  SimTime length;
  bool exact = false;             ///< `length` divides all times
  std::vector<LinkEpochs> links;  ///< outside all windows, where hops are shortest
  std::vector<LinkRoom> rooms;    ///< by physical link
  int longest_latency = 0;        ///< outside all windows
  /// Where bandwidth varies: by link class, sends of each epoch until the last window is over; empty: of no window.
  std::vector<std::vector<LinkEpochs>> varying = {};
  std::vector<std::uint16_t> class_of = {};           ///< by link, where bandwidth varies
  int most_epochs = std::numeric_limits<int>::max();  ///< the grid does not hold for longer horizons

  /// Sends of an epoch over a link.
  [[nodiscard]] const LinkEpochs& at(std::size_t link, int epoch) const {
    if (varying.empty()) return links[link];
    const auto& of_class = varying[class_of[link]];
    const auto place = static_cast<std::size_t>(std::max(0, epoch));
    return place < of_class.size() ? of_class[place] : links[link];
  }
  /// The epoch in which a send of an epoch arrives.
  [[nodiscard]] int arrival(std::size_t link, int epoch) const { return epoch + at(link, epoch).latency; }
  /// What a physical link takes from an epoch on: LinkRoom::span and most.
  [[nodiscard]] std::pair<int, int> room_from(const LinkRoom& room, int epoch) const {
    if (varying.empty()) return {room.span, room.most};
    const LinkEpochs& link = at(room.uses.front().links.front().index(), epoch);
    return {link.span, link.most};
  }
};

/// The length of an epoch that a point asks for: a multiple of the busy time of its fastest or slowest link outside all
/// windows, five times
/// that where some alpha is more than 200 times as long (TE-CCL, section V), or the length that it names.
[[nodiscard]] SimTime epoch_length(const Instance& instance, const EpochChoice& choice);
/// Expects: chunks of one size, a length above zero, and bandwidth that varies on physical links alone.
[[nodiscard]] EpochGrid epoch_grid(const Instance& instance, SimTime length, Rounding rounding);

}  // namespace tenex::te_ccl
