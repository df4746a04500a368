// The expected cost of a synthesis by the event-driven engine. The bytes were measured on a 2-core machine with
// All-Gather and All-Reduce on mesh(32,32) (1.05e6 sends, homogeneous), RI(4)_FC(8)_RI(32) (as many, three costs) and
// FC(256).
#include <algorithm>

#include "synthesis/compose.hpp"
#include "synthesis/tacos/event_driven/event_driven.hpp"
#include "tenex/base/bitset.hpp"

namespace tenex {

namespace {

constexpr double kBytesPerEngineSend = 16 + 16 + 8;  // engine, best attempt of each thread, lists
constexpr double kBytesPerSendKept = 32 + 16;

}  // namespace

std::size_t event_driven_bytes(const SynthesisProblem& problem) {
  const double sends = sends_of_one_pass(problem.collective);
  const double bits =
      static_cast<double>(BitMatrix::bytes_for(problem.topology.vertices(), problem.collective.chunks()));
  const double matrices = problem.topology.homogeneous() ? 2 : 2 + 1 + 8;
  const double passes = problem.collective.kind() == CollectiveKind::all_reduce ? 2 : 1;
  const double paces = event_driven_paces(problem);  // each pace has a setup and an engine
  const double replays =
      paces > 1 ? 8.0 * static_cast<double>(problem.topology.vertices() * problem.collective.chunks()) : 0;
  const double bytes = paces * bits + paces * (matrices * bits + sends * kBytesPerEngineSend) + replays +
                       passes * sends * kBytesPerSendKept + 200.0 * static_cast<double>(problem.topology.links());
  return static_cast<std::size_t>(bytes);
}

Work event_driven_work(const SynthesisProblem& problem) {
  const double sends = sends_of_one_pass(problem.collective);
  const double entries =
      static_cast<double>(problem.topology.links()) * static_cast<double>(problem.collective.chunks());
  const WorkUnit send = problem.topology.homogeneous() ? WorkUnit::event_send : WorkUnit::event_send_unlike;
  // Every link looks at every chunk once.
  const Work attempt = Work(send, sends) + Work(WorkUnit::event_look, entries);
  const Work pass = std::max<std::uint32_t>(1, problem.attempts) * attempt + Work(WorkUnit::event_send_kept, sends);
  if (problem.collective.kind() != CollectiveKind::all_reduce) return pass;
  return 2 * pass + Work(WorkUnit::event_send_retimed, 2 * sends);
}

}  // namespace tenex
