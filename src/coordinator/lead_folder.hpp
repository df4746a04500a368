// Rank 0 and the result folder before the run: opening it while the others wait, and sending them home without it.
#pragma once

#include <chrono>

#include "coordinator/rank_loop.hpp"

namespace tenex {

/// How long a rank waits for its last words to leave.
inline constexpr auto longest_goodbye = std::chrono::seconds(10);

/// Opens the folder on a thread of its own, so that the other ranks hear that this one lives.
[[nodiscard]] Result<ResultFolder> open_folder(const Study& study, const RankSetup& setup, Transport& transport);

/// The folder cannot be had: all ranks end with the same errors, which are handed back.
[[nodiscard]] Diagnostics turn_away(Transport& transport, const Diagnostics& errors);

}  // namespace tenex
