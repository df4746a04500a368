// Trees that grow destination by destination, where branches get in each other's way: an arrival at a switch that does
// not copy feeds one branch, chunks that wait fill buffers, and wires share physical links.
//
// Idea: the holders of a chunk are the NPUs and copying switches that the tree has reached, each from its arrival on. A
// search from all of them at once finds the earliest arrival at any destination that is missing. Its path is taken, the
// vertices on it at which a chunk may branch become holders, and the next search sees the links as they are then. For
// one destination the search is A*, as in path_search.hpp. Hops over switches with limited buffers get their times
// together (hop_chain.hpp); a label there stands for the best chain that leads to it, so that with such switches the
// arrival is not always the earliest one.
//
// Where trees keep to regions (regions.hpp), scarce links lead only into regions in which the chunk is not yet.
//
// The links of a plan are only ever taken, so a send from a holder never starts sooner in a later search than in an
// earlier one. Where trees are large, these starts are kept as floors: a link that cannot arrive before a
// destination that the search has met already is not looked at again.
//
// Encoding: as in path_search.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "synthesis/pccl/paths/distances.hpp"
#include "synthesis/pccl/paths/hop_chain.hpp"
#include "synthesis/pccl/paths/network.hpp"
#include "synthesis/pccl/paths/open_vertices.hpp"
#include "synthesis/pccl/paths/path_search.hpp"
#include "synthesis/pccl/paths/regions.hpp"
#include "synthesis/pccl/paths/switch_buffers.hpp"
#include "tenex/base/bitset.hpp"

namespace tenex {

/// A chunk's tree that is asked for.
template <class Cell>
struct GrowthRequest {
  std::uint32_t chunk = 0;
  std::size_t size = 0;
  std::uint32_t source = 0;
  std::span<const std::uint32_t> destinations;  ///< none of them the source
  const Bitset* allowed = nullptr;              ///< vertices; null: all
  std::uint32_t turn = 0;                       ///< chooses among equals
  const Cell* left = nullptr;                   ///< to the only destination: the search is A*
  PathRange range = PathRange::any;             ///< only where `left` is given
  bool in_turn = false;  ///< among equals the destination comes first that is next after the source, in the order of
                         ///< numbers
};

/// Where a chunk may leave from, while its tree grows.
template <class Time>
struct ChunkHolder {
  std::uint32_t vertex = 0;
  Time since = 0;  ///< the arrival
  Time until = 0;  ///< at limited buffers: the start of the last send so far
};

/// A tree while it grows.
template <class Time>
struct ChunkTree {
  std::vector<ChunkHolder<Time>> holders;
  std::vector<FoundHop<Time>>
      signals;               ///< sends that more destinations may join, where wires lead over copying switches
  std::vector<Time> floors;  ///< by link: a send from its source, a holder, starts no sooner; empty: not known
};

template <class Links>
class TreeGrowth {
 public:
  using Time = typename Links::Time;
  using Cell = typename Links::Cell;

  explicit TreeGrowth(const PathNetwork& network)
      : network_(network), labels_(network.vertices()), marks_(network.vertices()), chain_times_(network) {}

  /// Takes the links and buffers of a tree from the source, at time zero there, to all destinations, which can be
  /// reached. Where a copy would have to wait at a switch without room, the whole tree starts later. False if there is
  /// no way even after all other sends: the tree is then incomplete.
  [[nodiscard]] bool grow(Links& links, SwitchBuffers<Time>& buffers, const GrowthRequest<Cell>& request) {
    if (!network_.has_limits()) return grow_from(0, links, buffers, request);
    Time start = 0;
    for (std::uint32_t trial = 0; trial <= kMostTrials; ++trial) {
      if (trial == kMostTrials) start = std::max(start, links.end());
      links.begin_trial();
      buffers.begin_trial();
      if (grow_from(start, links, buffers, request)) return true;
      links.undo_trial();
      buffers.undo_trial();
      start = std::max(start, first_start_) + std::max<Time>(1, refused_by_);
    }
    return false;
  }

  /// Takes the links and buffers of a path to one destination more, from the holders so far, and adds it to the tree.
  [[nodiscard]] bool reach_one(Links& links, SwitchBuffers<Time>& buffers, const GrowthRequest<Cell>& request,
                               ChunkTree<Time>& tree) {
    begin(request, tree.holders);
    signals_.swap(tree.signals);
    floors_.swap(tree.floors);
    const std::uint32_t found = search(links, buffers, request);
    if (found != kNowhere) take_path(links, buffers, request, found);
    signals_.swap(tree.signals);
    floors_.swap(tree.floors);
    if (found == kNowhere) return false;
    tree.holders.resize(holders_.size());
    std::transform(holders_.begin(), holders_.end(), tree.holders.begin(), [&](std::uint32_t vertex) {
      return ChunkHolder<Time>{vertex, marks_[vertex].since, marks_[vertex].until};
    });
    return true;
  }

  /// From here on trees keep to regions, which must outlive this.
  void keep_to(const Regions& regions) {
    regions_ = &regions;
    entered_.assign(network_.vertices(), 0);
  }

