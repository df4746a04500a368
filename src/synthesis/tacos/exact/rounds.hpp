// The frame of a run of the step engine: an empty table, and a team of threads that works in rounds until everything is
// delivered.
#pragma once

#include <omp.h>

#include <barrier>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "synthesis/tacos/exact/step_setup.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/schedule/storage/step_table.hpp"

namespace tenex {

/// The table of a run before its first tile.
template <class Slot>
[[nodiscard]] StepTable<Slot> empty_table(const StepSetup& setup) {
  StepTable<Slot> table;
  table.lanes = setup.lanes;
  table.own = setup.own;
  table.first_chunk = setup.first_chunk;
  table.port_begin = setup.port_begin;
  table.lane_rows.resize(setup.lanes.size());
  table.list_begin.push_back(0);
  for (const std::uint32_t chunks : setup.chunks) table.list_begin.push_back(table.list_begin.back() + chunks);
  table.lists = RawArray<Slot>(table.list_begin.back());
  table.lengths.emplace_back(setup.npus());
  for (std::size_t npu = 0; npu < setup.npus(); ++npu) table.lengths[0][npu] = static_cast<Slot>(setup.own[npu]);
  return table;
}

/// The threads of a run. Their barrier sleeps when it has to wait long. OpenMP's barrier spins, which on a busy machine
/// keeps the awaited thread from running.
struct Team {
  explicit Team(std::size_t threads) : size(threads), barrier(static_cast<std::ptrdiff_t>(threads)) {}
  std::size_t size;
  std::barrier<> barrier;
};

/// Runs a team of one thread per scratch. Every thread calls touch(thread, team) first, so that it places its part of
/// the memory. Then one thread calls open(), which opens the next tiles, and all call work(thread, team), until the
/// scratches' `delivered` add up to the setup's deliveries. Throws what open() throws, and InvariantError if too many
/// tiles of `table` deliver nothing.
template <class Slot, class Scratch, class Touch, class Open, class Work>
void run_rounds(const StepSetup& setup, const StepTable<Slot>& table, const std::vector<Scratch>& scratches,
                const Touch& touch, const Open& open, const Work& work) {
  constexpr std::size_t kMostIdleTiles = 8192;  // chunks under way may take many to arrive, but fewer
  std::exception_ptr failure;
  bool done = setup.deliveries == 0;
  std::uint64_t delivered_before = 0;
  std::size_t tiles_at_progress = 0;
  const auto between_rounds = [&]() noexcept {
    std::uint64_t delivered = 0;
    for (const auto& scratch : scratches) delivered += scratch.delivered;
    done = delivered == setup.deliveries;
    if (done) return;
    try {
      if (std::exchange(delivered_before, delivered) != delivered) tiles_at_progress = table.counts.size();
      ensure(table.counts.size() - tiles_at_progress < kMostIdleTiles,
             "the step engine came to rest with deliveries missing");
      open();
    } catch (...) {  // exceptions must not leave a parallel region
      failure = std::current_exception();
    }
  };
  std::optional<Team> team;
  const auto threads = static_cast<int>(scratches.size());
#pragma omp parallel num_threads(threads)
  {
#pragma omp single
    team.emplace(static_cast<std::size_t>(omp_get_num_threads()));
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    touch(thread, *team);
    while (!done) {
      team->barrier.arrive_and_wait();
      if (thread == 0) between_rounds();
      team->barrier.arrive_and_wait();
      if (done || failure) break;
      work(thread, *team);
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tenex
