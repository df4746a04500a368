// The orbit engine: on a shape whose translations move the program onto itself, one NPU stands for all.
//
// Routes by dimension order and in-port ranks are mapped onto themselves by translations too (rings break ties toward
// increasing positions, at any position; ports are ordered by dimension and step). So at every instant all NPUs do the
// same, translated. When NPU 0 sends a message in some direction, the translated copy of that message comes in from the
// opposite one. Simulating NPU 0 with one FIFO per direction therefore simulates all NPUs. A message in flight carries
// the offset that it still has to go and, for the program, the message as it was injected.
//
// Encoding: an in-port per direction, whose FIFO is a lane of events.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "simulation/backends.hpp"
#include "simulation/message_sizes.hpp"
#include "simulation/port_ranks.hpp"
#include "simulation/record.hpp"
#include "tenex/base/graph/event_queue.hpp"
#include "tenex/topology/translation.hpp"

namespace tenex {
namespace {

class OrbitEngine {
 public:
  OrbitEngine(const Topology& topology, const Collective& collective, const Program& program,
              const SimulationOptions& options, TranslationGroup group)
      : topology_(topology),
        program_(program),
        options_(options),
        group_(std::move(group)),
        sizes_(topology, collective, program, options.occupancy),
        state_(program.begin()),
        ways_(group_.directions().size()),
        single_step_(group_.npus(), no_direction),
        flights_(ways_.size()) {
    const auto ports = topology.in_links(VertexId(0)).size();
    const auto links = links_by_port(topology);
    for (std::uint32_t rank = 0; rank < ports; ++rank) ways_[group_.departure(links[rank]).direction].rank = rank;
    for (std::size_t d = 0; d < ways_.size(); ++d) ways_[d].link_class = group_.directions()[d].link_class;
    for (const auto& dimension : group_.dimensions())
      for (std::uint32_t position = 1; position < dimension.size; ++position)
        single_step_[std::size_t{position} * dimension.stride] = step_toward(dimension, position);
  }

  /// `bins`: null if none are recorded.
  Simulation run(UtilizationBins* bins) {
    bins_ = bins;
    triggered_.clear();
    state_->start(NpuId(0), triggered_);
    inject_all(SimTime::zero());
    while (!flights_.empty()) {
      const SimTime now = flights_.time();
      arrive(flights_.pop(), now);
    }
    return finish();
  }

 private:
  static constexpr std::uint32_t no_direction = UINT32_MAX;

  struct Flight {
    NpuId offset;  ///< still to go from the vertex of the arrival
    std::uint32_t size_class;
    Message message;  ///< as injected by NPU 0
  };
  struct Way {
    SimTime free;
    std::uint32_t rank = 0;  ///< rank of the in-port
    std::uint16_t link_class = 0;
    Bytes bytes;
    SimTime busy;
  };

  /// Along a ring the shorter way, with ties toward increasing positions; in a fully connected block the direction
  /// itself.
  [[nodiscard]] std::uint32_t step_toward(const TranslationDimension& dimension, std::uint32_t position) const {
    const bool ring = dimension.farthest_hops > 1;
    const auto step = !ring ? position : position <= dimension.size - position ? 1 : dimension.size - 1;
    for (auto d = dimension.first_direction; d < dimension.first_direction + dimension.directions; ++d)
      if (group_.directions()[d].step == step) return d;
    ensure(false, "a translation group has no direction of a step");
    return no_direction;
  }

  void arrive(const Flight& flight, SimTime now) {
    if (flight.offset != NpuId(0)) return enter_next(flight, now);
    finish_ = std::max(finish_, now);
    triggered_.clear();
    state_->arrive(program_.to_origin(flight.message, group_), triggered_);
    inject_all(now);
  }

  void inject_all(SimTime now) {
    for (const auto& message : triggered_) {
      ensure(message.source == NpuId(0), "a program that moves with its shape sends from elsewhere");
      ensure(message.destination != NpuId(0), "a program sends a message from an NPU to itself");
      ++messages_;
      enter_next({message.destination, sizes_.of(message), message}, now);
    }
  }

  void enter_next(Flight flight, SimTime now) {
    // The offset's first position that is not zero gives the next dimension.
    std::uint32_t rest = flight.offset.value();
    std::uint32_t direction = no_direction;
    for (const auto& dimension : group_.dimensions()) {
      const auto position = rest % dimension.size;
      rest /= dimension.size;
      if (position == 0) continue;
      direction = single_step_[std::size_t{position} * dimension.stride];
      break;
    }
    flight.offset = group_.subtract(flight.offset, group_.directions()[direction].offset);
    auto& way = ways_[direction];
    const auto& hop = sizes_.hop(way.link_class, flight.size_class);
    const auto start = std::max(now, way.free);
    way.free = start + hop.busy;
    way.bytes += sizes_.bytes(flight.size_class);
    way.busy += hop.busy;
    ++hops_;
    if (bins_ != nullptr) bins_->add(start, hop.busy, group_.npus());
    flights_.push(way.rank, start + hop.latency, flight);
  }

  Simulation finish() {
    Simulation result;
    result.engine = SimulationEngine::orbit;
    result.finish = finish_;
    result.messages = messages_ * group_.npus();
    result.hops = hops_ * group_.npus();
    if (options_.record_npu_finish) result.npu_finish.assign(group_.npus(), finish_);
    if (options_.record_links) {
      result.links.resize(topology_.links());
      for (std::uint32_t link = 0; link < result.links.size(); ++link) {
        const auto& way = ways_[group_.departure(LinkId(link)).direction];
        result.links[link] = {way.bytes, way.busy};
      }
    }
    if (bins_ != nullptr) result.utilization = bins_->result();
    return result;
  }

  const Topology& topology_;
  const Program& program_;
  const SimulationOptions& options_;
  TranslationGroup group_;
  MessageSizes sizes_;
  std::unique_ptr<ProgramState> state_;
  std::vector<Way> ways_;                   ///< by direction
  std::vector<std::uint32_t> single_step_;  ///< by offset along one dimension: the direction of the first hop
  EventLanes<Flight> flights_;              ///< by rank of the in-port
  std::vector<Message> triggered_;
  UtilizationBins* bins_ = nullptr;
  SimTime finish_;
  std::uint64_t messages_ = 0;
  std::uint64_t hops_ = 0;
};

}  // namespace

std::optional<Result<Simulation>> simulate_by_orbit(const Topology& topology, const Collective& collective,
                                                    const Program& program, const SimulationOptions& options) {
  if (options.record_sends || options.record_arrivals || !options.start_delays.empty()) return std::nullopt;
  auto group = TranslationGroup::of(topology);
  if (!group || group->twisted() || !program.moves_with(*group)) return std::nullopt;  // routes are by dimension
  auto result = OrbitEngine(topology, collective, program, options, *group).run(nullptr);
  if (options.utilization_bins == 0) return result;
  UtilizationBins bins(result.finish, options.utilization_bins);
  return OrbitEngine(topology, collective, program, options, *group).run(&bins);
}

}  // namespace tenex
