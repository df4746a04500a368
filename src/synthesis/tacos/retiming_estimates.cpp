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
constexpr double kBytesPerSendRetimed = 100;

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
  const auto lists = static_cast<std::size_t>(2 * sends * kBytesPerSendRetimed);
  if (engine == tacos_engine::event_driven) return lists;
  // A reduction that is not a view of its gather is a list, and so is its re-timing.
  if (!reverses_as_view(problem)) return lists + static_cast<std::size_t>(sends * kBytesPerSendKept);
  return retime_in_trees_bytes(problem);
}

Work retiming_work(const SynthesisProblem& problem, std::string_view engine) {
  if (problem.collective.kind() != CollectiveKind::all_reduce || expected_to_gain_nothing(problem, engine)) return {};
  return {WorkUnit::tree_send_retimed, 2 * sends_of_one_pass(problem.collective)};
}

}  // namespace tenex