  /// Whether floors of a tree are of use: buffers take nothing back, and no send joins another.
  [[nodiscard]] bool has_floors() const { return !network_.has_limits() && !network_.shares_signals(); }

 private:
  static constexpr Time kNever = std::numeric_limits<Time>::max();
  static constexpr std::uint32_t kMostTrials = 64;
  static constexpr std::size_t kFewDestinations = 8;  ///< for which a tree is grown at once without floors
  static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

  /// What the present search knows of a vertex.
  struct Label {
    std::uint32_t search = 0;
    std::uint32_t link = 0;  ///< that leads here; without meaning at holders
    std::uint32_t from = 0;  ///< the vertex before; itself at holders
    bool settled = false;
    Time time = 0;
  };
  /// What the present tree knows of a vertex.
  struct Mark {
    std::uint32_t wanted = 0;  ///< the tree of which it is a destination
    std::uint32_t held = 0;    ///< the tree of which it is a holder
    Time since = 0;            ///< as in ChunkHolder
    Time until = 0;
  };

  bool grow_from(Time start, Links& links, SwitchBuffers<Time>& buffers, const GrowthRequest<Cell>& request) {
    ChunkTree<Time> tree{{{request.source, start, start}}, {}, {}};
    if (has_floors() && request.destinations.size() > kFewDestinations) tree.floors.assign(network_.links(), 0);
    first_start_ = kNever;
    for (std::size_t missing = request.destinations.size(); missing > 0; --missing)
      if (!reach_one(links, buffers, request, tree)) return false;
    return true;
  }
  void begin(const GrowthRequest<Cell>& request, const std::vector<ChunkHolder<Time>>& holders) {
    ++tree_;
    holders_.clear();
    for (const std::uint32_t destination : request.destinations) marks_[destination].wanted = tree_;
    for (const auto& [vertex, since, until] : holders) hold(vertex, since, until);
  }
  void hold(std::uint32_t vertex, Time since, Time until) {
    Mark& mark = marks_[vertex];
    mark.wanted = 0;  // trees have numbers from 1 on
    mark.held = tree_;
    mark.since = since;
    mark.until = until;
    holders_.push_back(vertex);
    if (regions_ != nullptr) entered_[regions_->of(vertex)] = tree_;
  }
  [[nodiscard]] bool holds(std::uint32_t vertex) const { return marks_[vertex].held == tree_; }

  /// The place of a vertex among those with equal times: by distance left, or mixed.
  [[nodiscard]] Cell rank(const GrowthRequest<Cell>& request, std::uint32_t vertex) const {
    if (request.left != nullptr) return request.left[vertex];
    const auto vertices = static_cast<std::uint32_t>(network_.vertices());
    if (request.in_turn) return static_cast<Cell>((vertex + vertices - request.source) % vertices);
    return static_cast<Cell>((vertex * 0x9E3779B1U + request.turn) >> 16U);
  }

  /// The missing destination that can be reached first, or kNowhere. Its labels lead back to a holder.
  std::uint32_t search(const Links& links, const SwitchBuffers<Time>& buffers, const GrowthRequest<Cell>& request) {
    ++search_;
    open_.clear();
    refused_by_ = kNever;
    Time best = kNever;  // of the destinations that have a label
    const auto bound = [&](Time time, std::uint32_t vertex) {
      return request.left == nullptr ? time : time + links.least(request.left[vertex]);
    };
    for (const std::uint32_t holder : holders_) {
      if (request.left != nullptr && request.left[holder] == kUnreached<Cell>) continue;
      labels_[holder] = {search_, 0, holder, false, marks_[holder].since};
      open_.push(bound(marks_[holder].since, holder), rank(request, holder), holder);
    }
    while (!open_.empty()) {
      const std::uint32_t at = open_.pop().vertex;
      Label& here = labels_[at];
      if (here.settled) continue;
      here.settled = true;
      if (marks_[at].wanted == tree_) return at;
      const auto hops = network_.out(at);
      const auto first = static_cast<std::size_t>((std::uint64_t{request.turn} * hops.size()) >> 32U);
      for (std::size_t i = 0; i < hops.size(); ++i) {
        const PathHop& hop = hops[first + i < hops.size() ? first + i : first + i - hops.size()];
        if (!may_take(links, request, at, hop)) continue;
        if (network_.rests(at) && here.time + links.latency(hop.link, request.size) > best) continue;
        const bool floored = !floors_.empty() && here.from == at;
        if (floored && floors_[hop.link] + links.latency(hop.link, request.size) > best) continue;
        const Time arrival = this->arrival(links, buffers, request, at, hop.link);
        if (floored) floors_[hop.link] = arrival - links.latency(hop.link, request.size);
        Label& next = labels_[hop.vertex];
        if (next.search == search_) {
          if (next.settled || next.time < arrival) continue;
          if (next.time == arrival && links.load(hop.link) >= links.load(next.link)) continue;
        }
        if (arrival == kNever) continue;
        next = {search_, hop.link, at, false, arrival};
        if (marks_[hop.vertex].wanted == tree_) best = std::min(best, arrival);
        open_.push(bound(arrival, hop.vertex), rank(request, hop.vertex), hop.vertex);
      }
    }
    return kNowhere;
  }

