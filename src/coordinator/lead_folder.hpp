// Opens the result folder on rank 0 before the run while the others wait, and ends the other ranks if that fails.
#pragma once

#include <chrono>

#include "coordinator/rank_loop.hpp"

namespace tenex {

/// Longest time that a rank waits until its last messages have left.
inline constexpr auto longest_goodbye = std::chrono::seconds(10);

/// Opens the folder on another thread, so that this one goes on to send ALIVE to the other ranks.
[[nodiscard]] Result<ResultFolder> open_folder(const Study& study, const RankSetup& setup, Transport& transport);

/// Ends all ranks because the folder cannot be opened; returns the errors, which all ranks report.
[[nodiscard]] Diagnostics turn_away(Transport& transport, const Diagnostics& errors);

}  // namespace tenex
