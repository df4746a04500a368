// The keys of a collective: its kind, size, groups and chunks, and how it occupies links.
#include <algorithm>

#include <fmt/core.h>

#include "design/settings/entry.hpp"
#include "tenex/base/units.hpp"
#include "tenex/files/demand.hpp"
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
constexpr auto matrix = [](auto& point) -> auto& { return point.collective.matrix; };
constexpr auto conditions = [](auto& point) -> auto& { return point.collective.conditions; };
constexpr auto overlap = [](auto& point) -> auto& { return point.collective.overlap; };
constexpr auto piece = [](auto& point) -> auto& { return point.collective.piece; };

constexpr std::string_view kSaidByTheWorkload = "the workload says which collectives it runs, and how large they are";

Result<SettingValue> parse_collective(const Setting&, std::string_view, const Node& node, ValueContext&) {
  const Result<CollectiveKind> kind = parse_collective_kind(node.text(), node.text_place());
  if (!kind) return kind.errors();
  SettingValue value = value_at(node);
  value.data = *kind;
  return value;
}

/// A number of chunks, or "auto".
Result<SettingValue> parse_chunks(const Setting& setting, std::string_view name, const Node& node,
                                  ValueContext& context) {
  if (!node.is(NodeKind::string)) return parse_number(setting, name, node, context);
  if (node.text() != kAutomaticWord)
    return input_error(node.text_place(), fmt::format("\"{}\" is \"{}\"", name, shortened(node.text())),
                       "it is a number, or \"auto\": the best number is chosen",
                       "write a number without quotes, for instance 4");
  SettingValue value = value_at(node);
  value.data = kAutomaticChunks;
  return value;
}

/// A size, or "auto", or "none".
Result<SettingValue> parse_piece(const Setting& setting, std::string_view name, const Node& node,
                                 ValueContext& context) {
  const bool is_word = node.is(NodeKind::string) && (node.text() == kAutomaticWord || node.text() == *setting.fallback);
  if (!is_word) {
    auto size = parse_size(setting, name, node, context);
    if (size && size->as<Bytes>() == bytes(0))
      return input_error(node.text_place(), fmt::format("\"{}\" is \"{}\"", name, shortened(node.text())),
                         "a piece has a byte at least", "write a size such as \"1MB\", or \"auto\"");
    return size;
  }
  SettingValue value = value_at(node);
  value.data = node.text() == kAutomaticWord ? kAutomaticPiece : kNoPiece;
  return value;
}

Result<TrafficMatrix> parse_given_traffic(std::string_view text, const Place& place) {
  return text == "none" ? Result<TrafficMatrix>(TrafficMatrix()) : parse_traffic(text, place);
}
Result<ConditionList> parse_given_conditions(std::string_view text, const Place& place) {
  return text == "none" ? Result<ConditionList>(ConditionList()) : parse_conditions(text, place);
}

/// A text, or the content of a file that it names.
template <auto Parse, auto Read>
Result<SettingValue> parse_text_or_file(const Setting&, std::string_view, const Node& node, ValueContext& context) {
  const bool is_file = node.text().ends_with(".csv") || node.text().ends_with(".toml");
  auto file = is_file ? context.files.read_text(node.text(), node.place()) : Result<NamedFile>(NamedFile{});
  if (!file) return file.errors();
  auto parsed = is_file ? Read(file->content, file->path) : Parse(node.text(), node.text_place());
  if (!parsed) return parsed.errors();
  SettingValue value = value_at(node);
  value.data = *std::move(parsed);
  return value;
}

/// Whether the point, or one of its groups, runs the kind.
template <CollectiveKind Kind>
bool runs(const PointView& view) {
  if (view.collective.kind != CollectiveKind::mixed) return view.collective.kind == Kind;
  return std::ranges::any_of(view.collective.groups.list(), [](const ProcessGroup& each) { return each.kind == Kind; });
}
/// Whether size, chunks and root are the same for all groups.
bool is_common(const PointView& view) { return view.collective.kind != CollectiveKind::mixed; }
bool has_common_chunks(const PointView& view) { return simulates(view) && is_common(view); }
/// `best` chooses the number unless it is given, so a given one stands there, 1 as well.
std::string chunks_line(const PointView& view) {
  const bool chosen = chunks(view) == kAutomaticChunks;
  if (view.point.family == AlgorithmFamily::any && has_common_chunks(view) && !view.trains)
    return chosen ? std::string() : fmt::format("{}", chunks(view));
  return chosen ? std::string(kAutomaticWord) : unless_default<chunks>(view);
}
bool has_common_size(const PointView& view) { return runs_collective(view) && is_common(view); }

