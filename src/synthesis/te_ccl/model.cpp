// Columns and rows of the time-expanded model.
#include "synthesis/te_ccl/model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "tenex/base/graph/shortest_paths.hpp"
#include "tenex/topology/slow_windows.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex::te_ccl {
namespace {

using Term = LinearProgram::Term;

/// Builds the model of one wish.
class ModelBuilder {
 public:
  ModelBuilder(const Instance& instance, const EpochGrid& grid, const EpochState& state, const Wish& wish)
      : topology_(instance.topology),
        collective_(instance.collective),
        grid_(grid),
        state_(state),
        wish_(wish),
        chunks_(instance.collective.chunks()),
        vertices_(instance.topology.vertices()),
        distance_(epoch_distances(instance.topology, grid)) {}

  EpochModel build() {
    if (wish_.horizon > grid_.most_epochs) return {};
    for (std::size_t chunk = 0; chunk < chunks_; ++chunk)
      if (!add_sends(chunk)) return {};
    for (std::size_t chunk = 0; chunk < chunks_; ++chunk)
      for (std::size_t vertex = 0; vertex < vertices_; ++vertex) {
        add_holdings(chunk, vertex);
        if (is_too_large()) return {};
      }
    for (const LinkRoom& room : grid_.rooms) {
      add_capacity(room);
      if (is_too_large()) return {};
    }
    if (wish_.limits)
      for (std::size_t vertex = topology_.npus(); vertex < vertices_; ++vertex) add_buffer(vertex);
    if (is_too_large()) return {};
    if (wish_.early || !wish_.all) reward_arrivals();
    if (!wish_.all) reward_ways();
    for (std::size_t group = 0; group < wish_.weights.size(); ++group) weigh(GroupId::at(group));
    return std::move(model_);
  }

 private:
  [[nodiscard]] std::size_t at(std::size_t chunk, std::size_t vertex) const { return chunk * vertices_ + vertex; }
  [[nodiscard]] bool copies(std::size_t vertex) const {
    return vertex < topology_.npus() || topology_.switch_properties(VertexId::at(vertex)).copy;
  }
  /// How often a chunk may start over a link within an epoch: a switch that does not copy takes it again and again.
  [[nodiscard]] int most_starts(std::size_t link, int epoch) const {
    return copies(topology_.target(LinkId::at(link)).index()) ? 1 : grid_.at(link, epoch).most;
  }
  [[nodiscard]] bool is_too_large() const { return model_.program.columns.size() > kMostTerms; }
  /// The last epoch in which something may arrive.
  [[nodiscard]] int last_arrival() const {
    return wish_.all ? wish_.horizon : wish_.horizon - 1 + grid_.longest_latency;
  }

  /// The earliest epoch at which each vertex can hold a chunk, and the epochs from there to the nearest place that
  /// wants it.
  [[nodiscard]] std::pair<std::vector<int>, std::vector<int>> reach(std::size_t chunk) const {
    std::vector<int> earliest(vertices_, kNoEpoch);
    std::vector<int> still(vertices_, kNoEpoch);
    for (std::size_t v = 0; v < vertices_; ++v)
      for (std::size_t u = 0; u < vertices_; ++u) {
        const int from = state_.held_from[at(chunk, u)];
        if (from < kNoEpoch && distance_[u][v] < kNoEpoch) earliest[v] = std::min(earliest[v], from + distance_[u][v]);
        if (state_.wanted[at(chunk, u)]) still[v] = std::min(still[v], distance_[v][u]);
      }
    return {std::move(earliest), std::move(still)};
  }

