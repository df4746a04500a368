// The keys of a collective: what is communicated, by whom, in which pieces, and how links are taken for it.
#include <fmt/core.h>

#include "design/settings/entry.hpp"
#include "tenex/spec/table_reader.hpp"

namespace tenex {
namespace {

using namespace entry;  // NOLINT: this file is entries

constexpr auto collective = [](auto& point) -> auto& { return point.point.collective; };
constexpr auto size = [](auto& point) -> auto& { return point.point.size; };
constexpr auto chunks = [](auto& point) -> auto& { return point.point.chunks; };
constexpr auto groups = [](auto& point) -> auto& { return point.point.groups; };
constexpr auto root = [](auto& point) -> auto& { return point.point.root; };
constexpr auto occupancy = [](auto& point) -> auto& { return point.point.occupancy; };
constexpr auto overlap = [](auto& point) -> auto& { return point.point.overlap; };

constexpr std::string_view kSaidByTheWorkload = "the workload says which collectives it runs, and how large they are";
constexpr std::string_view kSaidByCollectiveTime = "the key collective_time says how its collectives are timed";
constexpr std::string_view kOccupancies[] = {"serialization", "transfer"};

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

Result<SettingValue> parse_occupancy(const Setting& setting, std::string_view name, const Node& node,
                                     ValueContext& context) {
  Result<SettingValue> value = parse_word(setting, name, node, context);
  if (value) value->data = node.text() == kOccupancies[0] ? Occupancy::serialization : Occupancy::transfer;
  return value;
}

bool has_root_rank(const PointView& view) { return has_root(view.point.collective); }
bool is_all_reduce(const PointView& view) { return view.point.collective == CollectiveKind::all_reduce; }

}  // namespace

std::vector<Setting> collective_settings() {
  return {
      {.key = Key::collective,
       .name = "collective",
       .help = "all_gather, reduce_scatter, all_reduce, broadcast, reduce or all_to_all",
       .example = "\"all_reduce\"",
       .absent = "required",
       .read_by = ReadBy::collectives,
       .reason = kSaidByTheWorkload,
       .column = text_column(),
       .parse = parse_collective,
       .set = set<collective, CollectiveKind>,
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
       .set = set<size, Bytes>,
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
       .help = "process groups at work together, `;` between them",
       .example = "\"0-127; 128-255\"",
       .fallback = "all",
       .read_by = ReadBy::collectives,
       .reason = "the parallelization makes the process groups",
       .column = text_column().beside_metric("groups"),
       .parse = parse_text,
       .set = [](const PointDraft&, const SettingValue&) {},  // the row's checks make their canonical form
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
       .help = "how long a send takes its link: serialization (beta*m) or transfer (alpha + beta*m)",
       .example = "\"transfer\"",
       .words = kOccupancies,
       .fallback = kOccupancies[0],
       .column = text_column(),
       .parse = parse_occupancy,
       .set = set<occupancy, Occupancy>,
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
       .set = set<overlap, bool>,
       .reset = reset<overlap>,
       .matters = is_all_reduce,
       .canonical = unless_default<overlap>,
       .integer = integer_if<overlap, runs_collective>},
  };
}

}  // namespace tenex
