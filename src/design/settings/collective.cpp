// The keys of a collective: its kind, size, groups and chunks, and how it occupies links.
#include <fmt/core.h>

#include "design/settings/entry.hpp"
#include "tenex/spec/table_reader.hpp"

namespace tenex {
namespace {

using namespace entry;  // NOLINT: this file is entries

constexpr auto collective = [](auto& point) -> auto& { return point.collective.kind; };
constexpr auto size = [](auto& point) -> auto& { return point.collective.size; };
constexpr auto chunks = [](auto& point) -> auto& { return point.point.chunks; };
constexpr auto groups = [](auto& point) -> auto& { return point.collective.groups; };
constexpr auto root = [](auto& point) -> auto& { return point.collective.root; };
constexpr auto occupancy = [](auto& point) -> auto& { return point.point.occupancy; };
constexpr auto overlap = [](auto& point) -> auto& { return point.collective.overlap; };

constexpr std::string_view kSaidByTheWorkload = "the workload says which collectives it runs, and how large they are";
constexpr std::string_view kSaidByCollectiveTime = "the key collective_time says how its collectives are timed";

Result<SettingValue> parse_collective(const Setting&, std::string_view, const Node& node, ValueContext&) {
  if (const LaterWord* later = find_later_collective(node.text())) {
    return unsupported_error(node.place(),
                             fmt::format("collective \"{}\" is not supported by this version", later->name),
                             std::string(later->purpose), fmt::format("choose from {}", join(collective_names())));
  }
  const Result<CollectiveKind> kind = parse_collective_kind(node.text(), node.text_place());
  if (!kind) return kind.errors();
  SettingValue value = value_at(node);
  value.data = *kind;
  return value;
}

bool has_root_rank(const PointView& view) { return has_root(view.collective.kind); }
bool is_all_reduce(const PointView& view) { return view.collective.kind == CollectiveKind::all_reduce; }

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
std::vector<Setting> collective_settings() {
  return {
      {.key = Key::collective,
       .name = "collective",
       .help = "all_gather, reduce_scatter, all_reduce, broadcast, reduce or all_to_all",
       .example = "\"all_reduce\"",
       .words = words_to<CollectiveKind::all_to_all>(),
       .absent = "required",
       .read_by = ReadBy::collectives,
       .reason = kSaidByTheWorkload,
       .column = text_column(),
       .parse = parse_collective,
       .set = set<collective>,
       .reset = reset<collective>,
       .canonical = text_if<collective, runs_collective>,
       .text = text_if<collective, runs_collective>},
      {.key = Key::size,
       .name = "size",
       .help = "S as in nccl-tests: All-Gather's output, Reduce-Scatter's input, All-to-All's send buffer per NPU (S/n "
               "for each, itself included), the buffer of the others",
       .example = "\"1GiB\"",
       .counts = Counts::bytes,
       .absent = "required",
       .read_by = ReadBy::collectives,
       .reason = kSaidByTheWorkload,
       .column = integer_column("B"),
       .parse = parse_size,
       .set = set<size>,
       .reset = reset<size>,
       .canonical = text_if<size, runs_collective>,
       .integer = integer_if<size, runs_collective>},
      {.key = Key::chunks,
       .name = "chunks",
       .help = "chunks per NPU (Broadcast, Reduce: in all; All-to-All: per pair)",
       .example = "4",
       .written = Written::integer,
       .counts = Counts::numbers,
       .least = 1,
       .most = kMost64,
       .fallback = "1",
       .column = integer_column(),
       .parse = parse_number,
       .set = set<chunks, std::int64_t>,
       .reset = reset<chunks>,
       .matters = simulates,
       .canonical = unless_default<chunks>,
       .integer = integer_if<chunks, simulates>},
      {.key = Key::groups,
       .name = "groups",
       .help = "process groups that run at the same time, separated by `;`",
       .example = "\"0-127; 128-255\"",
       .fallback = "all",
       .read_by = ReadBy::collectives,
       .reason = "the parallelization makes the process groups",
       .column = text_column().beside_metric("groups"),
       .parse = parse_text,
       .set = [](const PointDraft&, const SettingValue&) {},  // the row's checks set the canonical form
       .reset = reset<groups>,
       .canonical = unless_default<groups>,
       .text = text_if<groups, runs_collective>},
      {.key = Key::root,
       .name = "root",
       .help = "rank of the root inside each group (Broadcast, Reduce)",
       .example = "3",
       .written = Written::integer,
       .counts = Counts::numbers,
       .least = 0,
       .most = kMost32,
       .fallback = "0",
       .read_by = ReadBy::collectives,
       .reason = kSaidByCollectiveTime,
       .column = integer_column(),
       .parse = parse_number,
       .set = set<root, std::int64_t>,
       .reset = reset<root>,
       .matters = has_root_rank,
       .canonical = unless_default<root>,
       .integer = integer_if<root, runs_collective>},
      {.key = Key::occupancy,
       .name = "occupancy",
       .help = "how long a send occupies its link: serialization (beta*m) or transfer (alpha + beta*m)",
       .example = "\"transfer\"",
       .words = words_to<Occupancy::transfer>(),
       .fallback = "serialization",
       .column = text_column(),
       .parse = parse_choice<Occupancy>,
       .set = set<occupancy>,
       .reset = reset<occupancy>,
       .matters = simulates,
       .canonical = unless_default<occupancy>,
       .text = text_if<occupancy, simulates>},
      {.key = Key::overlap,
       .name = "overlap",
       .help = "All-Reduce: true or false, whether a chunk's gather may begin before the whole reduction ends",
       .example = "false",
       .written = Written::boolean,
       .fallback = "true",
       .read_by = ReadBy::collectives,
       .reason = kSaidByCollectiveTime,
       .column = integer_column(),
       .parse = parse_flag,
       .set = set<overlap>,
       .reset = reset<overlap>,
       .matters = is_all_reduce,
       .canonical = unless_default<overlap>,
       .integer = integer_if<overlap, runs_collective>},
  };
}

}  // namespace tenex
