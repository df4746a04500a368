// The expected cost of a synthesis by the event-driven engine. The constants were measured at -O2 on a 2-core machine
// with All-Gather and All-Reduce on mesh(32,32) (1.05e6 sends, homogeneous), RI(4)_FC(8)_RI(32) (as many, three costs)
// and FC(256).
#include <algorithm>

#include "synthesis/compose.hpp"
#include "synthesis/tacos/event_driven/event_driven.hpp"
#include "tenex/base/bitset.hpp"

namespace tenex {

namespace {

constexpr double kSecondsPerSend = 75e-9;  // of one attempt with links that are alike
constexpr double kHeterogeneousFactor = 3;
constexpr double kSecondsPerListEntry = 0.7e-9;      // every link looks at every chunk once
constexpr double kSecondsPerSendKept = 120e-9;       // to make the best attempt into a schedule
constexpr double kSecondsPerSendRetimed = 600e-9;    // All-Reduce
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

double event_driven_seconds(const SynthesisProblem& problem) {
  const double sends = sends_of_one_pass(problem.collective);
  const double entries =
      static_cast<double>(problem.topology.links()) * static_cast<double>(problem.collective.chunks());
  const double attempt = sends * kSecondsPerSend * (problem.topology.homogeneous() ? 1 : kHeterogeneousFactor) +
                         entries * kSecondsPerListEntry;
  const double pass = std::max<std::uint32_t>(1, problem.attempts) * attempt + sends * kSecondsPerSendKept;
  return problem.collective.kind() == CollectiveKind::all_reduce ? 2 * pass + 2 * sends * kSecondsPerSendRetimed : pass;
}

}  // namespace tenex
