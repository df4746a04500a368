// Shards: rows of finished points as a small HDF5 file, built in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "store/asked_outputs.hpp"
#include "store/journal.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex::store {

/// A finished row. Points are known by key, not by index, so rows remain valid when the study changes.
struct StoredRow {
  Digest key;
  Evaluation evaluation;
  std::int64_t finished_unix_ms = 0;
  OutputBits outputs = 0;  ///< what its run was asked to store
};

/// The writer of a shard: host, study and program version.
struct ShardOrigin {
  std::int64_t physics = 0;
  std::string study_digest;
  std::string version;
  std::string git_revision;
  std::int64_t git_dirty = 0;
  std::uint32_t incarnation = 0;
  std::uint32_t rank = 0;
  std::string host;
  std::string host_facts;
};

/// The origin of what this process writes.
[[nodiscard]] ShardOrigin this_origin(const std::string& study_digest, std::uint32_t incarnation, std::uint32_t rank);

/// The paths of columns.
namespace columns {
inline constexpr const char* kKey = "/key";
inline constexpr const char* kFinished = "/finished_unix_ms";
inline constexpr const char* kOutputs = "/outputs";
inline constexpr const char* kGroupCount = "/group_count";
inline constexpr const char* kGroupTime = "/group_time_ps";
inline constexpr const char* kLinkCount = "/link_count";
inline constexpr const char* kLinkBytes = "/link_bytes";
inline constexpr const char* kLinkBusy = "/link_busy_ps";
inline constexpr const char* kBinCount = "/bin_count";
inline constexpr const char* kBinBusy = "/bin_busy_ps";
inline constexpr const char* kBinWidth = "/bin_width_ps";
inline constexpr const char* kArrivalCount = "/arrival_count";
inline constexpr const char* kArrivalTime = "/arrival_time_ps";
inline constexpr const char* kArrivalNpu = "/arrival_npu";
inline constexpr const char* kArrivalChunk = "/arrival_chunk";
[[nodiscard]] std::string metric(std::string_view name);
}  // namespace columns

/// The shard's file image; equal arguments give equal bytes. `trains`: the study has training points, and so the shard
/// has their columns. Errors (environment): the HDF5 library failed.
[[nodiscard]] Result<std::vector<std::byte>> encode_shard(const ShardOrigin& origin, const std::vector<StoredRow>& rows,
                                                          std::size_t first, std::size_t count, bool trains);
/// Bytes that a row takes before compression; they decide when to flush.
[[nodiscard]] std::size_t row_bytes(const Evaluation& evaluation);

/// A shard's bytes, checked against its journal line. Errors (environment): missing, shortened, damaged.
[[nodiscard]] Result<std::vector<std::byte>> read_shard_bytes(const Layout& layout, const Commit& commit);
/// Opens checked bytes. Errors: another kind, a newer schema (unsupported), another number of rows than committed.
[[nodiscard]] Result<ColumnFileReader> open_shard(const Layout& layout, const Commit& commit);

[[nodiscard]] Result<ShardOrigin> read_origin(const ColumnFileReader& shard);
/// Whether a shard failed to open because another version wrote it, and not because it is damaged. Then nothing may be
/// concluded from its absence, and the user needs that version.
[[nodiscard]] bool is_of_newer_version(const Diagnostics& errors);
/// Nothing where the shard's rows may count here; otherwise the warning that says why they do not.
[[nodiscard]] std::optional<std::string> describe_other_physics(const ShardOrigin& origin, const std::string& file);
/// Errors (environment): a malformed key.
[[nodiscard]] Result<std::vector<Digest>> read_keys(const ColumnFileReader& shard, const std::string& file);
/// The outputs that each row's run was asked for; nothing in a shard that does not say. Errors (environment): damaged.
[[nodiscard]] Result<std::vector<OutputBits>> read_outputs(const ColumnFileReader& shard, std::size_t rows);
[[nodiscard]] Result<std::vector<StoredRow>> decode_shard(const ColumnFileReader& shard, const std::string& file);

/// Fills the metrics of rows from the columns `folder + name`. `rows` has the file's number of rows. Only the columns
/// of training points may be missing. Errors: a column is missing, of another length, or has a flag that this version
/// does not know.
[[nodiscard]] Status read_metrics(const ColumnFileReader& file, const std::string& name, const std::string& folder,
                                  std::vector<Evaluation>& rows);
/// Writes the columns `folder + name` of all metrics; those of training points only where `trains`.
void write_metrics(ColumnFileWriter& file, const std::string& folder, const std::vector<const Evaluation*>& rows,
                   bool trains);

}  // namespace tenex::store