  bool add_sends(std::size_t chunk) {
    const auto [earliest, still] = reach(chunk);
    for (std::size_t l = 0; l < topology_.links(); ++l) {
      const auto link = LinkId::at(l);
      const auto from = topology_.source(link).index();
      const auto to = topology_.target(link).index();
      if (earliest[from] >= kNoEpoch || still[to] >= kNoEpoch || state_.held_from[at(chunk, to)] < kNoEpoch) continue;
      const int latency = grid_.links[l].latency;
      const int last = wish_.all ? wish_.horizon - latency - still[to] : wish_.horizon - 1;
      const int held = state_.held_from[at(chunk, from)];
      for (int epoch = std::max(0, held < kNoEpoch ? held : earliest[from]); epoch <= last; ++epoch) {
        if (wish_.all && grid_.arrival(l, epoch) + still[to] > wish_.horizon) break;
        const int column = model_.program.add_column(0, most_starts(l, epoch), cost_of(epoch), true);
        model_.sends.push_back({epoch, link, ChunkId::at(chunk)});
        out_[{at(chunk, from), l}].push_back(column);
        in_[at(chunk, to)].push_back(column);
        on_link_[l].push_back(column);
      }
      if (model_.sends.size() > kMostColumns) return false;
    }
    return true;
  }
  /// Early sends are a little cheaper, so that solutions have few and early ones. Beside weights, which are whole
  /// numbers, all sends of a plan together cost less than one: a chunk arrives at an NPU once, over each switch once.
  [[nodiscard]] double cost_of(int epoch) const {
    constexpr double kOfOneSend = 1e-3;
    constexpr double kOfAllSends = 0.4;
    const auto most = static_cast<double>(chunks_ * topology_.npus() * (1 + topology_.switches()));
    const double each = wish_.weights.empty() ? kOfOneSend : std::min(kOfOneSend, kOfAllSends / most);
    return each * (1 + static_cast<double>(epoch) / (1 + wish_.horizon));
  }

  /// What a vertex holds, epoch by epoch, and what it may send.
  void add_holdings(std::size_t chunk, std::size_t vertex) {
    const auto arrivals = in_.find(at(chunk, vertex));
    const bool here = state_.held_from[at(chunk, vertex)] < kNoEpoch;
    if (here) return hold_from_start(chunk, vertex);
    if (arrivals == in_.end()) {
      // Nothing can bring it: where it is wanted, the horizon is too short.
      if (wish_.all && state_.wanted[at(chunk, vertex)]) model_.program.add_row({}, 1, 1);
      // Nor can it be sent on, although distances outside all windows would allow it.
      return send_on(chunk, vertex, {});
    }
    std::map<int, std::vector<int>> by_epoch;
    for (const int column : arrivals->second) {
      const PlannedSend& send = model_.sends[static_cast<std::size_t>(column)];
      by_epoch[grid_.arrival(send.link.index(), send.epoch)].push_back(column);
    }
    const bool whole = wish_.all && state_.wanted[at(chunk, vertex)];
    const double most = copies(vertex) ? 1 : LinearProgram::kUnbounded;
    int before = -1;
    std::vector<std::pair<int, int>> held;  // epoch, column
    for (const auto& [epoch, columns] : by_epoch) {
      const bool last = epoch == by_epoch.rbegin()->first;
      const int now = model_.program.add_column(last && whole ? 1 : 0, most);
      std::vector<Term> terms{{now, 1}};
      if (before >= 0) terms.emplace_back(before, -1);
      for (const int column : columns) terms.emplace_back(column, -1);
      model_.program.add_row(terms, 0, 0);
      held.emplace_back(epoch, now);
      before = now;
    }
    final_[at(chunk, vertex)] = before;
    if (wish_.waits || vertex >= topology_.npus())
      send_on(chunk, vertex, held);
    else
      pass_on(chunk, vertex, by_epoch);
    if (!wish_.weights.empty() && whole) wanted_[collective_.group_of(ChunkId::at(chunk))].push_back(std::move(held));
  }

  /// Sends of each epoch over each link are no more than what arrives in this epoch.
  void pass_on(std::size_t chunk, std::size_t vertex, const std::map<int, std::vector<int>>& arrivals) {
    for (const LinkId link : topology_.out_links(VertexId::at(vertex))) {
      const auto out = out_.find({at(chunk, vertex), link.index()});
      if (out == out_.end()) continue;
      for (const int column : out->second) {
        const int epoch = model_.sends[static_cast<std::size_t>(column)].epoch;
        const int most = most_starts(link.index(), epoch);
        std::vector<Term> terms{{column, 1}};
        if (const auto now = arrivals.find(epoch); now != arrivals.end())
          for (const int arrival : now->second) terms.emplace_back(arrival, -most);
        model_.program.add_row(terms, -LinearProgram::kUnbounded, 0);
      }
    }
  }

