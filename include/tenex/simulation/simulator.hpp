// Simulators: they turn a Program, or a replayed Schedule, into a timed stream of sends.
//
// Congestion-aware (000, section 3.4.2; ASTRA-sim2.0's analytical backend): messages move link by link,
// store-and-forward; each directed link has one FIFO and carries one message at a time. Congestion-unaware: every
// message takes alpha per hop plus size over the least bandwidth on its route, whatever else is under way. Time is
// integer picoseconds; ties at a vertex break by (time, in-port rank at the vertex, FIFO): never by absolute ids, so
// symmetric NPUs stay symmetric. A triggered message enters at the moment of its trigger.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/program.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

enum class Backend : std::uint8_t { congestion_aware, congestion_unaware };

/// "congestion_aware", "congestion_unaware".
[[nodiscard]] std::string_view to_string(Backend backend);

/// Load of one link.
struct LinkLoad {
  Bytes bytes;
  SimTime busy;
};

struct SimulationOptions {
  Occupancy occupancy = Occupancy::serialization;
  Backend backend = Backend::congestion_aware;
  bool record_sends = false;  ///< keep the timed stream (for the verifier and for files); congestion-aware only
  bool record_links = false;  ///< keep bytes and busy time per link
};

struct Simulation {
  SimTime finish;  ///< last arrival of a message at its destination
  std::uint64_t messages = 0;
  std::uint64_t hops = 0;
  Schedule sends;               ///< where asked for
  std::vector<LinkLoad> links;  ///< where asked for, one per link
};

/// Runs a program from time zero until no message is under way. Errors (input): a message whose destination cannot be
/// reached, a collective for another number of NPUs; (unsupported) record_sends with the congestion-unaware backend,
/// whose streams overlap on links; (resource) more messages to record than 32-bit ids can number. Recorded sends carry
/// message ids, numbered by (time of injection, NPU, order there), unless every message is a single hop.
/// O(hops) time, O(links + messages under way) memory.
[[nodiscard]] Result<Simulation> simulate(const Topology& topology, const Collective& collective,
                                          const Program& program, const SimulationOptions& options);

enum class Replay : std::uint8_t {
  timed,                ///< every send starts when the schedule says, or as soon after as its chunk and link allow
  as_soon_as_possible,  ///< every send starts as soon as its chunk and its link (in planned order) allow
};

/// Replays a schedule hop by hop through the same link model: what a runtime that follows the plan would see. A timed
/// replay of a valid schedule equals the schedule's own times; an as-soon-as-possible one is never later. Errors
/// (input): the schedule waits for a chunk that never comes, or has a link, a chunk or a start that cannot be;
/// (unsupported) the congestion-unaware backend. `messages` counts deliveries. O(sends log sends) time.
[[nodiscard]] Result<Simulation> replay(const Topology& topology, const Collective& collective,
                                        const Schedule& schedule, Replay mode, const SimulationOptions& options);

}  // namespace tenex
