// Writes out the best attempt on layers.
#include "synthesis/orbit/layered.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "synthesis/orbit/layer_network.hpp"
#include "synthesis/orbit/layer_search.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/storage/symmetric_schedule.hpp"

namespace tenex {

namespace {

constexpr std::uint64_t kMostDeliveries = std::uint64_t{1} << 20U;
constexpr double kWork = 0.15;          // weight of attempts beyond those that the user asked for
constexpr double kWorkOfSpeeds = 0.25;  // more of them where links have several speeds
constexpr double kMostAttempts = 400;
constexpr double kBytesPerItem = 96;       // of a layer, without its ports
constexpr double kBytesPerCandidate = 40;  // of a port
constexpr double kBytesPerSend = 32 + 16;

LayerAttempts attempts_of(const SynthesisProblem& problem, std::uint32_t positions) {
  const auto affordable = [](double work, double one, double most) {
    return static_cast<std::uint32_t>(std::clamp(work / one, 1.0, most));
  };
  LayerAttempts attempts;
  if (const std::uint32_t styles = promising_styles(problem); styles > 0)
    attempts.promising = affordable(kWorkOfSpeeds, work_of_promising_attempt(problem, positions).weight(), styles);
  attempts.others = problem.attempts - 1;
  if (positions > 1)
    attempts.others = std::max(problem.attempts,
                               affordable(kWork, work_of_layer_attempt(problem, positions).weight(), kMostAttempts));
  return attempts;
}

std::vector<Send> all_sends(const SynthesisProblem& problem, const LayerNetwork& network,
                            const std::vector<LayerSend>& sends) {
  const std::uint32_t positions = network.positions();
  const auto chunks = static_cast<std::uint32_t>(problem.collective.chunks_per_npu());
  std::vector<Send> all;
  all.reserve(sends.size() * positions);
  for (const LayerSend& send : sends) {
    const std::uint32_t owner = send.item / positions;
    for (std::uint32_t position = 0; position < positions; ++position) {
      const NpuId from = network.npu(owner / chunks, network.origin(position, send.item % positions));
      const auto chunk = ChunkId::at(problem.collective.owned_by(from).first + owner % chunks);
      all.push_back({send.start, network.link(send.layer, send.port, position), chunk});
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Send& a, const Send& b) { return a.start != b.start ? a.start < b.start : a.link < b.link; });
  return all;
}

}  // namespace

std::string layered_unsuitable(const SynthesisProblem& problem) {
  if (problem.collective.kind() != CollectiveKind::all_gather)
    return "a schedule by layers has no root: it is made for All-Gather, Reduce-Scatter and All-Reduce";
  if (!moves_with_npus(problem.collective)) return "a schedule by layers serves one group of all NPUs in their order";
  if (problem.collective.chunk_sizes().size() > 1) return "a schedule by layers has chunks of one size";
  if (problem.collective.required_deliveries() > kMostDeliveries)
    return "a schedule by layers has up to 2^20 deliveries";
  const auto network = LayerNetwork::of(problem.topology);
  if (!network || network->layers() == 1 || (network->positions() == 1 && problem.topology.homogeneous()))
    return "a symmetric schedule needs a shape of RI and FC blocks, of lines of two and of unwound SW blocks, or of "
           "these and lines, whose links are alike in each dimension, or one whose links differ in speed";
  return {};
}

Result<Gathered> gather_layered(const SynthesisProblem& problem) {
  const auto network = LayerNetwork::of(problem.topology);
  if (!network)
    return input_error({}, "the engine `symmetric` cannot make this schedule", layered_unsuitable(problem),
                       "leave the engine to `auto`");
  const SimTime bound = best_cheap_bound({problem.topology, problem.collective, problem.occupancy, true}).time;
  LayerPlan plan = search_layers(problem, *network, attempts_of(problem, network->positions()), bound, SimTime::max());
  Gathered gathered;
  gathered.schedule = make_list_schedule(all_sends(problem, *network, plan.sends));
  gathered.time = plan.time;
  gathered.best_attempt = plan.attempt;
  return gathered;
}

std::size_t layered_bytes(const SynthesisProblem& problem) {
  const auto network = LayerNetwork::of(problem.topology);
  const double positions = network ? network->positions() : 1;
  const double items =
      static_cast<double>(problem.collective.required_deliveries()) + static_cast<double>(problem.collective.chunks());
  const double ports = static_cast<double>(problem.topology.links()) / static_cast<double>(problem.topology.npus());
  return static_cast<std::size_t>(items / positions * (kBytesPerItem + kBytesPerCandidate * ports) +
                                  items * kBytesPerSend + static_cast<double>(problem.topology.links()) * 200);
}

Work layered_work(const SynthesisProblem& problem) {
  const auto network = LayerNetwork::of(problem.topology);
  const std::uint32_t positions = network ? network->positions() : 1;
  const LayerAttempts attempts = attempts_of(problem, positions);
  return attempts.promising * work_of_promising_attempt(problem, positions) +
         attempts.others * work_of_layer_attempt(problem, positions) +
         Work(WorkUnit::layer_send, static_cast<double>(problem.collective.required_deliveries()));
}

}  // namespace tenex