/// Where chunks are counted alike everywhere, a piece stands for their number.
bool cuts_by_size(const PointView& view) {
  return runs_collective(view) && (stores_conditions(view.collective.kind) || !is_common(view));
}
std::string piece_line(const PointView& view) {
  if (!cuts_by_size(view) || piece(view) == kNoPiece) return {};
  return piece(view) == kAutomaticPiece ? std::string(kAutomaticWord) : fmt::format("{}", piece(view).count());
}

bool has_root_rank(const PointView& view) { return has_root(view.collective.kind); }
/// Whether a reduction and a gather may overlap. An algorithm without these two refuses `overlap = false`.
bool has_phases(const PointView& view) { return view.collective.kind == CollectiveKind::all_reduce; }

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
std::vector<Setting> collective_settings() {
  return {
      {.key = Key::collective,
       .name = "collective",
       .help = "all_gather, reduce_scatter, all_reduce, broadcast, reduce, gather, scatter, all_to_all, all_to_allv (a "
               "matrix), halo_exchange (along the dimensions of a shape), conditions (a list), or mixed (every group "
               "has its own)",
       .example = "\"all_reduce\"",
       .words = words_to<CollectiveKind::mixed>(),
       .absent = "required",
       .read_by = ReadBy::collectives,
       .reason = kSaidByTheWorkload,
       .column = text_column(),
       .changes = Changes::collective,
       .parse = parse_collective,
       .set = set<collective>,
       .reset = reset<collective>,
       .canonical = text_if<collective, runs_collective>,
       .text = text_if<collective, runs_collective>},
      {.key = Key::size,
       .name = "size",
       .help =
           "S as in nccl-tests: All-Gather's and Gather's output, the input of Reduce-Scatter and of Scatter's root, "
           "All-to-All's send buffer per NPU (S/n for each, itself included; all_to_allv, halo_exchange: of the NPU "
           "that sends most), each condition's bytes, the buffer of the others",
       .example = "\"1GiB\"",
       .counts = Counts::bytes,
       .absent = "required",
       .read_by = ReadBy::collectives,
       .reason = kSaidByTheWorkload,
       .column = integer_column("B"),
       .changes = Changes::size,
       .parse = parse_size,
       .set = set<size>,
       .reset = reset<size>,
       .matters = has_common_size,
       .canonical = text_if<size, has_common_size>,
       .integer = integer_if<size, has_common_size>},
      {.key = Key::chunks,
       .name = "chunks",
       .help =
           "chunks per NPU (Broadcast, Reduce: in all; All-to-All: per pair; conditions: of each), or \"auto\": the "
           "best number up to 512 (its column then has 0, and chosen_chunks the number), which best takes by default",
       .example = "4",
       .written = Written::integer,
       .counts = Counts::numbers,
       .least = 1,
       .most = kMost64,
       .fallback = "1",
       .column = integer_column(),
       .changes = Changes::chunks,
       .parse = parse_chunks,
       .set = set<chunks, std::int64_t>,
       .reset = reset<chunks>,
       .matters = has_common_chunks,
       .canonical = chunks_line,
       .integer = integer_if<chunks, has_common_chunks>},
      {.key = Key::groups,
       .name = "groups",
       .help = "process groups that run at the same time, separated by `;`; after its NPUs a group may have a "
               "collective, a size, \"2 chunks\" and \"root 1\" of its own",
       .example = "\"0-127; 128-255\"",
       .fallback = "all",
       .read_by = ReadBy::collectives,
       .reason = "the parallelization makes the process groups",
       .column = text_column().beside_metric("groups"),
       .changes = Changes::collective,
       .parse = parse_text,
       .set = [](const PointDraft&, const SettingValue&) {},  // the row's checks set the canonical form
       .reset = reset<groups>,
       .canonical = unless_default<groups>,
       .text = text_if<groups, runs_collective>},
      {.key = Key::root,
       .name = "root",
       .help = "rank of the root inside each group (Broadcast, Reduce, Gather, Scatter)",
       .example = "3",
       .written = Written::integer,
       .counts = Counts::numbers,
       .least = 0,
       .most = kMost32,
       .fallback = "0",
       .read_by = ReadBy::collectives,
       .reason = kSaidByCollectiveTime,
       .column = integer_column(),
       .changes = Changes::collective,
       .parse = parse_number,
       .set = set<root, std::int64_t>,
       .reset = reset<root>,
       .matters = has_root_rank,
       .canonical = unless_default<root>,
       .integer = integer_if<root, runs_collective>},
      {.key = Key::matrix,
       .name = "matrix",
       .help = "all_to_allv: an amount from every rank (a row) to every rank, relative to each other, or a .csv file; "
               "the largest row is S",
       .example = "\"0,2,2; 1,0,1; 1,1,0\"",
       .fallback = "none",
       .read_by = ReadBy::collectives,
       .reason = kSaidByTheWorkload,
       .column = text_column(),
       .changes = Changes::collective,
       .parse = parse_text_or_file<parse_given_traffic, read_traffic>,
       .set = set<matrix>,
       .reset = reset<matrix>,
       .matters = runs<CollectiveKind::all_to_allv>,
       .canonical = unless_default<matrix>,
       .text = text_if<matrix, runs_collective>},
      {.key = Key::conditions,
       .name = "conditions",
       .help = "conditions: \"source -> destinations size\" separated by `;`, by ranks, or a .csv or .toml file",
       .example = "\"0 -> 1,2,3 4MiB; 5 -> 6\"",
       .fallback = "none",
       .read_by = ReadBy::collectives,
       .reason = kSaidByTheWorkload,
       .column = text_column(),
       .changes = Changes::collective,
       .parse = parse_text_or_file<parse_given_conditions, read_conditions>,
       .set = set<conditions>,
       .reset = reset<conditions>,
       .matters = runs<CollectiveKind::conditions>,
       .canonical = unless_default<conditions>,
       .text = text_if<conditions, runs_collective>},
      {.key = Key::piece,
       .name = "piece",
       .help = "in place of chunks: the largest chunk. Each condition (all_to_allv, halo_exchange, conditions) is cut "
               "to as few equal chunks as that takes, and so is each NPU's part of the other collectives. \"auto\": a "
               "512th of what the busiest source sends (its column then has 0)",
       .example = "\"1MB\"",
       .counts = Counts::bytes,
       .fallback = "none",
       .read_by = ReadBy::collectives,
       .reason = "the number of chunks says how its collectives are cut",
       .column = integer_column("B"),
       .changes = Changes::chunks,
       .parse = parse_piece,
       .set = set<piece>,
       .reset = reset<piece>,
       .matters = cuts_by_size,
       .canonical = piece_line,
       .integer = integer_if<piece, cuts_by_size>},
      {.key = Key::occupancy,
       .name = "occupancy",
       .help = "how long a send occupies its link: serialization (beta*m) or transfer (alpha + beta*m)",
       .example = "\"transfer\"",
       .words = words_to<Occupancy::transfer>(),
       .fallback = "serialization",
       .column = text_column(),
       .changes = Changes::synthesis | Changes::simulation | Changes::bound,
       .parse = parse_choice<Occupancy>,
       .set = set<occupancy>,
       .reset = reset<occupancy>,
       .matters = uses_links,
       .canonical = unless_default<occupancy>,
       .text = text_if<occupancy, uses_links>},
      {.key = Key::overlap,
       .name = "overlap",
       .help = "All-Reduce: true or false, whether a chunk's gather may begin before the whole reduction ends",
       .example = "false",
       .written = Written::boolean,
       .fallback = "true",
       .read_by = ReadBy::collectives,
       .reason = kSaidByCollectiveTime,
       .column = integer_column(),
       .changes = Changes::simulation | Changes::bound,
       .parse = parse_flag,
       .set = set<overlap>,
       .reset = reset<overlap>,
       .matters = has_phases,
       .canonical = unless_default<overlap>,
       .integer = integer_if<overlap, runs_collective>},
  };
}

}  // namespace tenex