  /// Sends of what the vertex has from the start: a switch that does not copy has it once.
  void hold_from_start(std::size_t chunk, std::size_t vertex) {
    if (copies(vertex)) return;
    std::vector<Term> terms;
    for (const LinkId link : topology_.out_links(VertexId::at(vertex)))
      if (const auto out = out_.find({at(chunk, vertex), link.index()}); out != out_.end())
        for (const int column : out->second) terms.emplace_back(column, 1);
    if (!terms.empty()) model_.program.add_row(terms, 0, 1);
  }

  /// Sends up to each epoch are no more than what is held then: over each link where the vertex copies, over all
  /// together otherwise. A vertex that copies sends to a switch that does not as often as it likes from then on.
  void send_on(std::size_t chunk, std::size_t vertex, const std::vector<std::pair<int, int>>& held) {
    std::vector<std::vector<int>> columns_of_links;
    for (const LinkId link : topology_.out_links(VertexId::at(vertex))) {
      const auto out = out_.find({at(chunk, vertex), link.index()});
      if (out == out_.end()) continue;
      if (copies(vertex) && !copies(topology_.target(link).index())) {
        limit_each(link, out->second, held);
        continue;
      }
      if (columns_of_links.empty() || copies(vertex)) columns_of_links.emplace_back();
      auto& list = columns_of_links.back();
      list.insert(list.end(), out->second.begin(), out->second.end());
    }
    for (const auto& columns : columns_of_links) limit(columns, held);
  }
  void limit_each(LinkId link, const std::vector<int>& columns, const std::vector<std::pair<int, int>>& held) {
    for (const int column : columns) {
      const int epoch = model_.sends[static_cast<std::size_t>(column)].epoch;
      const auto after = std::ranges::upper_bound(held, epoch, {}, &std::pair<int, int>::first);
      std::vector<Term> terms{{column, 1}};
      if (after != held.begin()) terms.emplace_back(std::prev(after)->second, -most_starts(link.index(), epoch));
      model_.program.add_row(terms, -LinearProgram::kUnbounded, 0);
    }
  }
  void limit(std::vector<int> columns, const std::vector<std::pair<int, int>>& held) {
    const auto epoch_of = [&](int column) { return model_.sends[static_cast<std::size_t>(column)].epoch; };
    std::ranges::stable_sort(columns, {}, epoch_of);
    std::vector<Term> terms;
    std::size_t h = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const int epoch = epoch_of(columns[i]);
      terms.emplace_back(columns[i], 1);
      if (i + 1 < columns.size() && epoch_of(columns[i + 1]) == epoch) continue;
      while (h < held.size() && held[h].first <= epoch) ++h;
      if (is_too_large()) return;
      auto row = terms;
      if (h > 0) row.emplace_back(held[h - 1].second, -1);
      model_.program.add_row(row, -LinearProgram::kUnbounded, 0);
    }
  }

