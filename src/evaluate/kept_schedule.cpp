#include "tenex/evaluate/kept_schedule.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/core.h>

#include "tenex/base/units.hpp"
#include "tenex/base/version.hpp"
#include "tenex/design/canonical_point.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/prepared_point.hpp"

namespace tenex {
namespace {

/// Why the point's schedule has no recipe; empty if it has one.
std::string why_no_recipe(const DesignPoint& point, const Evaluation& row) {
  if (row.clock_ended == 1) return "solver_time_limit ended the search, so that another run may make another schedule";
  const auto& runs = point.collective();
  if (is_digest(runs.matrix.text()) || is_digest(runs.conditions.text()))
    return "its matrix or list of conditions is too long for the text of its point, which has only the digest";
  const auto again = point_of_canonical(point.canonical, point.topology.machine_content, vocabulary());
  if (!again) return to_string(again.errors());
  return again->key == point.key ? "" : "its canonical text is of another physics";
}

/// Takes the schedule.
ScheduleFile file_of(const DesignPoint& point, EvaluationOutput& output) {
  return {*std::move(output.topology),
          *std::move(output.collective),
          point.occupancy,
          std::move(output.schedule),
          point.algorithm,
          point.canonical,
          start_delays_of(point)};
}

ScheduleRecipe recipe_of(const DesignPoint& point, const EvaluationOutput& output) {
  const bool left_out = !output.row.reason.empty();
  return {.canonical = point.canonical,
          .machine = std::string(point.topology.machine_content.view()),
          .version = std::string(version()),
          .sends = output.schedule.sends(),
          .time = SimTime::of(output.row.collective_time_ps),
          .hash = recipe_hash(output.schedule),
          .memory_bytes = output.row.memory_planned_bytes,
          .memory_limit_bytes = left_out ? static_cast<std::int64_t>(output.memory_limit_bytes) : 0};
}

/// The limit under which the schedule is made again: the one it had where it matters.
std::size_t limit_for(const ScheduleRecipe& recipe, const MakingOptions& options) {
  if (options.memory_limit_bytes > 0) return options.memory_limit_bytes;
  if (recipe.memory_limit_bytes > 0) return static_cast<std::size_t>(recipe.memory_limit_bytes);
  const auto planned = static_cast<std::size_t>(std::max<std::int64_t>(0, recipe.memory_bytes));
  return std::max(planned, EvaluateOptions{}.memory_limit_bytes);
}

/// The errors of a recipe's text: the option that would have the value is not where it stands.
Diagnostics at_file(Diagnostics errors, const std::string& name) {
  for (auto& error : errors) error.place = {name, 0, 0};
  return errors;
}

Result<OpenedSchedule> make_again(ScheduleRecipe recipe, const std::string& name, const MakingOptions& options) {
  const auto point = point_of_canonical(recipe.canonical, recipe.machine, vocabulary());
  if (!point) return at_file(point.errors(), name);
  Cache cache;
  EvaluateOptions making;
  making.threads = options.threads;
  making.memory_limit_bytes = limit_for(recipe, options);
  making.schedule_only = true;
  auto made = make_schedule(*point, cache, making);
  if (!made)
    return input_error({name, 0, 0}, "the recipe's schedule cannot be made", made.errors().front().problem,
                       made.errors().front().suggestion);
  const auto hash = recipe_hash(made->file.schedule);
  return OpenedSchedule{std::move(made->file), std::move(recipe), SimTime::of(made->row.collective_time_ps), hash,
                        made->row.reason};
}

}  // namespace

Result<KeepAs> keep_schedule(const std::filesystem::path& path, const DesignPoint& point, EvaluationOutput& output,
                             const KeepOptions& options) {
  const bool large = output.schedule.sends() > kMostListedSends;
  if (options.as == KeepAs::recipe || (options.as == KeepAs::by_size && large)) {
    const auto why = why_no_recipe(point, output.row);
    if (why.empty()) {
      if (auto status = write_recipe_file(path, recipe_of(point, output)); !status) return status.errors();
      return KeepAs::recipe;
    }
    if (options.as == KeepAs::recipe)
      return input_error({path.string(), 0, 0}, "this schedule has no recipe", why, "write a list");
  }
  auto status = write_schedule_file(path, file_of(point, output), {.threads = options.threads});
  if (!status) return status.errors();
  return KeepAs::list;
}

bool OpenedSchedule::as_recorded() const {
  return !recipe || (hash == recipe->hash && time == recipe->time && file.schedule.sends() == recipe->sends);
}

Result<MadeSchedule> make_schedule(const DesignPoint& point, Cache& cache, EvaluateOptions options) {
  options.keep_schedule = true;
  auto output = evaluate(point, cache, options);
  if (output.row.status == PointStatus::out_of_memory) return resource_error(output.row.reason, "", "raise --memory");
  if (output.row.status != PointStatus::ok) return input_error({}, output.row.reason);
  if (!output.topology || !output.collective || output.schedule.sends() == 0)
    return input_error({}, "the point has no timed sends", "the congestion-unaware backend only computes times",
                       "use --backend congestion_aware");
  auto row = output.row;
  return MadeSchedule{file_of(point, output), std::move(row)};
}

Result<OpenedSchedule> open_schedule(const std::filesystem::path& path, const MakingOptions& options) {
  auto content = read_schedule(path, {options.threads});
  if (!content) return content.errors();
  if (auto* list = std::get_if<ScheduleFile>(&*content)) return OpenedSchedule{std::move(*list)};
  return make_again(std::get<ScheduleRecipe>(*std::move(content)), path.string(), options);
}

Diagnostic changed_schedule(const std::string& name, const OpenedSchedule& opened) {
  const auto& recipe = *opened.recipe;
  const auto exact = [](SimTime time) { return fmt::format("{} ({} ps)", to_rounded(time), time.count()); };
  return input_error(
      {name, 0, 0},
      fmt::format("this tenex makes another schedule of the recipe's point: it takes {}, the recipe's took {}",
                  exact(opened.time), exact(recipe.time)),
      fmt::format("tenex {} with physics {} wrote the recipe, and this is tenex {} with physics {}{}", recipe.version,
                  physics_of_canonical(recipe.canonical), version(), physics_version,
                  opened.left_out.empty() ? "" : "; for lack of memory: " + opened.left_out),
      "use the version that wrote it, or write a recipe again");
}

}  // namespace tenex
