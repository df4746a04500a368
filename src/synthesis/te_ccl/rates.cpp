// Rates of flow per epoch (TE-CCL, section IV.1), for chunks with one destination each.
//
// Chunks with the same source are one flow: its rate on a link in an epoch, what waits at a vertex, and what a
// destination takes. The least horizon of the program with hops rounded down is a bound, because a schedule is such a
// flow in whole numbers. A flow falls into paths over links and epochs. Every chunk takes a path of its pair, paths
// with more of the flow first; then links take chunks in the order in which the paths use them.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "synthesis/te_ccl/model.hpp"
#include "synthesis/te_ccl/search.hpp"

namespace tenex::te_ccl {
namespace {

using Term = LinearProgram::Term;
constexpr double kTiny = 1e-7;
constexpr std::size_t kMostRates = 4 * kMostColumns;

/// The program of one horizon.
struct RateModel {
  LinearProgram program;
  /// By (source, link, epoch) and (source, vertex, epoch): columns.
  std::map<std::tuple<std::size_t, std::size_t, int>, int> rate;
  std::map<std::tuple<std::size_t, std::size_t, int>, int> taken;
  std::map<std::tuple<std::size_t, std::size_t, int>, int> waits;
};

/// How many chunks each NPU has for each other one.
std::map<std::pair<std::size_t, std::size_t>, std::vector<ChunkId>> pairs_of(const Collective& collective) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<ChunkId>> pairs;
  for (std::size_t c = 0; c < collective.chunks(); ++c) {
    const auto chunk = ChunkId::at(c);
    const auto source = collective.source(chunk);
    for (std::size_t npu = 0; npu < collective.npus(); ++npu)
      if (collective.must_hold(NpuId::at(npu), chunk) && !collective.holds_at_start(NpuId::at(npu), chunk))
        pairs[{source.index(), npu}].push_back(chunk);
  }
  return pairs;
}

class RateBuilder {
 public:
  RateBuilder(const Instance& instance, const EpochGrid& grid, int horizon)
      : topology_(instance.topology),
        grid_(grid),
        horizon_(horizon),
        pairs_(pairs_of(instance.collective)),
        distance_(epoch_distances(instance.topology, grid)) {}

  RateModel build() {
    if (horizon_ > grid_.most_epochs) return {};
    std::set<std::size_t> sources;
    for (const auto& [pair, chunks] : pairs_) sources.insert(pair.first);
    for (const std::size_t source : sources)
      if (!add_flow(source)) return {};
    for (const LinkRoom& room : grid_.rooms) {
      add_capacity(room);
      if (is_too_large()) return {};
    }
    return std::move(model_);
  }

 private:
  [[nodiscard]] bool is_too_large() const { return model_.program.columns.size() > kMostTerms; }

  bool add_flow(std::size_t source) {
    std::vector<int> still(topology_.vertices(), kNoEpoch);
    for (std::size_t v = 0; v < topology_.vertices(); ++v)
      for (const auto& [pair, chunks] : pairs_)
        if (pair.first == source) still[v] = std::min(still[v], distance_[v][pair.second]);
    std::map<std::pair<std::size_t, int>, std::vector<Term>> events;  // what changes what waits, by vertex and epoch
    for (std::size_t l = 0; l < topology_.links(); ++l) {
      const auto from = topology_.source(LinkId::at(l)).index();
      const auto to = topology_.target(LinkId::at(l)).index();
      if (distance_[source][from] >= kNoEpoch || still[to] >= kNoEpoch || to == source) continue;
      for (int epoch = distance_[source][from]; grid_.arrival(l, epoch) + still[to] <= horizon_; ++epoch) {
        const int column = model_.program.add_column(0, LinearProgram::kUnbounded, 1e-4 * (1 + epoch));
        model_.rate[{source, l, epoch}] = column;
        on_link_[l].emplace_back(epoch, column);
        events[{from, epoch}].emplace_back(column, -1);
        events[{to, grid_.arrival(l, epoch)}].emplace_back(column, 1);
      }
      if (model_.rate.size() > kMostRates) return false;
    }
    for (std::size_t v = 0; v < topology_.vertices(); ++v) add_waiting(source, v, events);
    return true;
  }

  /// waits[k] = waits[k-1] + arrivals - departures - taken, and all of a pair is taken by the horizon.
  void add_waiting(std::size_t source, std::size_t vertex,
                   const std::map<std::pair<std::size_t, int>, std::vector<Term>>& events) {
    auto& program = model_.program;
    const auto pair = pairs_.find({source, vertex});
    const bool takes = pair != pairs_.end();
    double amount = 0;
    for (const auto& [other, chunks] : pairs_)
      if (other.first == source && vertex == source) amount += static_cast<double>(chunks.size());
    std::vector<Term> all_taken;
    int before = -1;
    for (auto it = events.lower_bound({vertex, 0}); it != events.end() && it->first.first == vertex; ++it) {
      std::vector<Term> row = it->second;
      for (auto& [column, sign] : row) sign = -sign;
      const int now = program.add_column(0, LinearProgram::kUnbounded);
      model_.waits[{source, vertex, it->first.second}] = now;
      row.emplace_back(now, 1);
      if (before >= 0) row.emplace_back(before, -1);
      if (takes) {
        const int taken = program.add_column(0, LinearProgram::kUnbounded);
        model_.taken[{source, vertex, it->first.second}] = taken;
        row.emplace_back(taken, 1);
        all_taken.emplace_back(taken, 1);
      }
      const double given = before < 0 ? amount : 0;
      program.add_row(row, given, given);
      before = now;
    }
    if (takes) {
      const auto wanted = static_cast<double>(pair->second.size());
      program.add_row(all_taken, wanted, wanted);
    }
  }

