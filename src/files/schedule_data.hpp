// What a schedule file says, as plain data: the common ground of the HDF5 and the JSON form. Private to this room.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/files/schedule_file.hpp"

namespace tenex {

inline constexpr std::int64_t kScheduleSchema = 1;
inline constexpr const char* kScheduleKind = "tenex schedule";

/// Everything but the sends.
struct ScheduleData {
  std::string occupancy;
  std::string algorithm;
  std::string canonical;

  std::int64_t npus = 0;
  std::string shape;                                          ///< empty: no intact shape
  std::vector<std::int8_t> switch_copy, switch_reduce;        ///< per switch: 0 or 1
  std::vector<std::int64_t> class_alpha_ps, class_bandwidth;  ///< per link class
  std::vector<std::uint32_t> source, target, link_class;      ///< per link

  std::string collective;
  std::int64_t size_bytes = 0;
  std::int64_t chunks = 0;
  std::int64_t root = 0;
  std::vector<std::int64_t> group_size;  ///< per process group
  std::vector<std::uint32_t> member;     ///< NPUs, group by group
};

[[nodiscard]] ScheduleData describe_schedule(const ScheduleFile& file);

/// Which optional columns a schedule needs.
struct OptionalColumns {
  bool stage = false;    ///< otherwise all sends are copies
  bool message = false;  ///< with destination; otherwise every send is unpacked at its link's target
};
/// O(sends).
[[nodiscard]] OptionalColumns optional_columns(const Schedule& schedule);

/// Builds topology and collective, which check themselves, and puts the parts together. Whether the sends make sense is
/// the verifier's business. Errors (input), each at `name`.
[[nodiscard]] Result<ScheduleFile> assemble_schedule(ScheduleData data, std::vector<Send> sends,
                                                     const std::string& name);

[[nodiscard]] Status write_schedule_hdf5(const std::filesystem::path& path, const ScheduleFile& file);
[[nodiscard]] Result<ScheduleFile> read_schedule_hdf5(const std::filesystem::path& path);
[[nodiscard]] Status write_schedule_json(const std::filesystem::path& path, const ScheduleFile& file);
[[nodiscard]] Result<ScheduleFile> read_schedule_json(const std::filesystem::path& path);

}  // namespace tenex
