// Schedule files: a list of sends with the topology and the collective for which they are valid, or a recipe, which
// says how to make the schedule again.
//
// A list is HDF5 (any size, compressed) or JSON (small ones, for people and other tools), and any reader of these forms
// can use it: arrivals and bytes stand beside what the sends are. It is written and read piece by piece. A recipe is
// the canonical text of the design point, a hash of the sends and the time: a few KB for a schedule of any size. Both
// are written under a temporary name, synced and renamed, so that a reader never sees half a file. Format page:
// schedule_file.md beside this header.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// A schedule, and what it is valid for.
struct ScheduleFile {
  Topology topology;
  Collective collective;
  Occupancy occupancy = Occupancy::serialization;
  Schedule schedule;
  std::string algorithm;                      ///< what made it
  std::string canonical;                      ///< the design point's canonical text; may be empty
  std::vector<StartDelay> start_delays = {};  ///< NPUs that send nothing before a time; none twice
  /// Which sends of a schedule these are, for people; empty: all. A part alone is not valid.
  std::string part = {};
};

/// How to make a schedule again, and how to know it.
struct ScheduleRecipe {
  std::string canonical;     ///< the design point's canonical text, with the number of the physics
  std::string machine = {};  ///< the machine file whose digest the text has; empty: the text has a shape
  std::string version = {};  ///< of the tenex that made the schedule
  std::uint64_t sends = 0;
  SimTime time;                   ///< the collective time: last useful arrival
  std::uint64_t hash = 0;         ///< recipe_hash() of the schedule
  std::int64_t memory_bytes = 0;  ///< that making it was planned to take
  /// The limit that making it had, where something was left out for lack of memory; otherwise 0.
  std::int64_t memory_limit_bytes = 0;
  bool operator==(const ScheduleRecipe&) const = default;
};

/// The sends of a schedule that are wanted: those that meet all of these.
struct SendChoice {
  std::vector<NpuId> npus = {};        ///< sends from or to one of these vertices; sorted; empty: any
  std::vector<ChunkId> chunks = {};    ///< sends that carry one of these; sorted; empty: any
  std::optional<SimTime> from = {};    ///< sends that start at this time or later
  std::optional<SimTime> before = {};  ///< sends that start before this time
  /// "from or to NPUs 0-7, of chunks 3, from 5000 ps on"; empty where all are wanted.
  [[nodiscard]] std::string text() const;
};

/// A send of a file, and what follows of it.
struct ListedSend {
  Send send;
  bool known = true;  ///< whether its link and what it carries exist; if not, all that follows is empty
  SimTime arrival;    ///< of its last byte
  VertexId source;
  VertexId target;
  Bytes bytes;                           ///< of all chunks that it carries
  std::span<const ChunkId> chunks = {};  ///< those
};

/// Calls take(send) for each wanted send in the order of (start, link), until it returns false. O(sends in the range of
/// time); for wanted NPUs of a schedule that offers access by links, O(sends of their links). Memory: a segment.
void visit_sends(const ScheduleFile& file, const SendChoice& choice,
                 const std::function<bool(const ListedSend&)>& take);

/// Whether a file says of itself that it is a schedule, by its kind (HDF5) or its name (.json). False also for what
/// cannot be read. O(1).
[[nodiscard]] bool holds_schedule(const std::filesystem::path& path);

struct WriteOptions {
  int threads = 1;         ///< for compression; their number never changes the bytes
  SendChoice choice = {};  ///< the sends to write
};

struct ReadOptions {
  int threads = 1;
};

/// Writes a list: HDF5 if the extension is .h5, JSON if it is .json. Errors: not writable, disk full (environment);
/// another extension, JSON beyond 1,000,000 sends (input). The schedule must be of the topology and the collective.
/// O(sends); a schedule is read from the first wanted start on. Some 10 MB of memory per thread beside the schedule.
[[nodiscard]] Status write_schedule_file(const std::filesystem::path& path, const ScheduleFile& file,
                                         const WriteOptions& options = {});

/// Writes a recipe, in the form that the extension says. Errors: as for lists.
[[nodiscard]] Status write_recipe_file(const std::filesystem::path& path, const ScheduleRecipe& recipe);

/// Reads a list or a recipe in both forms. Errors: unreadable, truncated or damaged (environment), of another kind, an
/// older or a newer schema (input), larger than the machine's memory (resource). O(sends); some MB of memory beside the
/// schedule (JSON: several times the file).
[[nodiscard]] Result<std::variant<ScheduleFile, ScheduleRecipe>> read_schedule(const std::filesystem::path& path,
                                                                               const ReadOptions& options = {});

/// read_schedule() of a list. Errors (input): also a recipe.
[[nodiscard]] Result<ScheduleFile> read_schedule_file(const std::filesystem::path& path,
                                                      const ReadOptions& options = {});

/// The hash by which a schedule is known to be the one that a recipe means: it depends on the sends alone, not on their
/// storage. Up to `most` sends it is schedule_hash(). The whole hash of a longer schedule would take longer than its
/// check, so it covers the number of sends, the last start, and 64 runs of `run` sends each, in the order of (start,
/// link): run i begins with the first send that starts at least i / 64 of the way from the first start to the last one.
/// O(most + segments of the runs) time, O(run) memory.
[[nodiscard]] std::uint64_t recipe_hash(const Schedule& schedule, std::uint64_t most = std::uint64_t{1} << 28,
                                        std::uint64_t run = std::uint64_t{1} << 17);

}  // namespace tenex
