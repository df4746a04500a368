// One attempt at an All-Gather on layers of equal positions (layer_network.hpp).
//
// As in TACOS (arXiv:2304.05301), events move time, and links that are free are matched with items that their sources
// hold and their targets lack. A layer has few ports and its items are few, so at each instant its free ports get a
// largest matching by augmenting paths. Which items are taken first is the style's choice; attempts take turns with
// them. Ports of slow dimensions take, as in orbit_gather.hpp, items that no port of a lower rank can reach first. They
// take others only if the ports together could not deliver all sooner, or where they open what ports of their rank or
// lower open, if these could not open all sooner.
//
// Encoding: an item is owner * positions + offset, where owners are chunks by layer. Each port has a list of items that
// its source holds, in order of arrival, which it filters as it looks at it. O(layers^2 * positions * chunks * ports)
// memory, and as many steps for each item that is looked at again while it waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "synthesis/orbit/layer_network.hpp"
#include "tenex/base/random.hpp"

namespace tenex {

/// How an attempt treats a link that is free before its last send has arrived.
enum class LayerPace : std::uint8_t {
  as_it_is,
  lockstep,  ///< links count as busy until a send arrives; in the end all sends start earlier
  ahead,     ///< what is under way can be planned once its link is free, to be sent on when it arrives
};

/// What an attempt prefers.
struct LayerStyle {
  std::vector<std::uint32_t> rank;  ///< by dimension; those of a higher rank first open what no lower one can reach
  LayerPace pace = LayerPace::as_it_is;
  bool latest = false;  ///< of items that no lower rank can reach, those that came last first
  bool far = false;     ///< of other items, those first that lower ranks would deliver last
  bool strict = false;  ///< slow ports take nothing at all if the ports together might deliver all sooner
  bool wanted = false;  ///< items that most neighbours of the receiver lack first
  bool scarce = false;  ///< items that few ports could deliver now first
};

/// An item under way, into all positions of a layer.
struct LayerSend {
  SimTime start;
  std::uint32_t layer = 0;
  std::uint32_t port = 0;
  std::uint32_t item = 0;  ///< as the receiver sees it
};

class LayerGather {
 public:
  /// `hops`: by link class. Each NPU owns `chunks` chunks. Both must outlive it.
  LayerGather(const LayerNetwork& network, const std::vector<HopTime>& hops, std::uint32_t chunks);

  /// Makes a schedule and returns its last arrival; nullopt where it would not be before `limit`. Random numbers, if
  /// given, decide whose turn it is. The same arguments give the same schedule.
  std::optional<SimTime> run(const LayerStyle& style, std::optional<Random> random, SimTime limit);
  /// The sends of the last run, each after those that it needs.
  [[nodiscard]] const std::vector<LayerSend>& sends() const { return sends_; }
  [[nodiscard]] std::uint32_t items() const { return items_; }

 private:
  struct Candidate {
    std::uint32_t item = 0;
    std::uint32_t arrival = 0;  ///< its turn at the source
    SimTime ready;              ///< when the source has it
  };
  struct Option {
    std::int64_t cost = 0;
    std::uint32_t item = 0;
    SimTime ready;
    bool operator<(const Option& other) const { return cost != other.cost ? cost < other.cost : item < other.item; }
  };
  /// What a layer does at an instant.
  struct Port {
    SimTime free_at;
    std::vector<Candidate> candidates;
    std::vector<Option> options;    ///< the best, as many as the layer has free ports
    std::uint32_t matched = kNone;  ///< an item
  };
  /// Events at one instant come by kind, then in the order in which they were caused.
  struct Event {
    SimTime time;
    std::uint64_t kind_and_number = 0;  ///< kind: arrivals by link class, then free ports by link class
    std::uint32_t layer = 0;
    std::uint32_t item = kNone;  ///< that arrives; kNone: a port becomes free
    SimTime arrival;
    bool operator>(const Event& other) const {
      return time != other.time ? time > other.time : kind_and_number > other.kind_and_number;
    }
  };
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  void reset(const LayerStyle& style, std::optional<Random> random);
  void set_keys();
  void hold(std::uint32_t layer, std::uint32_t item, SimTime ready);
  void claim(std::uint32_t layer, std::uint32_t item);
  void bring_nearer(std::uint32_t rank, std::uint32_t layer, std::uint32_t item);
  void touch(std::uint32_t layer);
  void add_event(Event event, std::size_t kind);
  bool advance();
  void match_all();
  void match(std::uint32_t layer);
  void find_options(std::uint32_t layer, std::uint32_t port);
  void count_deliverers(std::uint32_t layer);
  [[nodiscard]] std::int64_t cost(std::uint32_t layer, std::uint32_t port, const Candidate& candidate) const;
  bool find_worth(std::uint32_t layer, std::uint32_t port);
  [[nodiscard]] bool worth_it(std::uint32_t layer, std::uint32_t port, std::uint32_t rank) const;
  [[nodiscard]] bool worth_it(std::uint32_t layer, const Candidate& candidate) const;
  [[nodiscard]] bool opens(std::uint32_t layer, std::uint32_t port, std::uint32_t item) const;
  bool augment(std::uint32_t layer, std::uint32_t port);
  void send(std::uint32_t layer, std::uint32_t port);
  SimTime move_early();

