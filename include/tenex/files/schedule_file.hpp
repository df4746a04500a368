// Schedule files: a schedule with the topology and collective for which it is valid, so that a file can be verified
// alone.
//
// There are two forms: HDF5 (any size, compressed) and JSON (small ones, for people and other tools). HDF5 files hold
// large schedules as memory does: a step table as a step table, a view as a reference to its base. They are written and
// read piece by piece, without a second copy. Any schedule can also be written send by send, for other tools. A file is
// written under a temporary name, synced and renamed, so that a reader never sees half a file. Format page:
// schedule_file.md beside this header.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The contents of a schedule file.
struct ScheduleFile {
  Topology topology;
  Collective collective;
  Occupancy occupancy = Occupancy::serialization;
  Schedule schedule;
  std::string algorithm;                      ///< what made it
  std::string canonical;                      ///< the design point's canonical text; may be empty
  std::vector<StartDelay> start_delays = {};  ///< NPUs that send nothing before a time; none twice
};

/// Layout of the sends in HDF5 files.
enum class SendLayout : std::uint8_t {
  compact,   ///< as in memory, if that is smaller than a list
  expanded,  ///< send by send: start, link, chunk, ... for any reader of HDF5
};

struct WriteOptions {
  SendLayout layout = SendLayout::compact;
  int threads = 1;  ///< for encoding and compression; their number never changes the bytes
};

struct ReadOptions {
  int threads = 1;
};

/// Writes HDF5 if the extension is .h5, JSON if it is .json. Errors: not writable, disk full (environment); another
/// extension, JSON beyond 1,000,000 sends (input). O(sends), or less if the layout is compact; some 10 MB of memory per
/// thread beside the schedule (JSON: the whole file).
[[nodiscard]] Status write_schedule_file(const std::filesystem::path& path, const ScheduleFile& file,
                                         const WriteOptions& options = {});

/// Reads both forms; a compact file into the storage that was written. Errors: unreadable, truncated or damaged
/// (environment), of another kind or a newer major version (input), larger than the machine's memory (resource).
/// O(sends), or less; some MB of memory beside the schedule (JSON: several times the file).
[[nodiscard]] Result<ScheduleFile> read_schedule_file(const std::filesystem::path& path,
                                                      const ReadOptions& options = {});

}  // namespace tenex