  [[nodiscard]] bool may_take(const Links& links, const GrowthRequest<Cell>& request, std::uint32_t at,
                              const PathHop& hop) const {
    if (holds(hop.vertex) || (request.allowed != nullptr && !request.allowed->test(hop.vertex))) return false;
    if (regions_ != nullptr && regions_->scarce(hop.link) && entered_[regions_->of(hop.vertex)] == tree_) return false;
    if (request.left == nullptr) return true;
    const Cell there = request.left[hop.vertex];
    if (there == kUnreached<Cell>) return false;
    return request.range == PathRange::any || there + links.weight(hop.link, request.size) == request.left[at];
  }

  /// The arrival over a link from a vertex with a label; kNever if its buffer does not allow it.
  Time arrival(const Links& links, const SwitchBuffers<Time>& buffers, const GrowthRequest<Cell>& request,
               std::uint32_t at, std::uint32_t link) {
    const Time latency = links.latency(link, request.size);
    if (network_.rests(at)) return earliest(links, request, at, link).start + latency;
    const std::uint32_t base = trace_chain(at, link);
    const auto starts = chain_times_.starts(links, buffers, chain_, labels_[base].time, request.size);
    if (network_.rests(base) || buffers.fits(base, marks_[base].until, starts.front())) return starts.back() + latency;
    refused_by_ = std::min(refused_by_, starts.front() - marks_[base].until);
    return kNever;
  }

  /// The start of a send, and how many of its physical links it shares with a send that it joins.
  struct Start {
    Time start;
    std::size_t shared = 0;
  };
  /// From a vertex with room for all: as soon as the link is free, or together with a send of the same chunk.
  [[nodiscard]] Start earliest(const Links& links, const GrowthRequest<Cell>& request, std::uint32_t at,
                               std::uint32_t link) const {
    Start best{links.free_from(link, labels_[at].time, request.size)};
    if (!holds(at)) return best;
    for (const auto& [signal, start] : signals_) {
      if (start >= best.start || network_.source(signal) != at) continue;
      if (const std::size_t shared = links.shares(signal, link, start, request.size); shared > 0)
        best = {start, shared};
    }
    return best;
  }

  /// Fills chain_ with the links from the last vertex that has room for all, or holds the chunk, to `at` and on over
  /// `link`. Returns that vertex.
  std::uint32_t trace_chain(std::uint32_t at, std::uint32_t link) {
    chain_.assign(1, link);
    while (!network_.rests(at) && !holds(at)) {
      chain_.push_back(labels_[at].link);
      at = labels_[at].from;
    }
    std::reverse(chain_.begin(), chain_.end());
    return at;
  }

  /// Takes the path from a holder to a destination and makes holders of the vertices on it.
  void take_path(Links& links, SwitchBuffers<Time>& buffers, const GrowthRequest<Cell>& request,
                 std::uint32_t destination) {
    path_.clear();  // the last hop first
    std::uint32_t base = destination;
    std::size_t shared = 0;  // of the first hop, if it joins another send
    do {
      base = trace_chain(labels_[base].from, labels_[base].link);
      if (chain_.size() == 1 && network_.rests(base)) {
        const Start first = earliest(links, request, base, chain_.front());
        shared = first.shared;
        path_.push_back({chain_.front(), first.start});
        continue;
      }
      const auto starts = chain_times_.starts(links, buffers, chain_, labels_[base].time, request.size);
      for (std::size_t i = chain_.size(); i-- > 0;) path_.push_back({chain_[i], starts[i]});
    } while (!holds(base));
    first_start_ = std::min(first_start_, path_.back().start);
    buffers.add(base, marks_[base].until, path_.back().start);
    marks_[base].until = std::max(marks_[base].until, path_.back().start);
    for (std::size_t i = path_.size(); i-- > 0;) {
      const auto& [link, start] = path_[i];
      const std::uint32_t vertex = network_.target(link);
      const Time since = start + links.latency(link, request.size);
      const Time until = i == 0 ? since : path_[i - 1].start;
      links.take(link, start, request.size, request.chunk, i + 1 == path_.size() ? shared : 0);
      if (network_.shares_signals()) signals_.push_back({link, start});
      buffers.add(vertex, since, until);
      if (network_.branches(vertex)) hold(vertex, since, until);
    }
  }

  const PathNetwork& network_;
  std::vector<Label> labels_;
  std::vector<Mark> marks_;
  std::vector<std::uint32_t> holders_;
  std::vector<FoundHop<Time>> signals_;
  std::vector<Time> floors_;
  const Regions* regions_ = nullptr;
  std::vector<std::uint32_t> entered_;  ///< by region: the tree that has a holder there
  OpenVertices<Links> open_;
  std::vector<std::uint32_t> chain_;
  std::vector<FoundHop<Time>> path_;
  HopChain<Links> chain_times_;
  Time first_start_ = 0;  ///< of the present tree
  Time refused_by_ = 0;   ///< the least time that a copy would have had to wait without room, in the present search
  std::uint32_t search_ = 0;
  std::uint32_t tree_ = 0;
};

}  // namespace tenex