  [[nodiscard]] std::size_t at(std::uint32_t layer, std::uint32_t item) const {
    return std::size_t{layer} * items_ + item;
  }
  [[nodiscard]] Port& port_at(std::uint32_t layer, std::uint32_t port) {
    return ports_[network_.first_port(layer) + port];
  }
  [[nodiscard]] const Port& port_at(std::uint32_t layer, std::uint32_t port) const {
    return ports_[network_.first_port(layer) + port];
  }
  [[nodiscard]] std::uint32_t rank_of(std::uint32_t layer, std::uint32_t port) const {
    return style_->rank[network_.ports(layer)[port].dimension];
  }
  [[nodiscard]] const HopTime& hop(std::uint32_t layer, std::uint32_t port) const {
    return hops_[network_.ports(layer)[port].link_class];
  }
  [[nodiscard]] SimTime busy(std::uint32_t layer, std::uint32_t port) const {
    return style_->pace == LayerPace::lockstep ? hop(layer, port).latency : hop(layer, port).busy;
  }
  [[nodiscard]] std::uint32_t at_source(std::uint32_t shift, std::uint32_t item) const {
    const std::uint32_t offset = item % network_.positions();
    return item - offset + network_.at_source(shift, offset);
  }
  [[nodiscard]] std::uint32_t at_target(std::uint32_t shift, std::uint32_t item) const {
    const std::uint32_t offset = item % network_.positions();
    return item - offset + network_.at_target(shift, offset);
  }
  /// Where `opened_` says whether anything of an item's coset has been claimed.
  [[nodiscard]] std::size_t coset(std::uint32_t rank, std::uint32_t layer, std::uint32_t item) const {
    const std::uint32_t offset = item % network_.positions();
    return at(layer_keys_[rank][layer], item - offset + offset_keys_[rank][offset]);
  }

  const LayerNetwork& network_;
  const std::vector<HopTime>& hops_;
  std::uint32_t chunks_;
  std::uint32_t items_;
  const LayerStyle* style_ = nullptr;
  std::optional<Random> random_;
  std::vector<Port> ports_;                              ///< of all layers
  std::vector<char> claimed_;                            ///< per layer and item: held or on its way
  std::vector<std::uint16_t> wanted_;                    ///< neighbours that lack it
  std::vector<std::vector<char>> opened_;                ///< by rank
  std::vector<std::vector<std::uint32_t>> unopened_;     ///< by rank and layer's key: cosets
  std::vector<std::vector<std::uint32_t>> sharing_;      ///< by rank and layer's key: layers with this key
  std::vector<std::vector<std::uint32_t>> layer_keys_;   ///< by rank: the layer without what lower ranks change
  std::vector<std::vector<std::uint32_t>> offset_keys_;  ///< the same of offsets
  std::vector<std::vector<SimTime>> away_;  ///< by rank: time over ports of lower ranks from what is claimed, if `far`
  std::vector<std::pair<std::uint32_t, std::uint32_t>> nearer_;  ///< layers and items whose `away_` fell
  std::vector<std::uint32_t> missing_;                           ///< items, per layer
  std::vector<std::uint32_t> arrived_;                           ///< items, per layer
  std::uint64_t left_ = 0;                                       ///< items that no layer has claimed
  std::vector<char> touched_;
  std::vector<std::uint32_t> touched_layers_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t caused_ = 0;               ///< events
  std::vector<std::uint32_t> free_;        ///< ports of the layer that is matched
  std::vector<std::uint32_t> taken_by_;    ///< per item, while a layer is matched
  std::vector<std::uint32_t> seen_;        ///< per item: the last search that saw it
  std::vector<std::uint16_t> deliverers_;  ///< per item: ports that could deliver it now
  std::uint32_t search_ = 0;
  std::vector<char> worth_;  ///< by rank: whether a port should take what is unopened there; rank 0: anything
  bool insisting_ = false;   ///< nothing else is left to do, so slow ports take what they left
  SimTime now_;
  SimTime last_arrival_;
  std::vector<LayerSend> sends_;
};

}  // namespace tenex