  /// At most so many signals become busy on a physical link in its window of epochs.
  void add_capacity(const LinkRoom& room) {
    std::map<int, std::vector<Term>> starts;  // by the epoch in which the link becomes busy
    std::vector<int> before;
    for (const RoomUse& use : room.uses) add_signals(use, starts, before);
    if (starts.empty()) return;
    for (int first = starts.begin()->first - room.span + 1; first <= starts.rbegin()->first; ++first) {
      const auto [span, most] = grid_.room_from(room, first);
      const int end = first + span;
      std::vector<Term> terms;
      for (auto it = starts.lower_bound(first); it != starts.end() && it->first < end; ++it)
        terms.insert(terms.end(), it->second.begin(), it->second.end());
      const auto taken = std::ranges::count_if(before, [&](int epoch) { return epoch >= first && epoch < end; });
      const auto left = static_cast<double>(std::max<std::int64_t>(0, most - taken));
      if (is_too_large()) return;
      double all = 0;
      for (const auto& [column, value] : terms) all += model_.program.upper[static_cast<std::size_t>(column)];
      if (all > left) model_.program.add_row(terms, 0, left);
    }
  }
  void add_signals(const RoomUse& use, std::map<int, std::vector<Term>>& starts, std::vector<int>& before) {
    std::map<std::tuple<int, std::size_t, SimTime>, std::vector<int>> columns;  // what may be one signal
    for (const LinkId link : use.links)
      for (const int column : on_link_[link.index()]) {
        const PlannedSend& send = model_.sends[static_cast<std::size_t>(column)];
        columns[{send.epoch, send.chunk.index(), grid_.links[link.index()].serialization}].push_back(column);
      }
    for (const auto& [which, members] : columns)
      for (const int column : signals_of(members, use.span))
        starts[std::get<int>(which) + use.offset].emplace_back(column, 1);
    std::set<std::pair<int, std::size_t>> counted;  // rounds leave out wires: what they share is one signal
    for (const PlannedSend& send : state_.under_way)
      if (std::ranges::find(use.links, send.link) != use.links.end() &&
          counted.emplace(send.epoch, send.chunk.index()).second)
        before.push_back(send.epoch + use.offset);
  }
  /// Columns whose sum is the number of signals that sends of one chunk, epoch and source are on a link of their paths:
  /// after a switch that copies as many as on the next link that has most, after another one their sum.
  std::vector<int> signals_of(const std::vector<int>& columns, std::size_t span) {
    if (columns.size() == 1) return columns;
    const Wires& wires = *topology_.wires();
    const auto link_at = [&](int column, std::size_t place) {
      return wires.spans(model_.sends[static_cast<std::size_t>(column)].link)[place].link;
    };
    std::map<LinkId, std::vector<int>> parts;  // several wires over one link go on: they end at different vertices
    for (const int column : columns) parts[link_at(column, span + 1)].push_back(column);
    std::vector<std::vector<int>> counts;
    for (const auto& [next, part] : parts) counts.push_back(signals_of(part, span + 1));
    if (counts.size() == 1) return counts.front();
    const Topology& network = wires.network();
    const bool copies = network.switch_properties(network.target(link_at(columns.front(), span))).copy;
    if (!copies) {
      std::vector<int> all;
      for (const auto& count : counts) all.insert(all.end(), count.begin(), count.end());
      return all;
    }
    const auto [known, is_new] = most_of_.try_emplace(columns, model_.program.column_count());
    if (!is_new) return {known->second};
    const int most = model_.program.add_column(0, LinearProgram::kUnbounded);
    for (const auto& count : counts) {
      std::vector<Term> terms{{most, -1}};
      for (const int column : count) terms.emplace_back(column, 1);
      model_.program.add_row(terms, -LinearProgram::kUnbounded, 0);
    }
    return {most};
  }

  /// What a chunk's arrivals at a switch, and its sends from there, say of the buffer.
  struct Stay {
    std::map<int, std::vector<int>> arrivals;                            ///< columns, by the first epoch that counts
    std::map<std::size_t, std::vector<std::pair<int, int>>> departures;  ///< by link: first epoch that does not, column
  };
  [[nodiscard]] Stay stay_of(std::size_t chunk, std::size_t vertex) const {
    Stay stay;
    if (const auto in = in_.find(at(chunk, vertex)); in != in_.end())
      for (const int column : in->second) {
        const PlannedSend& send = model_.sends[static_cast<std::size_t>(column)];
        stay.arrivals[send.epoch + grid_.at(send.link.index(), send.epoch).soonest].push_back(column);
      }
    for (const LinkId link : topology_.out_links(VertexId::at(vertex)))
      if (const auto out = out_.find({at(chunk, vertex), link.index()}); out != out_.end())
        for (const int column : out->second) {
          // Of several sends of one epoch, all but the first start within it.
          const int epoch = model_.sends[static_cast<std::size_t>(column)].epoch;
          const int within = grid_.at(link.index(), epoch).most > 1 ? 1 : 0;
          stay.departures[link.index()].emplace_back(epoch + within, column);
        }
    return stay;
  }

