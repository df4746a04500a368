#include "synthesis/pccl/grid/grid.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "synthesis/pccl/grid/line_order.hpp"
#include "tenex/schedule/storage/grid_schedule.hpp"
#include "tenex/schedule/storage/symmetric_schedule.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex {
namespace {

constexpr std::uint32_t kLongestSide = 1000;
constexpr std::size_t kBytesPerGridHop =
    24;  ///< of all pairs of a line: timetable, index, and the queues at its making

/// The traffic of the lines of one dimension whose class minus fixed sum has a residue.
LineDemand demand_of(const std::vector<std::uint32_t>& tuples, std::uint32_t size, std::uint64_t lag,
                     std::size_t residue) {
  const std::size_t classes = tuples.size();
  LineDemand demand{size, lag, std::vector<std::uint32_t>(classes)};
  for (std::size_t sum = 0; sum < classes; ++sum)
    demand.block_chunks[sum] = tuples[(residue + classes - sum) % classes];
  return demand;
}

/// The latency of each dimension's links.
std::vector<SimTime> latencies(const SynthesisProblem& problem, const std::vector<LineDimension>& dimensions) {
  std::vector<SimTime> all;
  std::size_t link = 0;
  for (const auto& dimension : dimensions) {
    const auto link_class = problem.topology.class_of(LinkId::at(link));
    all.push_back(
        hop_time(problem.topology.classes()[link_class], problem.collective.chunk_sizes().front(), problem.occupancy)
            .latency);
    link += 2 * (dimension.size - 1) * (problem.topology.npus() / dimension.size);
  }
  return all;
}

/// The timetables of all lines, each once.
class Timetables {
 public:
  Timetables(GridSchedule& data, const std::vector<SimTime>& latency) : data_(data), latency_(latency) {}

  /// False where slots do not fit into 32 bits.
  bool make() {
    const std::size_t classes = data_.dimensions.size();
    for (std::size_t e = 0; e < classes; ++e) {
      const auto& dimension = data_.dimensions[e];
      const auto tuples = free_tuples(data_.dimensions, e, data_.chunks_per_pair);
      const auto lag = static_cast<std::uint64_t>(ceil_div(latency_[e].count(), dimension.slot.count()));
      for (std::size_t residue = 0; residue < classes; ++residue) {
        const auto known = find(demand_of(tuples, dimension.size, lag, residue));
        if (!known) return false;
        data_.timetable_of.push_back(static_cast<std::uint32_t>(*known));
        const auto slots = static_cast<std::int64_t>(slots_of(demands_[*known], data_.timetables[*known]));
        duration_ = std::max(duration_, dimension.slot * (slots - 1) + latency_[e]);
      }
    }
    return true;
  }
  /// The last arrival of a phase.
  [[nodiscard]] SimTime duration() const { return duration_; }

 private:
  std::optional<std::size_t> find(LineDemand demand) {
    const auto known = std::find(demands_.begin(), demands_.end(), demand);
    if (known != demands_.end()) return static_cast<std::size_t>(known - demands_.begin());
    auto timetable = order_line(demand);
    if (!timetable) return std::nullopt;
    demands_.push_back(std::move(demand));
    data_.timetables.push_back(*std::move(timetable));
    return demands_.size() - 1;
  }

  GridSchedule& data_;
  const std::vector<SimTime>& latency_;
  std::vector<LineDemand> demands_;
  SimTime duration_;
};

/// Hops of the pairs of all timetables that may differ.
double stored_hops(const SynthesisProblem& problem) {
  const auto dimensions = grid_dimensions(problem);
  if (!dimensions) return 0;
  double hops = 0;
  for (const auto& dimension : *dimensions) hops += 2.0 * static_cast<double>(one_way_hops(dimension.size));
  return hops * static_cast<double>(dimensions->size());
}

}  // namespace

std::optional<std::string> grid_unsuitable(const SynthesisProblem& problem) {
  if (problem.collective.kind() != CollectiveKind::all_to_all) return "it makes only All-to-Alls";
  if (!moves_with_npus(problem.collective)) return "it needs one group of all NPUs in the order of their ids";
  const auto dimensions = grid_dimensions(problem);
  if (!dimensions)
    return "it needs a product of lines (LI, mesh, grid) whose links are all there and alike within each dimension";
  for (const auto& dimension : *dimensions)
    if (dimension.size > kLongestSide) return "it takes sides of up to 1,000 NPUs";
  return std::nullopt;
}

Result<Gathered> grid_all_to_all(const SynthesisProblem& problem) {
  if (auto reason = grid_unsuitable(problem))
    return input_error({}, "the engine `grid` cannot make this schedule", *std::move(reason),
                       "leave the engine to `auto`");
  GridSchedule data;
  data.dimensions = *grid_dimensions(problem);
  data.chunks_per_pair = static_cast<std::uint32_t>(problem.collective.chunks_per_npu());
  const auto latency = latencies(problem, data.dimensions);
  Timetables timetables(data, latency);
  if (!timetables.make())
    return unsupported_error({}, "the engine `grid` cannot make this schedule: it has more than 2^32 slots");
  const auto phases = static_cast<std::int64_t>(data.dimensions.size());
  for (std::int64_t phase = 0; phase < phases; ++phase) data.phase_begin.push_back(timetables.duration() * phase);
  Gathered made;
  made.time = timetables.duration() * phases;
  made.schedule = make_grid_schedule(std::move(data));
  made.engine = "grid";
  return made;
}

std::size_t grid_bytes(const SynthesisProblem& problem) {
  const std::size_t dimensions = problem.topology.shape() ? problem.topology.shape()->dimensions() : 1;
  const std::size_t names = problem.topology.npus() * dimensions * dimensions * 4 *
                            static_cast<std::size_t>(problem.collective.chunks_per_npu());
  return static_cast<std::size_t>(stored_hops(problem)) * kBytesPerGridHop + names + (std::size_t{1} << 20);
}

Work grid_work(const SynthesisProblem& problem) {
  return Work(WorkUnit::grid_plan, 1) + Work(WorkUnit::grid_hop, stored_hops(problem));
}

}  // namespace tenex
