// Schedule files: a schedule with the topology and collective that it is valid for, so that a file can be verified
// alone.
//
// HDF5 (any size, compressed) and JSON (small ones, for people and other tools). HDF5 files hold large schedules as
// memory does, a step table as a step table, a view as what it is a view of, and are written and read piece by piece,
// without a second copy; any schedule can also be written send by send, for other tools. Written to a temporary name,
// synced and renamed: a reader never sees half a file. Format page: docs beside this header, schedule_file.md.
#pragma once

#include <cstdint>
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

/// How HDF5 files hold the sends.
enum class SendLayout : std::uint8_t {
  compact,   ///< as memory does, where that is less than a list
  expanded,  ///< send by send: start, link, chunk, ... for any reader of HDF5
};

struct WriteOptions {
  SendLayout layout = SendLayout::compact;
  int threads = 1;  ///< encode and compress; never change the bytes
};

struct ReadOptions {
  int threads = 1;
};

/// Writes HDF5 where the extension is .h5, JSON where it is .json. Errors (environment): not writable, disk full,
/// another extension (input); JSON beyond 1,000,000 sends (input). O(sends), or less where the layout is compact;
/// some 10 MB of memory per thread beside the schedule (JSON: the whole file).
[[nodiscard]] Status write_schedule_file(const std::filesystem::path& path, const ScheduleFile& file,
                                         const WriteOptions& options = {});

/// Reads either kind, a compact one into the storage that was written. Errors: unreadable, truncated or damaged
/// (environment), of another kind or a newer major (input), larger than the machine's memory (resource). O(sends), or
/// less; some MB of memory beside the schedule (JSON: several times the file).
[[nodiscard]] Result<ScheduleFile> read_schedule_file(const std::filesystem::path& path,
                                                      const ReadOptions& options = {});

}  // namespace tenex
