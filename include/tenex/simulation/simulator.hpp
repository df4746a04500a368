// Simulators: they turn a Program, or a replayed Schedule, into a timed stream of sends.
//
// Congestion-aware (the ASTRA-sim2.0 thesis, section 3.4.2): messages move link by
// link, store-and-forward; each directed link has one FIFO and carries one message at a time. Congestion-unaware: every
// message takes alpha per hop plus size over the least bandwidth on its route, whatever else is under way. Time is
// integer picoseconds; ties at a vertex break by (time, in-port rank at the vertex, FIFO): never by absolute ids, so
// symmetric NPUs stay symmetric (on a shape an NPU's in-ports are ranked by dimension and step, elsewhere by link id).
// A triggered message enters at the moment of its trigger.
//
// Several engines reach the same times: the window engine runs any program; the others use what a program states of
// itself (schedule/program.hpp) and refuse what they cannot do. `automatic` takes the fastest that can; the result says
// which it was.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/program.hpp"
#include "tenex/schedule/run_choices.hpp"
#include "tenex/schedule/schedule.hpp"
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
  int threads = 1;                 ///< never changes the result
  bool record_sends = false;       ///< keep the timed stream (for the verifier and for files); congestion-aware only
  bool record_links = false;       ///< keep bytes and busy time per link
  bool record_npu_finish = false;  ///< keep the last arrival at each NPU
  bool record_arrivals = false;    ///< keep every delivery's time: 16 bytes per chunk of each message
  std::uint32_t utilization_bins = 0;    ///< > 0: keep the links' busy time in that many bins of time
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
  SimulationEngine engine = SimulationEngine::window;  ///< that computed it; congestion-unaware: automatic
  std::string_view destination_order;                  ///< the program's; empty for a replay
  Schedule sends;                                      ///< where asked for
  std::vector<LinkLoad> links;                         ///< where asked for, one per link
  std::vector<SimTime> npu_finish;                     ///< where asked for, one per NPU; zero where nothing arrives
  std::vector<Delivery> arrivals;                      ///< where asked for, by (time, NPU, order there, chunk)
  Utilization utilization;                             ///< where asked for
};

/// Runs a program from time zero until no message is under way. Errors (input): a message whose destination cannot be
/// reached, a collective for another number of NPUs, a delay of an NPU that does not exist or has one already;
/// (unsupported) an engine that cannot run the program or keep what is asked for; with the congestion-unaware backend
/// record_sends and utilization, as its messages overlap on links; (resource) more messages to record than 32-bit ids
/// can number. Recorded sends carry message ids, numbered by (time of injection, NPU, order there), unless every
/// message is a single hop; sends of several chunks carry payloads, equal ones once. Utilization takes a second run
/// (the first tells how wide the bins are). Window engine: O(hops) time, O(links + messages under way) memory.
[[nodiscard]] Result<Simulation> simulate(const Topology& topology, const Collective& collective,
                                          const Program& program, const SimulationOptions& options);

enum class Replay : std::uint8_t {
  timed,                ///< every send starts when the schedule says, or as soon after as its chunk and link allow
  as_soon_as_possible,  ///< every send starts as soon as its chunk and its link (in planned order) allow
};

/// Replays a schedule hop by hop through the same link model: what a runtime that follows the plan would see. A timed
/// replay of a valid schedule equals the schedule's own times; an as-soon-as-possible one is never later. Errors
/// (input): the schedule waits for a chunk that never comes, or has a link, a chunk or a start that cannot be;
/// (unsupported) the congestion-unaware backend, start_delays, sends that carry several chunks; (resource) more sends
/// than fit in memory where each must be kept. `messages` counts deliveries. Where a schedule of single chunks between
/// NPUs is followed exactly, or copies without waste, its sends are streamed: O(sends) time, 16 bytes per chunk and
/// thread or 4 per NPU and chunk. Else O(sends log sends) time, 120 bytes per send.
[[nodiscard]] Result<Simulation> replay(const Topology& topology, const Collective& collective,
                                        const Schedule& schedule, Replay mode, const SimulationOptions& options);

}  // namespace tenex
