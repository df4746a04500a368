// Which links each chunk takes: TACCL's first stage, a mixed-integer program in which links have bandwidth but no
// order.
//
// Encoding (TACCL, Shah et al., NSDI 2023, section 5.1): x[c, l] says that chunk c goes over link l, and t[c, v] when
// it is at vertex v. Every NPU gets a chunk at most once, and those that must have it do. A chunk is at v a latency
// after it was at u if it goes from u to v. The time T is after all t, and no less than what each link is busy in all:
// two chunks may go over a link at the same time, as long as their sum fits. That relaxation is what makes the program
// small. T is therefore no more than the time of any schedule in which each NPU gets a chunk once.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "synthesis/solvers/solve.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex::taccl {

/// The links of each chunk: a tree from its source, every leaf of which must have the chunk.
using Routes = std::vector<std::vector<LinkId>>;

struct Routing {
  Routes routes;           ///< by chunk; each link after the one that brings the chunk to its source
  SimTime time;            ///< relaxed_time() of the routes
  bool optimal = false;    ///< no routes have a relaxed time that is less by more than a millionth
  bool by_solver = false;  ///< otherwise they are the shortest routes
};

/// The objective of routes, in exact arithmetic: the latest arrival without waiting for links, and no less than what
/// any link is busy. O(links + sends).
[[nodiscard]] SimTime relaxed_time(const Instance& instance, const Routes& routes);

/// A chunk's source, and an NPU that must have the chunk and that no path leads to. O(chunks * links * log links).
[[nodiscard]] std::optional<std::pair<NpuId, NpuId>> unreachable_npus(const Instance& instance);

/// The shortest path to each NPU that must have a chunk, chunk by chunk; of equal paths, over links that carry less so
/// far. All such NPUs must be reachable. O(chunks * links * log links).
[[nodiscard]] Routes shortest_routes(const Instance& instance);

/// No program has more columns. O(1).
[[nodiscard]] std::size_t most_columns(const Instance& instance);

/// The routes of least relaxed time that the budget suffices to find: no worse than the shortest ones.
[[nodiscard]] Routing best_routing(const Instance& instance, SolverBudget& budget);

}  // namespace tenex::taccl
