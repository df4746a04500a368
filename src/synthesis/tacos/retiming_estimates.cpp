// The expected cost of re-timing an All-Reduce. The bytes were measured on a 2-core machine on mesh(32,32)
// (1.05e6 sends, homogeneous), RI(4)_FC(8)_RI(32) (as many, three costs) and FC(256).
#include "synthesis/compose.hpp"
#include "synthesis/tacos/engines.hpp"
#include "synthesis/tacos/tacos.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/views/views.hpp"

namespace tenex {

namespace {

constexpr double kBytesPerSendKept = 32 + 16;
/// Of step tables beyond what the engine plans: with pauses, as on rings, they have more rows. The reduction may have
/// one of its own.
constexpr double kBytesPerSendOfPauses = 24;
constexpr std::size_t kBytesOfView = std::size_t{1} << 18;  ///< and of what small gathers have beside their sends

/// In a chunk-exact gather over links that are alike, on an intact shape, with one chunk per NPU and links kept until
/// arrival, no send waits without need: its critical path has no pause, forwards and backwards.
bool expected_to_gain_nothing(const SynthesisProblem& problem, std::string_view engine) {
  return engine == tacos_engine::exact && problem.occupancy == Occupancy::transfer && problem.topology.homogeneous() &&
         problem.topology.shape().has_value() && problem.collective.chunks_per_npu() == 1;
}

}  // namespace

std::size_t retiming_bytes(const SynthesisProblem& problem, std::string_view engine) {
  if (problem.collective.kind() != CollectiveKind::all_reduce || expected_to_gain_nothing(problem, engine)) return 0;
  const double sends = sends_of_one_pass(problem.collective);
  const std::size_t retimed = retime_bytes(problem.topology, static_cast<std::uint64_t>(2 * sends));
  if (engine == tacos_engine::event_driven) return retimed;
  // The reduction beside: a list, or a view with names of its own.
  if (!reverses_as_view(problem)) return retimed + static_cast<std::size_t>(sends * kBytesPerSendKept);
  return retimed + static_cast<std::size_t>(sends * kBytesPerSendOfPauses) + kBytesOfView +
         sizeof(LinkId) * problem.topology.links() + sizeof(ChunkId) * problem.collective.chunks();
}

Work retiming_work(const SynthesisProblem& problem, std::string_view engine) {
  if (problem.collective.kind() != CollectiveKind::all_reduce || expected_to_gain_nothing(problem, engine)) return {};
  return {WorkUnit::tree_send_retimed, 2 * sends_of_one_pass(problem.collective)};
}

}  // namespace tenex
