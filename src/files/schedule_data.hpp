// The contents of a schedule file as plain data, for the HDF5 and the JSON form.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/files/column_file.hpp"
#include "tenex/files/schedule_file.hpp"

namespace tenex {

/// Schemas 1 and 2, of versions before 0.1.0, are refused.
inline constexpr std::int64_t kScheduleSchema = 3;
inline constexpr const char* kScheduleKind = "tenex schedule";
/// The values of `content`.
inline constexpr const char* kListContent = "list";
inline constexpr const char* kRecipeContent = "recipe";

using ScheduleContent = std::variant<ScheduleFile, ScheduleRecipe>;

/// An error (input) about a file of an older schema, whose sends are stored as `stored` says.
[[nodiscard]] Diagnostic too_old(const std::string& name, std::int64_t schema, const std::string& stored);

/// The form of a file, from its name. Errors (input): another extension.
enum class ScheduleForm : std::uint8_t { hdf5, json };
[[nodiscard]] Result<ScheduleForm> schedule_form_of(const std::filesystem::path& path);

/// Most sends in a JSON file.
inline constexpr std::uint64_t kMostJsonSends = 1'000'000;
/// An input error; `sends` is the number of sends as text.
[[nodiscard]] Diagnostic too_large_for_json(const std::filesystem::path& path, const std::string& sends);

/// An error (input) about content that is neither a list nor a recipe.
[[nodiscard]] Diagnostic unknown_content(const std::string& name, const std::string& content);

/// A hash as files have it: 16 hexadecimal digits.
[[nodiscard]] std::string hash_text(std::uint64_t hash);
/// What a recipe states as text and integers.
struct RecipeNumbers {
  std::string hash;
  std::int64_t sends = 0;
  std::int64_t time_ps = 0;
};
/// The recipe with these numbers. Errors (input): they are none, or it has no text.
[[nodiscard]] Result<ScheduleContent> complete_recipe(ScheduleRecipe recipe, const RecipeNumbers& numbers,
                                                      const std::string& name);

/// Everything but the sends.
struct ScheduleData {
  std::string occupancy;
  std::string algorithm;
  std::string canonical;
  std::string part;
  std::int64_t total_chunks = 0;  ///< of all process groups: written for other readers

  std::int64_t npus = 0;
  std::string shape;                                    ///< empty: no intact shape
  std::string unwound_shape;                            ///< empty: not a shape whose switches were unwound
  std::int64_t unwound_degree = 0;                      ///< of that shape
  std::vector<std::int8_t> switch_copy, switch_reduce;  ///< per switch: 0 or 1
  /// Per switch: 0 stores and forwards, 1 cuts through, 2 has virtual cut-through; empty: all store and forward.
  std::vector<std::int8_t> switch_cut_through;
  std::vector<std::int64_t> switch_buffer;  ///< per switch: chunks, -1 for any number; as switch_cut_through
  std::vector<std::uint32_t> wire_links;    ///< per wire: how many physical links it has; empty: no wires
  std::vector<std::uint32_t> wire_link;     ///< the physical links, wire by wire
  std::vector<std::int64_t> class_alpha_ps, class_bandwidth;  ///< per link class
  std::vector<std::int64_t> class_overhead_ps;                ///< per link class; empty: none has one
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

/// Describes the chosen sends' schedule. With `with_links` false the columns of links stay empty: a large topology's
/// are written piece by piece.
[[nodiscard]] ScheduleData describe_schedule(const ScheduleFile& file, const SendChoice& choice, bool with_links);

/// Builds topology and collective, which check themselves, with an empty schedule. The verifier checks the sends.
/// Errors (input), each at `name`.
[[nodiscard]] Result<ScheduleFile> restore_frame(ScheduleData data, const std::string& name);

/// Checks that no time overflows, which would make every later check meaningless: `sends_of_busiest` sends of one link,
/// and as many hops as there are vertices, must end within the range. Errors (input), at `name`.
[[nodiscard]] Status check_times(const ScheduleFile& frame, const Payloads& payloads, std::uint64_t sends_of_busiest,
                                 const std::string& name);

[[nodiscard]] Status write_schedule_hdf5(const std::filesystem::path& path, const ScheduleFile& file,
                                         const WriteOptions& options);
[[nodiscard]] Status write_recipe_hdf5(const std::filesystem::path& path, const ScheduleRecipe& recipe);
[[nodiscard]] Result<ScheduleContent> read_schedule_hdf5(const std::filesystem::path& path, const ReadOptions& options);
/// The same from columns of any source; `name` stands for the file in messages.
[[nodiscard]] Result<ScheduleContent> read_schedule_columns(const ColumnFileReader& reader, const std::string& name);
[[nodiscard]] Status write_schedule_json(const std::filesystem::path& path, const ScheduleFile& file,
                                         const SendChoice& choice);
[[nodiscard]] Status write_recipe_json(const std::filesystem::path& path, const ScheduleRecipe& recipe);
[[nodiscard]] Result<ScheduleContent> read_schedule_json(const std::filesystem::path& path);

}  // namespace tenex