  void add_capacity(const LinkRoom& room) {
    std::map<int, std::vector<Term>> rates;  // by the epoch in which the link becomes busy
    for (const RoomUse& use : room.uses)
      for (const LinkId link : use.links)
        for (const auto& [epoch, column] : on_link_[link.index()]) rates[epoch + use.offset].emplace_back(column, 1);
    if (rates.empty()) return;
    for (int first = rates.begin()->first - room.span + 1; first <= rates.rbegin()->first; ++first) {
      const auto [span, most] = grid_.room_from(room, first);
      std::vector<Term> terms;
      for (auto it = rates.lower_bound(first); it != rates.end() && it->first < first + span; ++it)
        terms.insert(terms.end(), it->second.begin(), it->second.end());
      if (is_too_large()) return;
      if (!terms.empty()) model_.program.add_row(terms, -LinearProgram::kUnbounded, most);
    }
  }

  const Topology& topology_;
  const EpochGrid& grid_;
  int horizon_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<ChunkId>> pairs_;
  std::vector<std::vector<int>> distance_;
  std::map<std::size_t, std::vector<std::pair<int, int>>> on_link_;  ///< epochs and columns
  RateModel model_;
};

/// A path of flow: its links and their epochs, from the source on.
struct RatePath {
  std::vector<std::pair<LinkId, int>> hops;
  double amount = 0;
};

/// Takes paths that end at a destination out of a flow, until its amount is found. A path is followed backward from
/// what the destination takes, over what arrives and what waits: what is left is a flow for the other destinations.
class PathFinder {
 public:
  PathFinder(const Instance& instance, const EpochGrid& grid, const RateModel& model, const std::vector<double>& values)
      : topology_(instance.topology),
        grid_(grid),
        rate_(positive(model.rate, values)),
        waits_(positive(model.waits, values)),
        taken_(positive(model.taken, values)) {}

  std::vector<RatePath> paths(std::size_t source, std::size_t destination) {
    std::vector<RatePath> found;
    for (auto it = taken_.lower_bound({source, destination, 0}); it != taken_.end();
         it = taken_.lower_bound({source, destination, 0})) {
      if (std::get<0>(it->first) != source || std::get<1>(it->first) != destination) break;
      RatePath path;
      std::vector<Place> waiting;
      path.amount = it->second;
      if (!walk(it->first, path, waiting)) break;
      const Place end = it->first;
      take(taken_, end, path.amount);
      for (const Place& place : waiting) take(waits_, place, path.amount);
      for (const auto& [link, epoch] : path.hops) take(rate_, {source, link.index(), epoch}, path.amount);
      found.push_back(std::move(path));
    }
    return found;
  }

 private:
  using Place = std::tuple<std::size_t, std::size_t, int>;  // source, link or vertex, epoch
  using Flow = std::map<Place, double>;

  static Flow positive(const std::map<Place, int>& columns, const std::vector<double>& values) {
    Flow flow;
    for (const auto& [place, column] : columns)
      if (values[static_cast<std::size_t>(column)] > kTiny) flow[place] = values[static_cast<std::size_t>(column)];
    return flow;
  }
  static void take(Flow& flow, const Place& place, double amount) {
    const auto found = flow.find(place);
    found->second -= amount;
    if (found->second <= kTiny) flow.erase(found);
  }

  /// From a place back to the source; false where rounding errors of the solver leave no way.
  bool walk(const Place& end, RatePath& path, std::vector<Place>& waiting) const {
    const std::size_t source = std::get<0>(end);
    auto [_, vertex, epoch] = end;
    while (vertex != source) {
      // Where hops take no epoch, rates may go in a circle.
      if (path.hops.size() > topology_.vertices()) return false;
      bool found = false;
      for (const LinkId link : topology_.in_links(VertexId::at(vertex))) {
        const auto rate = arriving(source, link, epoch);
        if (rate == rate_.end()) continue;
        path.amount = std::min(path.amount, rate->second);
        path.hops.emplace_back(link, std::get<2>(rate->first));
        vertex = topology_.source(link).index();
        epoch = std::get<2>(rate->first);
        found = true;
        break;
      }
      if (found) continue;
      auto before = waits_.lower_bound({source, vertex, epoch});
      if (before == waits_.begin()) return false;
      --before;
      if (std::get<0>(before->first) != source || std::get<1>(before->first) != vertex) return false;
      path.amount = std::min(path.amount, before->second);
      waiting.push_back(before->first);
      epoch = std::get<2>(before->first);
    }
    std::ranges::reverse(path.hops);
    return true;
  }

