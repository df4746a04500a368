// Options of the run of a collective point.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tenex/synthesis/solver_progress.hpp"

namespace tenex {

struct ExecutionOptions {
  int threads = 1;  ///< never changes a result
  std::size_t memory_limit_bytes = std::size_t{8} << 30;
  /// Return the schedule as its synthesizer stores it, never a scaled schedule of another point: measured times may not
  /// depend on what was evaluated before.
  bool own_storage = false;
  bool link_loads = false;              ///< keep bytes and busy time per link
  std::uint32_t utilization_bins = 0;   ///< > 0: keep the links' busy time in that many bins
  bool arrivals = false;                ///< keep every delivered chunk's time
  bool time_only = false;               ///< programs are timed by the fastest engine, neither recorded nor verified
  bool plays_jointly = false;           ///< `auto` tries only what can be replayed beside other collectives
  SolverProgress solver_progress = {};  ///< of synthesizers with solvers; never changes a result
};

}  // namespace tenex
