// The columns of each kind of schedule storage in a file: one group per storage, and views beside their bases. Private
// to this module; the format page is schedule_file.md.
//
// Writers read the storages' own data, one port, piece or orbit at a time, so that no second copy of a schedule is
// made. Readers trust nothing: a value that a storage would use as an index, a length or a time is checked before the
// storage is built.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/files/column_file.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The file that a storage is written to, and the topology for which it is valid.
struct StorageTarget {
  ColumnFileWriter& file;
  const Topology& topology;
  int threads = 1;
};

/// The file that a storage is read from.
struct StorageSource {
  const ColumnFileReader& file;
  std::string name;  ///< of the file, for messages
  const Topology& topology;
  const Collective& collective;
  int threads = 1;

  /// An error (environment) about content that the writer never writes.
  [[nodiscard]] Diagnostic damaged(const std::string& group, std::string why) const;
};

/// A storage that was read, with bounds on its times.
struct StoredSchedule {
  Schedule schedule;
  SimTime first_start;                 ///< no send starts earlier
  SimTime last_start;                  ///< no send starts later
  std::uint64_t sends_of_busiest = 0;  ///< no link has more sends
};

/// Writes any schedule send by send: the layout that every tool can read. `group` exists.
void write_sends(const StorageTarget& target, const std::string& group, const Schedule& schedule);
[[nodiscard]] Result<StoredSchedule> read_sends(const StorageSource& source, const std::string& group);

/// Writes the parts of one storage.
template <class Slot>
void write_step_table(const StorageTarget& target, const std::string& group, const StepTable<Slot>& table);
[[nodiscard]] Result<StoredSchedule> read_step_table(const StorageSource& source, const std::string& group);
/// Returns false, and writes nothing, where `data` of `schedule` is not of the target's topology.
bool write_blocks(const StorageTarget& target, const std::string& group, const Schedule& schedule,
                  const BlockSchedule& data);
[[nodiscard]] Result<StoredSchedule> read_blocks(const StorageSource& source, const std::string& group);
/// As write_blocks().
bool write_orbits(const StorageTarget& target, const std::string& group, const SymmetricStorage& storage);
[[nodiscard]] Result<StoredSchedule> read_orbits(const StorageSource& source, const std::string& group);
/// As write_blocks().
bool write_grid(const StorageTarget& target, const std::string& group, const GridSchedule& data);
[[nodiscard]] Result<StoredSchedule> read_grid(const StorageSource& source, const std::string& group);
/// As write_blocks().
bool write_combs(const StorageTarget& target, const std::string& group, const CombSchedule& data);
[[nodiscard]] Result<StoredSchedule> read_combs(const StorageSource& source, const std::string& group);
void write_periods(const StorageTarget& target, const std::string& group, const PeriodicSchedule& data);
[[nodiscard]] Result<StoredSchedule> read_periods(const StorageSource& source, const std::string& group);

/// Whether write_storages() would save anything.
[[nodiscard]] bool has_compact_form(const Schedule& schedule);
/// Writes the schedule and all storages below its views, under "/storage", each storage once.
void write_storages(const StorageTarget& target, const Schedule& schedule);
[[nodiscard]] Result<StoredSchedule> read_storages(const StorageSource& source);

/// Errors (resource): the machine has less memory than `bytes`.
[[nodiscard]] Status check_machine_memory(const std::string& file, std::uint64_t bytes);

/// Reads the rows of one column in order, in pieces of many tiles.
template <class T>
class ColumnCursor {
 public:
  ColumnCursor(const ColumnFileReader& file, std::string path, std::size_t rows)
      : file_(file), path_(std::move(path)), left_(rows) {}

  /// Fills `into`. Errors: as ColumnFileReader::read, or fewer rows are left.
  [[nodiscard]] Status take(std::span<T> into) {
    while (!into.empty()) {
      if (at_ == piece_.size())
        if (auto status = fill(); !status) return status;
      const auto count = std::min(into.size(), piece_.size() - at_);
      std::copy_n(piece_.data() + at_, count, into.data());
      at_ += count;
      into = into.subspan(count);
    }
    return success();
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 20;  ///< whole tiles of any element type

  Status fill() {
    if (left_ == 0) return environment_error(fmt::format("\"{}\" is damaged", path_), "it is too short");
    piece_.resize(std::min(kPiece, left_));
    if (auto status = file_.read_into<T>(path_, first_, std::span<T>(piece_)); !status) return status;
    first_ += piece_.size();
    left_ -= piece_.size();
    at_ = 0;
    return success();
  }

  const ColumnFileReader& file_;
  std::string path_;
  std::size_t first_ = 0;
  std::size_t left_;
  std::vector<T> piece_;
  std::size_t at_ = 0;
};

/// Writes a column piece by piece. Tiny columns are kept until the end and stored uncompressed.
template <class T>
class ColumnPen {
 public:
  ColumnPen(ColumnFileWriter& file, std::string path) : file_(file), path_(std::move(path)) {}

  void put(T value) {
    piece_.push_back(value);
    if (piece_.size() == kPiece) flush();
  }
  void put(std::span<const T> values) {
    for (const T value : values) put(value);
  }
  /// Call once, at the end.
  void finish() {
    if (begun_)
      flush();
    else
      file_.write(path_, std::span<const T>(piece_));
  }

 private:
  static constexpr std::size_t kPiece = 16'384;

  void flush() {
    if (!begun_) file_.begin<T>(path_);
    begun_ = true;
    file_.append(path_, std::span<const T>(piece_));
    piece_.clear();
  }

  ColumnFileWriter& file_;
  std::string path_;
  std::vector<T> piece_;
  bool begun_ = false;
};

/// Reads several whole columns of one group, and keeps the first errors.
class ColumnFacts {
 public:
  ColumnFacts(const ColumnFileReader& file, std::string group) : file_(file), group_(std::move(group)) {}

  void text(const char* name, std::string& into) { take(file_.text_attribute(group_, name), into); }
  void integer(const char* name, std::int64_t& into) { take(file_.integer_attribute(group_, name), into); }
  template <class T>
  void column(const char* name, std::vector<T>& into) {
    take(file_.read<T>(group_ + "/" + name), into);
  }
  void rows(const char* name, std::size_t& into) { take(file_.rows(group_ + "/" + name), into); }
  [[nodiscard]] const Diagnostics& errors() const { return errors_; }

 private:
  template <class T>
  void take(Result<T> value, T& into) {
    if (value)
      into = std::move(value).value();
    else
      append(errors_, value.errors());
  }

  const ColumnFileReader& file_;
  std::string group_;
  Diagnostics errors_;
};

}  // namespace tenex
