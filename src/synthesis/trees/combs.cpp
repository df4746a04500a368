#include "synthesis/trees/engines.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "tenex/schedule/storage/comb_schedule.hpp"
#include "tenex/schedule/storage/grid_schedule.hpp"
#include "tenex/schedule/storage/symmetric_schedule.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex {
namespace {

constexpr std::uint32_t kMostEqualRounds = 16;  ///< tried where all dimensions have the same
/// How many numbers of rounds are tried per dimension where they differ, at most.
constexpr double kMostChoices = 512;
constexpr std::size_t kBytesPerLink = 16;

/// The timetable but for its rounds; nullopt where the topology is no product of equal lines.
std::optional<CombSchedule> frame_of(const SynthesisProblem& problem) {
  const auto& sizes = problem.collective.chunk_sizes();
  const auto& classes = problem.topology.classes();
  if (sizes.size() != 1 || classes.size() != 1) return std::nullopt;
  const auto dimensions = grid_dimensions(problem);
  if (!dimensions) return std::nullopt;
  CombSchedule data;
  const HopTime hop = hop_time(classes.front(), sizes.front(), problem.occupancy);
  data.slot = hop.busy;
  data.lag = hop.latency;
  data.chunks = problem.collective.chunks();
  for (const auto& dimension : *dimensions) data.sizes.push_back(dimension.size);
  return data;
}

/// Keeps the better of two timetables.
class BestTimetable {
 public:
  void try_rounds(CombSchedule data) {
    if (!comb_problem(data).empty()) return;
    const SimTime time = comb_time(data);
    if (best_ && time >= time_) return;
    time_ = time;
    best_ = std::move(data);
  }
  [[nodiscard]] std::optional<CombSchedule>& best() { return best_; }
  [[nodiscard]] SimTime time() const { return time_; }

 private:
  std::optional<CombSchedule> best_;
  SimTime time_;
};

/// Tries equal rounds, and all small numbers of rounds in every dimension.
BestTimetable choose_rounds(const CombSchedule& frame) {
  const std::size_t dimensions = frame.sizes.size();
  BestTimetable best;
  CombSchedule data = frame;
  for (std::uint32_t rounds = 1; rounds <= kMostEqualRounds; ++rounds) {
    data.rounds.assign(dimensions, rounds);
    best.try_rounds(data);
  }
  if (std::ranges::adjacent_find(frame.sizes, std::not_equal_to{}) == frame.sizes.end()) return best;
  const auto values = static_cast<std::uint32_t>(std::pow(kMostChoices, 1.0 / static_cast<double>(dimensions)));
  data.rounds.assign(dimensions, 0);
  for (std::size_t d = 0; d < dimensions;) {
    best.try_rounds(data);
    for (d = 0; d < dimensions && ++data.rounds[d] >= values; ++d) data.rounds[d] = 0;
  }
  return best;
}

}  // namespace

std::optional<std::string> combs_unsuitable(const SynthesisProblem& problem) {
  if (problem.collective.kind() != CollectiveKind::all_reduce) return "it makes only All-Reduces";
  if (!problem.start_delays.empty()) return "its timetable has no late NPUs";
  if (!moves_with_npus(problem.collective)) return "it needs one group of all NPUs in the order of their ids";
  auto frame = frame_of(problem);
  if (!frame) return "it needs a product of lines (LI, mesh, grid) whose links are all there and alike";
  frame->rounds.assign(frame->sizes.size(), 1);
  if (const auto reason = comb_problem(*frame); !reason.empty()) return reason;
  return std::nullopt;
}

Result<Synthesis> synthesize_combs(const SynthesisProblem& problem) {
  if (auto reason = combs_unsuitable(problem))
    return input_error({}, "the engine `combs` cannot make this schedule", *std::move(reason),
                       "leave the engine to `auto`");
  BestTimetable best = choose_rounds(*frame_of(problem));
  ensure(best.best().has_value(), "one round per dimension is possible");
  Synthesis made;
  made.time = best.time();
  made.schedule = make_comb_schedule(*std::move(best.best()));
  made.engine = "combs";
  made.overlap_method = "trees";
  return made;
}

std::size_t combs_bytes(const SynthesisProblem& problem) {
  return problem.topology.links() * kBytesPerLink + (std::size_t{1} << 22);
}

Work combs_work(const SynthesisProblem& problem) {
  return Work(WorkUnit::packing, 1) + Work(WorkUnit::comb_link, static_cast<double>(problem.topology.links()));
}

double combs_period_sends(const SynthesisProblem& problem) {
  const auto frame = frame_of(problem);
  if (!frame) return 0;
  BestTimetable best = choose_rounds(*frame);
  const auto& data = best.best();
  if (!data) return 0;
  double trees = 0;  // a round of type d has one for each coordinate of the next dimension
  for (std::size_t d = 0; d < data->sizes.size(); ++d)
    trees += static_cast<double>(data->rounds[d]) * data->sizes[(d + 1) % data->sizes.size()];
  const double sends_of_tree = 2 * (static_cast<double>(problem.topology.npus()) - 1);
  return sends_of_tree * std::min(trees, static_cast<double>(data->chunks));
}

}  // namespace tenex
