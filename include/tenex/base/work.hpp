// Work, counted in units, and the one table of what a unit takes.
//
// Whoever estimates a cost counts units of work from sizes alone. The table (src/base/work.cpp) has two prices of every
// unit. `seconds` says how long it takes: what plans, leases, progress and the reasons of rows tell, fitted to measured
// rows by analysis/tenex_analysis/work_prices.py. `weight` decides: which engines, algorithms and numbers of chunks are
// tried, and in which order. Results depend on weights, so they are part of the physics and stay as they are when
// seconds are fitted again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace tenex {

enum class WorkUnit : std::uint8_t {
  // The part `rest`: of any point, its network, its bounds, and its formulas.
  point,              ///< a collective point: its tables, its row
  link,               ///< a link of the network, built and read
  bound_visit,        ///< a link that a bound without certificate looks at
  certificate_visit,  ///< a link that the search for a certificate looks at
  hashed_send,        ///< a send that is hashed
  hashed_cell,        ///< the same of a schedule that is kept link by link
  switched_hop,       ///< a hop of an unwound schedule that is played on its switches
  early_bound,        ///< a point that a search values by its bound
  formula,            ///< a training point by its formulas
  time_split,         ///< a split of bandwidth for the least time
  product_split,      ///< a split of bandwidth for the least product of time and cost
  joint_send,         ///< a send that runs beside others: spread, sorted, replayed and verified
  // The part `simulation`.
  recorded_hop,     ///< a simulated hop whose send is kept
  recorded_chunk,   ///< a chunk of a message that carries several
  simulated_hop,    ///< a simulated hop of which nothing is kept
  train_hop,        ///< the same of straight messages that go in trains
  formula_message,  ///< a message without congestion
  joined_pair,      ///< a pair of NPUs among which cycles are looked for
  tree_place,       ///< a place of an NPU in the tree of another
  // The part `verification`.
  verified_send,   ///< a send replayed in time order
  verified_sum,    ///< the same of a reduction
  verified_chunk,  ///< a chunk of a message that carries several
  send_by_link,    ///< a send read link by link
  send_of_period,  ///< a send of a period that stands for all
  // The part `synthesis`: tacos.
  event_send,            ///< a send of the event-driven engine, where links are alike
  event_send_unlike,     ///< the same where they are not
  event_look,            ///< a link's look at a chunk
  event_send_kept,       ///< a send made into a schedule
  event_send_retimed,    ///< a send of an All-Reduce's re-timing
  event_send_by_levels,  ///< a send with levels by dimension, beyond event_send
  arrival_link,          ///< a link that a delivery by arrivals looks at
  arrival_chunk,         ///< a chunk that a delivery by arrivals looks at
  exact_delivery,        ///< a delivery on a grid of steps
  exact_delivery_far,    ///< the same where the tables are larger than a cache
  level_delivery,        ///< a delivery on a grid of steps where links differ
  coarse_stream,         ///< a stream between blocks
  coarse_link,           ///< a link between or inside blocks
  orbit_look,            ///< an item that a link of one NPU looks at, where links are alike
  orbit_visit,           ///< the same of the first attempts, which mostly suffice
  orbit_look_unlike,     ///< the same where they are not
  orbit_send,            ///< a send of one NPU made into a schedule
  layer_delivery,        ///< a delivery to a layer, by port
  layer_candidate,       ///< a chunk that a port of a layer looks at
  layer_send,            ///< a send of a layer written out
  tree_send_retimed,     ///< a send of an All-Reduce re-timed
  reference_look,        ///< a chunk that the reference looks at
  // pccl.
  path_hop,             ///< a hop of a path to one destination
  path_hop_unequal,     ///< the same where hops take unequally long
  tree_visit,           ///< a link that a tree looks at
  tree_visit_unequal,   ///< the same where hops take unequally long
  grown_visit,          ///< a link that a tree over switches looks at
  grown_visit_unequal,  ///< the same where hops take unequally long
  grown_look,           ///< a link that such a tree is expected to look at
  grown_look_unequal,   ///< the same where hops take unequally long
  rerouted_send,        ///< a send in the rounds of routing again
  balanced_hop,         ///< a hop of a balanced way, in each play
  moved_hop,            ///< a hop of one NPU's plan
  moved_link,           ///< a link of a plan's bounds
  grid_plan,            ///< a plan on a grid of lines
  grid_hop,             ///< a hop of it
  signal_send,          ///< a send of two halves timed side by side
  // trees.
  packing,            ///< a run of an engine of trees
  weighed_link,       ///< a link weighed while trees grow
  cut_packing_visit,  ///< a link visited while trees are packed by cuts
  played_send,        ///< a send played on trees
  capped_send,        ///< a send played on trees that are grown meanwhile
  justified_send,     ///< a send shifted back and forth
  packed_send,        ///< a send tried on a packing
  comb_link,          ///< a link of combs
  // Solvers.
  te_ccl_column,  ///< a column of the model by epochs
  te_ccl_cell,    ///< a cell of its matrix
  taccl_column,   ///< a column of the model of routes
  sccl_variable,  ///< a variable of the formula of steps
  guessed_send,   ///< a send on a network that is too large to be built for an estimate
};
inline constexpr std::size_t kWorkUnits = static_cast<std::size_t>(WorkUnit::guessed_send) + 1;

/// A line of the table.
struct WorkPrice {
  WorkUnit unit;
  std::string_view name;
  /// The measured time that it is part of: synthesis, simulation, verification or rest; weight: none, it only decides.
  std::string_view part;
  double seconds;  ///< of one unit, on one thread of a core of the machine that kWorkPricesFitted names
  double weight;   ///< of one unit, in seconds of a model that never changes
};

/// The table, in the order of the units.
[[nodiscard]] std::span<const WorkPrice> work_prices();
/// Expected seconds of one unit.
[[nodiscard]] double seconds_of(WorkUnit unit);
/// When and on what the seconds were fitted.
[[nodiscard]] std::string_view work_prices_fitted();

/// Counted work: how many of which units. Only the units that were counted are kept, in their order, so that the sums
/// below do not depend on which was counted first. n: units that were counted, about ten.
class Work {
 public:
  Work() = default;
  Work(WorkUnit unit, double count) { add(unit, count); }

  /// Counts so many units more. O(n).
  void add(WorkUnit unit, double count);
  /// Forgets what was counted of a unit. O(n).
  void drop(WorkUnit unit);
  Work& operator+=(const Work& other);
  Work& operator*=(double factor);
  friend Work operator+(Work a, const Work& b) { return std::move(a += b); }
  friend Work operator*(double factor, Work work) { return std::move(work *= factor); }

  [[nodiscard]] double count(WorkUnit unit) const;
  [[nodiscard]] bool empty() const { return counts_.empty(); }
  /// Expected seconds on one thread: what is told. O(n).
  [[nodiscard]] double seconds() const;
  /// What decides: it orders what is tried, and ends what would take too long. Part of the physics. O(n).
  [[nodiscard]] double weight() const;

 private:
  struct Count {
    WorkUnit unit;
    double count;
  };
  std::vector<Count> counts_;
};

}  // namespace tenex
