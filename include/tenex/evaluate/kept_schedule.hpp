// Schedules of points in files: kept as a list of sends where it is small or cannot be made again, else as a recipe;
// and made again from recipes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "tenex/base/diagnostic.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/files/schedule_file.hpp"

namespace tenex {

/// Schedules of more sends are kept as recipes: a list of as many takes up to 30 MB on disk and 0.3 GB when it is read.
inline constexpr std::uint64_t kMostListedSends = std::uint64_t{1} << 24;

enum class KeepAs : std::uint8_t {
  by_size,  ///< a recipe if there are more than kMostListedSends sends and the schedule can be made again
  list,
  recipe,
};

struct KeepOptions {
  KeepAs as = KeepAs::by_size;
  int threads = 1;  ///< for compression; their number never changes the bytes
};

/// Writes the schedule of a point, which evaluate() returned with keep_schedule and which is taken from there, and says
/// as what: list or recipe. A schedule that a wall clock ended, or whose canonical text does not say all of its point,
/// has no recipe. Errors: those of write_schedule_file(); (input) a recipe was asked for, and there is none. O(sends),
/// at most 2^28 for a recipe.
[[nodiscard]] Result<KeepAs> keep_schedule(const std::filesystem::path& path, const DesignPoint& point,
                                           EvaluationOutput& output, const KeepOptions& options = {});

/// A schedule from a file.
struct OpenedSchedule {
  ScheduleFile file;
  // Where the file has a recipe, of which the schedule was made:
  std::optional<ScheduleRecipe> recipe = {};
  SimTime time = {};          ///< of the schedule that was made
  std::uint64_t hash = 0;     ///< recipe_hash() of it
  std::string left_out = {};  ///< what was left out for lack of memory

  /// Whether it is the schedule that the recipe means; a list always is.
  [[nodiscard]] bool as_recorded() const;
};

/// A schedule that was made of a point, and the point's row.
struct MadeSchedule {
  ScheduleFile file;
  Evaluation row;
};
/// Evaluates a point whose schedule is wanted. Errors: (resource) it does not fit in memory, (input) it ended otherwise
/// than ok, or has no timed sends.
[[nodiscard]] Result<MadeSchedule> make_schedule(const DesignPoint& point, Cache& cache, EvaluateOptions options);

struct MakingOptions {
  int threads = 1;  ///< never changes the schedule
  /// For making a recipe's schedule; 0: as much as it had.
  std::size_t memory_limit_bytes = 0;
};

/// Reads a list, or reads a recipe and makes its schedule, which is not verified here. Errors: those of
/// read_schedule(), of point_of_canonical() and of making the schedule.
[[nodiscard]] Result<OpenedSchedule> open_schedule(const std::filesystem::path& path,
                                                   const MakingOptions& options = {});

/// An error (input) about a recipe whose schedule is another one now, with both times.
[[nodiscard]] Diagnostic changed_schedule(const std::string& name, const OpenedSchedule& opened);

}  // namespace tenex
