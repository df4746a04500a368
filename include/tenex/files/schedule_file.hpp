// Schedule files: a schedule with the topology and collective that it is valid for, so that a file can be verified
// alone.
//
// HDF5 (any size, streamed window by window, compressed) and JSON (small ones, for people and other tools). Written to
// a temporary name, synced and renamed: a reader never sees half a file. Format page: docs beside this header,
// schedule_file.md.
#pragma once

#include <filesystem>
#include <string>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Everything a schedule file holds.
struct ScheduleFile {
  Topology topology;
  Collective collective;
  Occupancy occupancy = Occupancy::serialization;
  Schedule schedule;
  std::string algorithm;  ///< what made it
  std::string canonical;  ///< the design point's canonical text; may be empty
};

/// Writes HDF5 where the extension is .h5, JSON where it is .json. Errors (environment): not writable, disk full,
/// another extension (input); JSON beyond 1,000,000 sends (resource). O(sends).
[[nodiscard]] Status write_schedule_file(const std::filesystem::path& path, const ScheduleFile& file);

/// Reads either kind. Errors: unreadable or truncated (environment), of another kind or a newer major (input).
/// O(sends).
[[nodiscard]] Result<ScheduleFile> read_schedule_file(const std::filesystem::path& path);

}  // namespace tenex