  /// In every epoch, no more chunks wait at a switch than its buffer takes.
  void add_buffer(std::size_t vertex) {
    const SwitchProperties properties = topology_.switch_properties(VertexId::at(vertex));
    if (properties.buffer == kUnlimitedBuffer) return;
    std::map<int, std::vector<Term>> waiting;  // by epoch
    for (std::size_t chunk = 0; chunk < chunks_; ++chunk) {
      const Stay stay = stay_of(chunk, vertex);
      if (stay.arrivals.empty()) continue;
      for (int epoch = stay.arrivals.begin()->first; epoch < last_arrival(); ++epoch)
        if (!is_too_large()) add_waiting(stay, epoch, properties.copy, waiting[epoch]);
    }
    for (const auto& [epoch, terms] : waiting)
      if (!terms.empty()) model_.program.add_row(terms, -LinearProgram::kUnbounded, properties.buffer);
  }
  /// Terms whose sum is at least the number of times that the chunk waits in this epoch: what has arrived and not yet
  /// left. A copy waits where it has arrived and one of its sends is still to start.
  void add_waiting(const Stay& stay, int epoch, bool copy, std::vector<Term>& terms) {
    std::vector<Term> arrived;
    for (const auto& [from, columns] : stay.arrivals)
      if (from <= epoch)
        for (const int column : columns) arrived.emplace_back(column, 1);
    if (!copy) {
      terms.insert(terms.end(), arrived.begin(), arrived.end());
      for (const auto& [link, sends] : stay.departures)
        for (const auto& [until, column] : sends)
          if (until <= epoch) terms.emplace_back(column, -1);
      return;
    }
    int waits = -1;
    for (const auto& [link, sends] : stay.departures) {
      auto row = arrived;
      for (const auto& [until, column] : sends)
        if (until > epoch) row.emplace_back(column, 1);
      if (row.size() == arrived.size()) continue;
      if (waits < 0) waits = model_.program.add_column(0, 1);
      row.emplace_back(waits, -1);
      model_.program.add_row(row, -LinearProgram::kUnbounded, 1);
    }
    if (waits >= 0) terms.emplace_back(waits, 1);
  }

  /// A wanted chunk wins 1 at its destination, the more the sooner.
  void reward_arrivals() {
    for (std::size_t column = 0; column < model_.sends.size(); ++column) {
      const PlannedSend& send = model_.sends[column];
      const auto to = topology_.target(send.link).index();
      if (state_.wanted[at(send.chunk.index(), to)])
        model_.program.cost[column] -= 1.0 / (1 + grid_.arrival(send.link.index(), send.epoch));
    }
  }
  /// A group wins its weight in every epoch of the horizon in which it is done: in which all its places hold what they
  /// want. The epochs in which it is not done are its finish epoch.
  void weigh(GroupId group) {
    auto& program = model_.program;
    const auto weight = static_cast<double>(wish_.weights[group.index()]);
    const auto& places = wanted_[group];
    int first = 0;
    for (const auto& held : places) first = std::max(first, held.front().first);
    for (int epoch = first; epoch < wish_.horizon; ++epoch) {
      const int done = program.add_column(0, 1, -weight);
      for (const auto& held : places) {
        const auto after = std::ranges::upper_bound(held, epoch, {}, &std::pair<int, int>::first);
        program.add_row(std::vector<Term>{{done, 1}, {std::prev(after)->second, -1}}, -LinearProgram::kUnbounded, 0);
      }
    }
  }

  /// It wins less at a place on its way there (TE-CCL, appendix D).
  void reward_ways() {
    auto& program = model_.program;
    for (std::size_t chunk = 0; chunk < chunks_; ++chunk)
      for (std::size_t end = 0; end < vertices_; ++end) {
        if (!state_.wanted[at(chunk, end)]) continue;
        std::vector<Term> one_place;
        for (std::size_t v = 0; v < vertices_; ++v) {
          const auto held = final_.find(at(chunk, v));
          if (held == final_.end() || distance_[v][end] >= kNoEpoch) continue;
          const int place = program.add_column(0, 1, -wish_.reward / (1 + distance_[v][end]));
          program.add_row(std::vector<Term>{{place, 1}, {held->second, -1}}, -LinearProgram::kUnbounded, 0);
          one_place.emplace_back(place, 1);
        }
        if (!one_place.empty()) program.add_row(one_place, 0, 1);
      }
  }

