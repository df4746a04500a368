// The contents of a schedule file as plain data, for the HDF5 and the JSON form.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/files/column_file.hpp"
#include "tenex/files/schedule_file.hpp"

namespace tenex {

/// Schema 1 has the sends one by one; schema 2 may have storages as well. JSON and expanded files are of schema 1.
inline constexpr std::int64_t kExpandedSchema = 1;
inline constexpr std::int64_t kScheduleSchema = 2;
inline constexpr const char* kScheduleKind = "tenex schedule";

/// The form of a file, from its name. Errors (input): another extension.
enum class ScheduleForm : std::uint8_t { hdf5, json };
[[nodiscard]] Result<ScheduleForm> schedule_form_of(const std::filesystem::path& path);

/// Most sends in a JSON file.
inline constexpr std::uint64_t kMostJsonSends = 1'000'000;
/// An input error; `sends` is the number of sends as text.
[[nodiscard]] Diagnostic too_large_for_json(const std::filesystem::path& path, const std::string& sends);

/// Everything but the sends.
struct ScheduleData {
  std::string occupancy;
  std::string algorithm;
  std::string canonical;

  std::int64_t npus = 0;
  std::string shape;                                    ///< empty: no intact shape
  std::string unwound_shape;                            ///< empty: not a shape whose switches were unwound
  std::int64_t unwound_degree = 0;                      ///< of that shape
  std::vector<std::int8_t> switch_copy, switch_reduce;  ///< per switch: 0 or 1
  std::vector<std::int8_t> switch_cut_through;          ///< per switch: 0 or 1; empty: all store and forward, unlimited
  std::vector<std::int64_t> switch_buffer;  ///< per switch: chunks, -1 for any number; as switch_cut_through
  std::vector<std::uint32_t> wire_links;    ///< per wire: how many physical links it has; empty: no wires
  std::vector<std::uint32_t> wire_link;     ///< the physical links, wire by wire
  std::vector<std::int64_t> class_alpha_ps, class_bandwidth;  ///< per link class
  std::vector<std::int64_t> class_slowdown;  ///< per link class, in thousandths; empty: no link is slowed
  /// The windows of link classes whose bandwidth varies, by class and then by time; empty: none varies.
  std::vector<std::uint32_t> window_class;
  std::vector<std::int64_t> window_from_ps, window_until_ps, window_slowdown;  ///< per window; slowdown in thousandths
  std::vector<std::uint32_t> source, target, link_class;                       ///< per link

  std::string collective;
  std::int64_t size_bytes = 0;
  std::int64_t chunks = 0;
  std::int64_t root = 0;
  std::vector<std::int64_t> group_size;    ///< per process group
  std::vector<std::uint32_t> member;       ///< NPUs, group by group
  std::vector<std::uint32_t> delayed_npu;  ///< NPUs that start late; empty: none does
  std::vector<std::int64_t> delay_ps;      ///< per such NPU

  // What groups have of their own, if they differ or store conditions; otherwise empty.
  std::vector<std::int64_t> group_kind;  ///< position in collective_names()
  std::vector<std::int64_t> group_size_bytes, group_chunks, group_root;
  std::vector<std::int64_t> group_conditions;        ///< the number of each group's conditions
  std::vector<std::uint32_t> condition_source;       ///< rank, per condition
  std::vector<std::int64_t> condition_bytes;         ///< per condition
  std::vector<std::int64_t> condition_destinations;  ///< their number, per condition
  std::vector<std::uint32_t> destination;            ///< ranks, condition by condition

  /// Calls visit(name, column) for each of these columns, in the order in which files have them.
  template <class Self, class Visit>
  static void for_each_own(Self& self, Visit&& visit) {
    visit("group_kind", self.group_kind);
    visit("group_size_bytes", self.group_size_bytes);
    visit("group_chunks", self.group_chunks);
    visit("group_root", self.group_root);
    visit("group_conditions", self.group_conditions);
    visit("condition_source", self.condition_source);
    visit("condition_bytes", self.condition_bytes);
    visit("condition_destinations", self.condition_destinations);
    visit("destination", self.destination);
  }

  /// The same for the columns of windows.
  template <class Self, class Visit>
  static void for_each_window(Self& self, Visit&& visit) {
    visit("window_class", self.window_class);
    visit("window_from_ps", self.window_from_ps);
    visit("window_until_ps", self.window_until_ps);
    visit("window_slowdown", self.window_slowdown);
  }
};

/// Describes a schedule. With `with_links` false the columns of links stay empty: a large topology's are written piece
/// by piece.
[[nodiscard]] ScheduleData describe_schedule(const ScheduleFile& file, bool with_links);

/// Builds topology and collective, which check themselves, with an empty schedule. The verifier checks the sends.
/// Errors (input), each at `name`.
[[nodiscard]] Result<ScheduleFile> restore_frame(ScheduleData data, const std::string& name);

/// Checks that no time overflows, which would make every later check meaningless: `sends_of_busiest` sends of one link,
/// and as many hops as there are vertices, must end within the range. `schedule` holds the sends. Errors (input), at
/// `name`.
[[nodiscard]] Status check_times(const ScheduleFile& frame, const Schedule& schedule, std::uint64_t sends_of_busiest,
                                 const std::string& name);

[[nodiscard]] Status write_schedule_hdf5(const std::filesystem::path& path, const ScheduleFile& file,
                                         const WriteOptions& options);
[[nodiscard]] Result<ScheduleFile> read_schedule_hdf5(const std::filesystem::path& path, const ReadOptions& options);
/// The same from columns of any source; `name` stands for the file in messages.
[[nodiscard]] Result<ScheduleFile> read_schedule_columns(const ColumnFileReader& reader, const std::string& name,
                                                         const ReadOptions& options);
[[nodiscard]] Status write_schedule_json(const std::filesystem::path& path, const ScheduleFile& file);
[[nodiscard]] Result<ScheduleFile> read_schedule_json(const std::filesystem::path& path);

}  // namespace tenex
