// One attempt at a symmetric All-Gather: TACOS (arXiv:2304.05301) on the quotient by the translation group.
//
// Seen from one owner, a chunk must reach every offset, and a symmetric schedule can use each port (orbit_ports.hpp: a
// direction, or all directions over one switch) once per slot of time, for all receivers at once. So this is a
// broadcast of the owner's chunks over a network with one link per port: direction d of the port delivers item o (an
// offset and a chunk number) if o - d was received before. As in TACOS, events move time; a free port takes the first
// item in order of arrival that its target does not have.
//
// Encoding: received items are in one append-only list that each port walks with its own cursor. A port never needs an
// item again after passing it, since claimed items stay claimed. A port of several directions takes them in turn at
// each item, which reaches all items of a line, and passes over the others of that line. O(n * c * ports) time, and as
// many steps again as a port has directions for each of its sends.
//
// A port that finds nothing takes over the item of one that started at the same instant, if that one can find another.
//
// If ports differ in speed or length, those of a higher rank first open offsets that no lower one can reach (a coset of
// the lower directions in which nothing is claimed). Then they help out, latest finds first. Near the end a slow port
// only takes items that the others could not deliver sooner.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "synthesis/orbit/orbit_setup.hpp"
#include "tenex/base/bitset.hpp"
#include "tenex/base/random.hpp"

namespace tenex {

/// The settings of an attempt.
struct OrbitStyle {
  std::size_t ranking = 0;  ///< index into the setup's rankings
  /// Setups as if a send kept its link busy until it arrives, then starts every send as early as its direction's order
  /// and its source allow. If alpha lets sends of one link overlap, steps in lockstep often fit together better.
  bool lockstep = false;
  /// Slower ports open the cosets that they found last first: those that the others, which go on from what came first,
  /// would reach last.
  bool latest = false;
};

/// An item under way.
struct ItemSend {
  std::int64_t start;
  PackedItem item;  ///< as the receiver sees it
  std::uint32_t direction;
};

class OrbitGather {
 public:
  explicit OrbitGather(const OrbitSetup& setup);

  /// Makes a schedule and returns its last arrival. Without random numbers, ports take turns in being first. The
  /// same arguments give the same schedule.
  std::int64_t run(OrbitStyle style, std::optional<Random> random);
  /// The sends of the last run, in order of start.
  [[nodiscard]] const std::vector<ItemSend>& sends() const { return sends_; }
  /// The same, moved out.
  [[nodiscard]] std::vector<ItemSend> take_sends() { return std::move(sends_); }

 private:
  /// A port's walk through the received items.
  struct Walk {
    std::size_t cursor = 0;
    std::uint32_t turn = 0;       ///< the direction to try at the cursor
    Bitset lines;                 ///< of several directions: lines that were walked, by their item at position 0
    std::uint32_t first_own = 0;  ///< the owner's chunks are taken in rotated order
    std::int64_t free_at = 0;
    std::uint32_t last_send = 0;       ///< index into sends_; meaningful only once something was sent
    std::vector<PackedItem> found;     ///< cosets that it may open, by an item, if it opens the latest ones first
    std::vector<PackedItem> deferred;  ///< items found that a lower direction can reach too
  };
  /// What a port could send now.
  struct Find {
    PackedItem item;
    std::uint32_t direction;
  };
  /// The sends of a lane, in order of start: those before `arrived` have arrived.
  struct Flights {
    std::vector<std::uint32_t> sends;
    std::size_t arrived = 0;
    std::size_t freed = 0;
  };

  void reset();
  bool advance();
  void match();
  bool rematch(std::uint32_t port);
  std::optional<Find> choose(std::uint32_t port);
  std::optional<Find> look_further(std::uint32_t port, bool all);
  std::optional<Find> choose_latest(std::uint32_t port);
  std::optional<Find> choose_deferred(std::uint32_t port);
  std::optional<Find> next_in_turn(std::uint32_t port);
  /// The cursor's place in `received_`: each port begins with another of the owner's chunks.
  [[nodiscard]] std::size_t position_at(const Walk& walk) const {
    return walk.cursor < setup_.chunks ? (walk.cursor + walk.first_own) % setup_.chunks : walk.cursor;
  }
  [[nodiscard]] std::optional<Find> deliverable(std::uint32_t port, PackedItem item) const;
  [[nodiscard]] bool out_of_reach(std::uint32_t port, PackedItem item) const;
  [[nodiscard]] bool worth_it(std::uint32_t port) const;
  void send(std::uint32_t port, Find find);
  void claim(PackedItem item);
  void move_early();

  const OrbitSetup& setup_;
  const Ranking* ranking_ = nullptr;
  std::optional<Random> random_;
  std::vector<OrbitLane> lanes_;  ///< with the times of the style
  std::vector<Walk> walks_;
  std::vector<Flights> flights_;
  std::vector<PackedItem> received_;
  std::vector<ItemSend> sends_;
  std::vector<std::uint32_t> order_;  ///< order of ports at one instant
  Bitset claimed_;
  Bitset held_;                 ///< received items and the owner's
  std::vector<Bitset> opened_;  ///< by rank: cosets of the lower directions in which something is claimed
  std::uint64_t missing_ = 0;
  bool latest_ = false;  ///< of the style
  std::int64_t now_ = 0;
  std::int64_t finish_ = 0;
  std::uint32_t turn_ = 0;
  bool insisting_ = false;
};

}  // namespace tenex
