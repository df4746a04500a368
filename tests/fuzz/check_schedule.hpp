// The check of a schedule that a reader accepted, like that of `tenex verify`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "tenex/base/diagnostic.hpp"
#include "tenex/files/schedule_file.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex::fuzz {

/// Reads all sends, unless the file claims so many (or so large a problem) that the test would take more than a second.
inline void check_schedule(const std::variant<ScheduleFile, ScheduleRecipe>& content) {
  if (!std::holds_alternative<ScheduleFile>(content)) return;
  const auto& file = std::get<ScheduleFile>(content);
  constexpr std::size_t kMostSends = 20'000;
  constexpr std::size_t kMostCells = 1'000'000;
  const auto cells = (file.topology.vertices() + 1) * (file.collective.chunks() + 1);
  if (file.schedule.sends() > kMostSends || file.topology.vertices() > kMostSends || cells > kMostCells) return;
  VerifyOptions options;
  options.memory_limit_bytes = std::size_t{64} << 20;
  try {
    (void)verify({file.topology, file.collective, file.occupancy}, file.schedule, options);
  } catch (const InvariantError&) {  // documented for storages that are out of order
  }
}

}  // namespace tenex::fuzz