  /// A rate of a link that arrives in this epoch. Later sends do not arrive sooner.
  [[nodiscard]] Flow::const_iterator arriving(std::size_t source, LinkId link, int epoch) const {
    const int outside = grid_.links[link.index()].latency;
    for (int start = epoch - outside; start >= 0 && grid_.arrival(link.index(), start) >= epoch; --start) {
      if (grid_.arrival(link.index(), start) > epoch) continue;
      if (const auto rate = rate_.find({source, link.index(), start}); rate != rate_.end()) return rate;
    }
    return rate_.end();
  }

  const Topology& topology_;
  const EpochGrid& grid_;
  Flow rate_;
  Flow waits_;
  Flow taken_;
};

/// A chunk and the path that it takes.
struct Journey {
  ChunkId chunk;
  RatePath path;
};

std::vector<Journey> journeys_of(const Instance& instance, const EpochGrid& grid, const RateModel& model,
                                 const std::vector<double>& values) {
  PathFinder finder(instance, grid, model, values);
  std::vector<Journey> journeys;
  for (const auto& [pair, chunks] : pairs_of(instance.collective)) {
    auto paths = finder.paths(pair.first, pair.second);
    if (paths.empty()) return {};
    for (const ChunkId chunk : chunks) {
      const auto widest = std::ranges::max_element(paths, {}, &RatePath::amount);
      journeys.push_back({chunk, *widest});
      widest->amount -= 1;
    }
  }
  return journeys;
}

/// Which of the chunks that wait for a link goes first.
enum class First : std::uint8_t { by_epoch, farthest };

/// Plays the journeys in picoseconds: a link that is free takes, of the chunks that wait for it, the one that the rates
/// send first, or the one with most hops to go. Valid whatever the epochs say.
std::optional<Schedule> play(const Instance& instance, First first, const std::vector<Journey>& journeys) {
  std::vector<PlannedSend> plan;
  for (const auto& [chunk, path] : journeys)
    for (std::size_t hop = 0; hop < path.hops.size(); ++hop) {
      const auto left = static_cast<int>(path.hops.size() - hop);
      plan.push_back({first == First::farthest ? -left : path.hops[hop].second, path.hops[hop].first, chunk});
    }
  return play_plan(instance, plan);
}

SolveResult solve_rates(const Instance& instance, const EpochGrid& grid, int horizon, RateModel& model,
                        SolverBudget& budget) {
  model = RateBuilder(instance, grid, horizon).build();
  if (model.program.row_count() == 0) return {};
  return solve_linear(model.program, budget);
}

/// Keeps the best schedule that the rates of a horizon lead to.
void keep_best(const Instance& instance, const EpochGrid& grid, const RateModel& model,
               const std::vector<double>& values, int epochs, Found& found) {
  const auto journeys = journeys_of(instance, grid, model, values);
  if (journeys.empty()) return;
  for (const First first : {First::by_epoch, First::farthest}) {
    const auto played = play(instance, first, journeys);
    if (!played) continue;
    if (found.schedule && last_arrival(instance, *played) >= last_arrival(instance, *found.schedule)) continue;
    found.schedule = *played;
    found.epochs = epochs;
  }
}

}  // namespace

Found search_rates(const Instance& instance, const EpochGrid& up, SimTime known, SimTime bound, SolverBudget& budget,
                   GoodEnough enough) {
  Found found;
  RateModel model;
  const EpochState state = first_state(instance);
  const auto met = [&] { return found.schedule && enough.reached(last_arrival(instance, *found.schedule), bound); };
  const auto search = [&](const EpochGrid& grid, int least, int most, bool proves) {
    for (int next = least; least <= most && !budget.spent() && !met(); next = least + (most - least) / 2) {
      const auto result = solve_rates(instance, grid, next, model, budget);
      found.too_large = model.program.row_count() == 0;
      found.solved = found.solved || !found.too_large;
      if (result.status == SolveStatus::unknown) break;
      if (result.status == SolveStatus::infeasible) {
        least = next + 1;
        if (proves) budget.learn_bound(std::min(known, grid.length * least));
      } else {
        most = next - 1;
        keep_best(instance, grid, model, result.values, next, found);
        if (found.schedule) budget.learn_time(last_arrival(instance, *found.schedule), found.epochs);
      }
    }
    return least;
  };
  // A bound and plans, from hops rounded down: a schedule of time T has its last arrival in epoch floor(T / length).
  const EpochGrid down = epoch_grid(instance, up.length, Rounding::down);
  const auto epochs_until = [&](SimTime time) {
    return static_cast<int>(std::min<std::int64_t>(time / up.length, kNoEpoch));
  };
  const int least =
      search(down, std::max(least_horizon(instance, down, state), epochs_until(bound)), epochs_until(known), true);
  found.bound = std::min(known, up.length * least);
  bound = std::max(bound, found.bound);
  // Rates with hops rounded up have more epochs, but not many.
  if (!up.exact) search(up, std::max(least_horizon(instance, up, state), least), 2 * epochs_until(known) + 2, false);
  return found;
}

}  // namespace tenex::te_ccl