  const Topology& topology_;
  const Collective& collective_;
  const EpochGrid& grid_;
  const EpochState& state_;
  const Wish& wish_;
  std::size_t chunks_;
  std::size_t vertices_;
  std::vector<std::vector<int>> distance_;
  EpochModel model_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<int>> out_;  ///< by (chunk, vertex) and link
  std::map<std::size_t, std::vector<int>> in_;                           ///< by (chunk, vertex)
  std::map<std::size_t, std::vector<int>> on_link_;
  std::map<std::vector<int>, int> most_of_;  ///< by sends that part at a switch that copies: their signals before it
  std::map<std::size_t, int> final_;         ///< by (chunk, vertex): what it holds in the end
  /// Where weights count, by group: what each place that wants a chunk holds, by epoch (epoch, column).
  std::map<GroupId, std::vector<std::vector<std::pair<int, int>>>> wanted_;
};

}  // namespace

EpochState first_state(const Instance& instance) {
  const auto vertices = instance.topology.vertices();
  const auto& collective = instance.collective;
  EpochState state;
  state.held_from.assign(collective.chunks() * vertices, kNoEpoch);
  state.wanted.assign(collective.chunks() * vertices, false);
  for (std::size_t chunk = 0; chunk < collective.chunks(); ++chunk)
    for (std::size_t npu = 0; npu < instance.topology.npus(); ++npu) {
      const bool holds = collective.holds_at_start(NpuId::at(npu), ChunkId::at(chunk));
      if (holds) state.held_from[chunk * vertices + npu] = 0;
      state.wanted[chunk * vertices + npu] = !holds && collective.must_hold(NpuId::at(npu), ChunkId::at(chunk));
    }
  return state;
}

std::vector<std::vector<int>> epoch_distances(const Topology& topology, const EpochGrid& grid) {
  std::vector<std::vector<int>> all;
  for (std::size_t from = 0; from < topology.vertices(); ++from) {
    std::vector<int> least(topology.vertices(), kNoEpoch);
    BestPaths<int> paths(least);
    paths.reach(static_cast<std::uint32_t>(from), 0);
    while (const auto at = paths.next())
      for (const LinkId link : topology.out_links(VertexId(at->vertex)))
        paths.reach(topology.target(link).value(), at->cost + grid.links[link.index()].latency);
    all.push_back(std::move(least));
  }
  return all;
}

int least_horizon(const Instance& instance, const EpochGrid& grid, const EpochState& state) {
  const auto distance = epoch_distances(instance.topology, grid);
  const auto vertices = instance.topology.vertices();
  int horizon = 0;
  for (std::size_t place = 0; place < state.wanted.size(); ++place) {
    if (!state.wanted[place]) continue;
    int earliest = kNoEpoch;
    for (std::size_t from = 0; from < vertices; ++from) {
      const int held = state.held_from[place / vertices * vertices + from];
      if (held < kNoEpoch) earliest = std::min(earliest, held + distance[from][place % vertices]);
    }
    horizon = std::max(horizon, earliest);
  }
  return horizon;
}

EpochModel build_model(const Instance& instance, const EpochGrid& grid, const EpochState& state, const Wish& wish) {
  return ModelBuilder(instance, grid, state, wish).build();
}

std::vector<PlannedSend> sends_of(const EpochModel& model, const std::vector<double>& values) {
  std::vector<PlannedSend> chosen;
  for (std::size_t i = 0; i < model.sends.size(); ++i)  // values are whole up to the solver's tolerance
    for (std::int64_t times = std::llround(values[i]); times > 0; --times) chosen.push_back(model.sends[i]);
  std::ranges::sort(chosen, {}, [](const PlannedSend& send) {
    return std::tuple(send.epoch, send.link.value(), send.chunk.value());
  });
  return chosen;
}

std::vector<Send> timed(const Instance& instance, const EpochGrid& grid, std::vector<PlannedSend> sends) {
  const StartedHops hops(instance.topology, instance.collective.chunk_sizes(), instance.occupancy);
  std::vector<Send> list;
  std::map<std::pair<int, std::uint32_t>, SimTime> next;  // when the link is free for a send of the epoch
  for (const PlannedSend& send : sends) {
    SimTime& free = next.try_emplace({send.epoch, send.link.value()}, grid.length * send.epoch).first->second;
    list.push_back({.start = free, .link = send.link, .chunk = send.chunk});
    free += hops.at(instance.topology.class_of(send.link), 0, free).busy;
  }
  return list;
}

}  // namespace tenex::te_ccl
