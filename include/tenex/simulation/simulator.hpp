// Simulators turn a Program, or a replayed Schedule, into a timed stream of sends.
//
// Congestion-aware (the ASTRA-sim2.0 thesis, section 3.4.2): messages move link by link, store-and-forward; each
// directed link has one FIFO and carries one message at a time. Congestion-unaware: every message takes alpha per hop
// plus size over the least bandwidth on its route, regardless of other messages. Time is integer picoseconds. Ties at a
// vertex break by (time, in-port rank at the vertex, FIFO) and never by absolute ids, so symmetric NPUs stay symmetric
// (on a shape an NPU's in-ports are ranked by dimension and step, elsewhere by link id). A triggered message enters at
// the moment of its trigger.
//
// Several engines reach the same times. The window engine runs any program; the others use what a program states about
// itself (schedule/program.hpp) and refuse programs that they cannot run. `automatic` takes the fastest engine that can
// run the program, and the result names it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/program.hpp"
#include "tenex/schedule/run_choices.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/topology/routes.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Load of one link.
struct LinkLoad {
  Bytes bytes;
  SimTime busy;
};

struct SimulationOptions {
  Occupancy occupancy = Occupancy::serialization;
  Backend backend = Backend::congestion_aware;
  SimulationEngine engine = SimulationEngine::automatic;
  RouteChoice routes{};            ///< of messages where several routes are equal
  int threads = 1;                 ///< never changes the result
  bool record_sends = false;       ///< keep the timed stream (for the verifier and for files); congestion-aware only
  bool record_links = false;       ///< keep bytes and busy time per link
  bool record_npu_finish = false;  ///< keep the last arrival at each NPU
  bool record_arrivals = false;    ///< keep every delivery's time: 16 bytes per chunk of each message
  std::uint32_t utilization_bins = 0;    ///< > 0: keep the links' busy time in this many bins of time
  std::vector<StartDelay> start_delays;  ///< at most one per NPU
};

/// A chunk unpacked at its destination: one for each chunk that a message carries.
struct Delivery {
  SimTime time;
  NpuId npu;
  ChunkId chunk;
  bool operator==(const Delivery&) const = default;
};

/// Busy time of all links together, over time.
struct Utilization {
  SimTime bin;                         ///< width of a bin; the last one may reach beyond the finish
  std::vector<std::uint64_t> busy_ps;  ///< per bin, summed over links
};

struct Simulation {
  SimTime finish;  ///< last arrival of a message at its destination
  std::uint64_t messages = 0;
  std::uint64_t hops = 0;
  SimulationEngine engine = SimulationEngine::window;  ///< the engine that computed it; congestion-unaware: automatic
  std::string_view destination_order;                  ///< the program's; empty for a replay
  Schedule sends;                                      ///< if record_sends
  std::vector<LinkLoad> links;                         ///< if record_links, one per link
  std::vector<SimTime> npu_finish;                     ///< if record_npu_finish, one per NPU; zero where nothing
                                                       ///< arrives
  std::vector<Delivery> arrivals;                      ///< if record_arrivals, by (time, NPU, order there, chunk)
  Utilization utilization;                             ///< if utilization_bins > 0
};

/// What others may ask of a simulation engine.
struct SimulationEngineTraits {
  SimulationEngine engine;
  std::string_view needs;  ///< of programs, topologies and options, in words
  bool records_sends;      ///< those of every program that it runs, so that a point that names it is verified
};

/// The explicit table: a line per engine, in the order in which `automatic` tries them, the fastest first.
[[nodiscard]] const std::vector<SimulationEngineTraits>& simulation_engines();
/// The entry of an engine. Expects: not `automatic`. O(engines).
[[nodiscard]] const SimulationEngineTraits& traits_of(SimulationEngine engine);

/// Errors (unsupported): a link whose bandwidth varies. Simulations and replays know no times of day. O(1).
[[nodiscard]] Status check_constant(const Topology& topology);

/// Errors (unsupported): a switch with a limited buffer. Which messages wait before a full switch depends on its flow
/// control, which is not simulated. O(switches).
[[nodiscard]] Status check_buffers(const Topology& topology);

/// Errors (input): a delay of an NPU that does not exist or has one already, or before time zero. O(NPUs).
[[nodiscard]] Status check_delays(const Topology& topology, const std::vector<StartDelay>& delays);

/// Runs a program from time zero until no message is under way. Errors (input): a message whose destination cannot be
/// reached, a collective for another number of NPUs, a delay of an NPU that does not exist or has one already;
/// (unsupported) an engine that cannot run the program or record what the options ask for; record_sends where messages
/// are cut into pieces (RouteRule::sprayed on a network with equal routes); a switch with a limited
/// buffer, unless congestion-unaware; with the congestion-unaware backend record_sends and utilization, as its messages
/// overlap on links; (resource) more messages to record than 32-bit ids can number. Recorded sends carry message ids,
/// numbered by (time of injection, NPU, order there), unless every message is a single hop; sends of several chunks
/// carry payloads, and equal payloads are stored once. Utilization takes a second run (the first gives the width of the
/// bins). Expects: at least one thread. Ensures: every message has arrived, and what the options ask for is recorded.
/// Window engine: O(hops) time, O(links + messages under way) memory.
[[nodiscard]] Result<Simulation> simulate(const Topology& topology, const Collective& collective,
                                          const Program& program, const SimulationOptions& options);

enum class Replay : std::uint8_t {
  timed,                ///< every send starts at its planned time, or as soon after it as its chunk and link allow
  as_soon_as_possible,  ///< every send starts as soon as its chunk and its link (in planned order) allow
};

/// Replays a schedule hop by hop through the same link model: the times of a runtime that follows the given schedule. A
/// timed replay of a valid schedule gives the schedule's own times; an as-soon-as-possible one is its re-timing
/// (tenex/schedule/timing/list_player.hpp), never later. Errors (input): the schedule waits for a chunk that never
/// arrives, or has an impossible link, chunk or start; (unsupported) the congestion-unaware backend, sends that carry
/// several chunks, an as-soon-as-possible replay over a switch with a limited buffer; (resource) more sends than fit in
/// memory if each must be kept. `messages` counts deliveries. Expects: a collective of the topology's NPUs, and at
/// least one thread. Ensures: what the options ask for is recorded; a timed replay ends no sooner than the schedule. If
/// a schedule of single chunks between NPUs is followed exactly, or copies without waste, its sends are streamed:
/// O(sends) time, 16 bytes per chunk and thread or 4 per NPU and chunk. Otherwise the player of lists plays it: O(sends
/// log sends) time, 120 bytes per send, 200 with sums.
[[nodiscard]] Result<Simulation> replay(const Topology& topology, const Collective& collective,
                                        const Schedule& schedule, Replay mode, const SimulationOptions& options);

}  // namespace tenex
