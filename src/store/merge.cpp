// Writes the merged result one column at a time, gathered from the shards into study order.
//
// Layout and meaning of every variable: include/tenex/store/result_format.md. The file depends only on the study and
// the rows, so merging twice gives the same bytes. Only the columns marked measured and the group /runs depend on which
// rank evaluated which point when.
#include <algorithm>
#include <bit>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "store/folder_layout.hpp"
#include "store/gathered_columns.hpp"
#include "store/packed_columns.hpp"
#include "store/pareto_column.hpp"
#include "store/result_columns.hpp"
#include "store/row_selection.hpp"
#include "store/setting_columns.hpp"
#include "store/shard.hpp"
#include "store/shard_set.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/files/column_file.hpp"
#include "tenex/store/store.hpp"

namespace tenex {
namespace {

using store::begin_group;
using store::describe_text;
using store::kPoint;
using store::Layout;
using store::offsets_of;
using store::Selection;
using store::ShardSet;
using store::write_integers;
using store::write_text;

bool same_bits(std::int64_t a, std::int64_t b) { return a == b; }
bool same_bits(std::int8_t a, std::int8_t b) { return a == b; }
bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

using Planned = store::PlannedColumn;

Planned planned(const MetricColumn& column) {
  const auto type = column.kind == MetricColumn::Kind::real    ? Planned::Type::real
                    : column.kind == MetricColumn::Kind::flags ? Planned::Type::flags
                    : column.kind == MetricColumn::Kind::text  ? Planned::Type::text
                    : column.kind == MetricColumn::Kind::list  ? Planned::Type::list
                                                               : Planned::Type::integer;
  return {store::columns::metric(column.name), type};
}

/// The columns that Merger::write() reads from each shard, in its order. Other columns can be read too, but take
/// longer.
std::vector<Planned> planned_columns(const Study& study) {
  namespace names = store::columns;
  std::vector<Planned> plan;
  for (const auto& column : metric_columns())
    if (study.trains || !column.training) plan.push_back(planned(column));
  if (!study.search.pareto.empty()) plan.push_back({names::metric("status"), Planned::Type::flags});
  for (const auto& objective : study.search.pareto)
    plan.push_back(planned(*std::ranges::find(metric_columns(), objective.metric, &MetricColumn::name)));
  const auto ragged = [&](const char* count, std::initializer_list<const char*> parts) {
    plan.push_back({count});
    for (const char* part : parts) {
      plan.push_back({count});
      plan.push_back({part, Planned::Type::integer, true});
    }
  };
  ragged(names::kGroupCount, {names::kGroupTime});
  ragged(names::kLinkCount, {names::kLinkBytes, names::kLinkBusy});
  ragged(names::kBinCount, {names::kBinBusy, names::kBinWidth});
  ragged(names::kArrivalCount, {names::kArrivalTime, names::kArrivalNpu, names::kArrivalChunk});
  plan.push_back({names::kFinished});
  return plan;
}

/// Reads the columns of the selected rows and writes the result.
class Merger {
 public:
  Merger(const Layout& layout, const Study& study, const Selection& selection)
      : study_(study), selection_(selection), shards_(layout, selection, planned_columns(study)) {}

  [[nodiscard]] Status write(ColumnFileWriter& file);

  /// Gathers a column of numbers. `compared`: repeated rows must agree bitwise. `absent`: the value for rows of shards
  /// that lack the column because no point of their study trained; without it the column must be there.
  template <class T>
  Result<std::vector<T>> gather(const std::string& path, bool compared, std::optional<T> absent = std::nullopt) {
    std::vector<T> values(rows(), absent.value_or(T()));
    std::vector<std::pair<std::uint32_t, T>> repeated;
    for (std::size_t s = 0; s < selection_.shards.size(); ++s) {
      const auto& shard = selection_.shards[s];
      const auto column = shards_.take<std::vector<T>>(s, path);
      if (!column) return column.errors();
      if (absent && !*column) continue;
      if (!*column || (*column)->size() != shard.rows) return lacks(shard, path);
      for (const auto& [row, position] : shard.chosen) values[position] = (**column)[row];
      if (compared)
        for (const auto& [row, position] : shard.repeated) repeated.emplace_back(position, (**column)[row]);
    }
    for (const auto& [position, value] : repeated)
      if (!same_bits(values[position], value)) return differs(position, path.substr(path.rfind('/') + 1));
    return values;
  }

  /// The same for texts and lists; absent ones are empty.
  Result<store::PackedTexts> gather_text(const std::string& path, bool compared, bool absent) {
    return gather_packed<store::PackedTexts, TextColumn>(path, compared, absent);
  }
  Result<store::PackedLists> gather_lists(const std::string& path, bool compared, bool absent) {
    return gather_packed<store::PackedLists, ListColumn>(path, compared, absent);
  }
  [[nodiscard]] std::size_t dimensions() const { return dimensions_; }

 private:
  template <class Packed, class Column>
  Result<Packed> gather_packed(const std::string& path, bool compared, bool absent) {
    Packed values(rows());
    std::vector<std::pair<std::uint32_t, typename Packed::Value>> repeated;
    for (std::size_t s = 0; s < selection_.shards.size(); ++s) {
      const auto& shard = selection_.shards[s];
      const auto column = shards_.take<Column>(s, path);
      if (!column) return column.errors();
      if (absent && !*column) {
        for (const auto& [row, position] : shard.chosen) values.set(position, {});
        continue;
      }
      if (!*column || (*column)->rows() != shard.rows) return lacks(shard, path);
      for (const auto& [row, position] : shard.chosen) values.set(position, (*column)->at(row));
      if (!compared) continue;
      for (const auto& [row, position] : shard.repeated) {
        const auto cell = (*column)->at(row);
        repeated.emplace_back(position, typename Packed::Value(cell.begin(), cell.end()));
      }
    }
    for (const auto& [position, value] : repeated)
      if (!std::ranges::equal(values.at(position), value)) return differs(position, path.substr(path.rfind('/') + 1));
    return values;
  }

  [[nodiscard]] std::size_t rows() const { return selection_.points.size(); }
  [[nodiscard]] DesignPoint point(std::size_t position) const { return study_.points[selection_.points[position]]; }
  [[nodiscard]] const Digest& key(std::size_t position) const { return study_.points.key(selection_.points[position]); }

  static Diagnostic lacks(const store::ShardRows& shard, std::string_view column) {
    return environment_error(fmt::format("the shard \"{}\" is damaged", shard.commit.shard),
                             fmt::format("the column \"{}\" is missing or has another length", column));
  }

  Diagnostic differs(std::size_t position, std::string_view column) const {
    return environment_error(
        fmt::format("two rows of the point {} differ in the column \"{}\"", to_string(key(position)), column),
        "the same point must give the same row for any ranks and threads: tenex is not deterministic here",
        fmt::format("please report this with the point:\n{}", point(position).canonical));
  }

  /// Gathers a ragged column: `counts` are the selected rows' numbers of entries, `offsets` their first positions in
  /// the result. A repeated row is compared where both rows have entries (a later run may have asked for outputs that
  /// an earlier one did not).
  Result<std::vector<std::int64_t>> gather_ragged(const char* count_path, const char* path,
                                                  const std::vector<std::int64_t>& offsets) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(offsets.back()));
    std::vector<std::pair<std::uint32_t, std::vector<std::int64_t>>> repeated;
    for (std::size_t s = 0; s < selection_.shards.size(); ++s) {
      const auto& shard = selection_.shards[s];
      const auto counts = shards_.take<std::vector<std::int64_t>>(s, count_path);
      const auto column = shards_.take<std::vector<std::int64_t>>(s, path);
      if (!counts || !column) return counts ? column.errors() : counts.errors();
      if (!*counts || (*counts)->size() != shard.rows) return lacks(shard, count_path);
      if (!*column) return lacks(shard, path);
      std::vector<std::size_t> begin(shard.rows + 1, 0);
      for (std::size_t row = 0; row < shard.rows; ++row)
        begin[row + 1] = begin[row] + static_cast<std::size_t>(std::max<std::int64_t>(0, (**counts)[row]));
      if (begin.back() != (*column)->size())
        return environment_error(fmt::format("the shard \"{}\" is damaged", shard.commit.shard),
                                 "its ragged columns do not fit together");
      const auto entries = [&](std::uint32_t row) {
        return std::span(**column).subspan(begin[row], begin[row + 1] - begin[row]);
      };
      for (const auto& [row, position] : shard.chosen)
        std::ranges::copy(entries(row), values.begin() + offsets[position]);
      for (const auto& [row, position] : shard.repeated)
        if (const auto part = entries(row); !part.empty() && offsets[position + 1] > offsets[position])
          repeated.emplace_back(position, std::vector(part.begin(), part.end()));
    }
    for (const auto& [position, value] : repeated) {
      const auto first = static_cast<std::size_t>(offsets[position]);
      const auto last = static_cast<std::size_t>(offsets[position + 1]);
      if (!std::ranges::equal(std::span(values).subspan(first, last - first), value))
        return differs(position, std::string_view(path).substr(1));
    }
    return values;
  }

  /// Whether the result has this setting or metric: those of training points only where the study has such points.
  template <class Column>
  [[nodiscard]] bool has_column(const Column& column) const {
    return study_.trains || !column.training;
  }

  void write_attributes(ColumnFileWriter& file) const;
  void write_settings(ColumnFileWriter& file);
  [[nodiscard]] Status write_pareto(ColumnFileWriter& file);
  [[nodiscard]] Status write_groups(ColumnFileWriter& file);
  [[nodiscard]] Status write_links(ColumnFileWriter& file);
  [[nodiscard]] Status write_utilization(ColumnFileWriter& file);
  [[nodiscard]] Status write_arrivals(ColumnFileWriter& file);
  [[nodiscard]] Status write_link_ends(ColumnFileWriter& file, const std::vector<std::int64_t>& counts);
  [[nodiscard]] Status write_runs(ColumnFileWriter& file);

  /// For each entry of a ragged column: the point that it belongs to, or its number within the point.
  std::vector<std::int64_t> entry_points(const std::vector<std::int64_t>& counts) const {
    std::vector<std::int64_t> points;
    for (std::size_t i = 0; i < counts.size(); ++i)
      points.insert(points.end(), static_cast<std::size_t>(counts[i]), static_cast<std::int64_t>(selection_.points[i]));
    return points;
  }
  static std::vector<std::int64_t> entry_numbers(const std::vector<std::int64_t>& counts) {
    std::vector<std::int64_t> numbers;
    for (const auto count : counts)
      for (std::int64_t n = 0; n < count; ++n) numbers.push_back(n);
    return numbers;
  }

  const Study& study_;
  const Selection& selection_;
  ShardSet shards_;
  std::size_t dimensions_ = 1;  ///< of the shape that has the most
};

void Merger::write_attributes(ColumnFileWriter& file) const {
  std::set<std::string> versions;
  std::set<std::string> revisions;
  std::set<std::string> hosts;
  std::int64_t dirty = 0;
  for (const auto& shard : selection_.shards) {
    versions.insert(shard.origin.version);
    revisions.insert(shard.origin.git_revision);
    hosts.insert(fmt::format("{} ({})", shard.origin.host, shard.origin.host_facts));
    dirty = std::max(dirty, shard.origin.git_dirty);
  }
  std::string coordinates;
  for (const auto& setting : setting_columns())
    if (has_column(setting)) coordinates += std::string(setting.name) + " ";
  file.set_attribute("/", "Conventions", "CF-1.8");
  file.set_attribute("/", "kind", "tenex result");
  file.set_attribute("/", "schema", store::kSchema);
  file.set_attribute("/", "physics", physics_version);
  file.set_attribute("/", "title", study_.name);
  file.set_attribute("/", "study", study_.text);
  file.set_attribute("/", "study_digest", to_string(study_.digest));
  file.set_attribute("/", "study_points", static_cast<std::int64_t>(study_.points.size()));
  file.set_attribute("/", "version", fmt::format("{}", fmt::join(versions, ", ")));
  file.set_attribute("/", "git_revision", fmt::format("{}", fmt::join(revisions, ", ")));
  file.set_attribute("/", "git_dirty", dirty);
  file.set_attribute("/", "hosts", fmt::format("{}", fmt::join(hosts, "; ")));
  file.set_attribute("/", "coordinates", coordinates + "seed");
}

/// Points are built when they are asked for, so one pass visits them: it writes the longest column and gathers the
/// others.
void Merger::write_settings(ColumnFileWriter& file) {
  store::SettingColumns columns(rows(), study_.trains);
  file.write_text("/canonical", std::max<std::size_t>(1, study_.points.longest_canonical()), rows(),
                  [&](std::size_t first, TextColumn& part) {
                    for (std::size_t i = 0; i < part.rows(); ++i) {
                      const DesignPoint p = point(first + i);
                      part.set(i, p.canonical);
                      columns.set(first + i, p);
                    }
                  });
  describe_text(file, "/canonical", "the point: sorted name=value lines in integer SI units");
  dimensions_ = columns.dimensions();
  store::begin_dimensions(file, dimensions_);
  for (const auto& column : columns.columns())
    std::visit(
        [&](const auto& values) {
          using T = std::remove_cvref_t<decltype(values)>;
          if constexpr (std::is_same_v<T, store::PackedTexts>)
            store::write_setting(file, column.setting, values);
          else if constexpr (std::is_same_v<T, store::PackedLists>)
            store::write_setting(file, column.setting, values.unpacked(dimensions_));
          else {
            const auto numbers = values.unpacked();
            store::write_setting(file, column.setting, std::span(numbers));
          }
        },
        column.values);
  write_integers(file, "/seed", columns.seeds().unpacked(), "",
                 "seed of the point (a two's complement reading of 64 bits)");
  constexpr std::size_t kKeyWidth = 2 * sizeof(Digest);
  file.write_text("/key", kKeyWidth, rows(), [&](std::size_t first, TextColumn& part) {
    for (std::size_t i = 0; i < part.rows(); ++i) part.set(i, to_string(key(first + i)));
  });
  describe_text(file, "/key", "XXH3-128 of the canonical text");
}

Status Merger::write_pareto(ColumnFileWriter& file) {
  if (study_.search.pareto.empty()) return success();
  const store::Front front{study_.search.pareto, study_.search.per};
  const auto status = gather<std::int8_t>(store::columns::metric("status"), false);
  if (!status) return status.errors();
  const auto objectives = store::gather_objectives(*this, front, store::columns::metric);
  if (!objectives) return objectives.errors();
  const auto competition = [&](std::size_t row) { return competition_of(study_.search, point(row)); };
  store::write_front(file, front, store::pareto_column(front, competition, *status, *objectives));
  return success();
}

Status Merger::write_groups(ColumnFileWriter& file) {
  const auto counts = gather<std::int64_t>(store::columns::kGroupCount, false);
  if (!counts) return counts.errors();
  const auto offsets = offsets_of(*counts);
  const auto times = gather_ragged(store::columns::kGroupCount, store::columns::kGroupTime, offsets);
  if (!times) return times.errors();
  write_integers(file, "/group_offset", {offsets.begin(), offsets.end() - 1}, "",
                 "first entry of the point in /groups");
  write_integers(file, "/group_count", *counts, "", "entries of the point in /groups");
  const auto entry = begin_group(file, "/groups", times->size());
  write_integers(file, "/groups/point", entry_points(*counts), "", "index of the point in the study", entry);
  write_integers(file, "/groups/group", entry_numbers(*counts), "", "process group", entry);
  write_integers(file, "/groups/time_ps", *times, "ps", "last useful arrival of the process group", entry);
  return success();
}

Status Merger::write_links(ColumnFileWriter& file) {
  const auto counts = gather<std::int64_t>(store::columns::kLinkCount, false);
  if (!counts) return counts.errors();
  const auto offsets = offsets_of(*counts);
  write_integers(file, "/link_offset", {offsets.begin(), offsets.end() - 1}, "", "first entry of the point in /links");
  write_integers(file, "/link_count", *counts, "", "entries of the point in /links");
  const auto entry = begin_group(file, "/links", static_cast<std::size_t>(offsets.back()));
  write_integers(file, "/links/point", entry_points(*counts), "", "index of the point in the study", entry);
  write_integers(file, "/links/link", entry_numbers(*counts), "", "link of the point's topology", entry);
  if (auto status = write_link_ends(file, *counts); !status) return status;
  const auto bytes = gather_ragged(store::columns::kLinkCount, store::columns::kLinkBytes, offsets);
  if (!bytes) return bytes.errors();
  write_integers(file, "/links/bytes", *bytes, "B", "bytes that the link carried", entry);
  const auto busy = gather_ragged(store::columns::kLinkCount, store::columns::kLinkBusy, offsets);
  if (!busy) return busy.errors();
  write_integers(file, "/links/busy_ps", *busy, "ps", "how long the link was busy", entry);
  return success();
}

/// Source and destination of links are a property of the point, so shards do not hold them.
Status Merger::write_link_ends(ColumnFileWriter& file, const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> sources;
  std::vector<std::int64_t> targets;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const auto topology = build_point_topology(point(i));
    if (!topology) return topology.errors();
    if (topology->links() != static_cast<std::size_t>(counts[i]))
      return environment_error(fmt::format("the row of the point {} has {} links", to_string(key(i)), counts[i]),
                               fmt::format("its topology has {}", topology->links()));
    for (std::size_t link = 0; link < topology->links(); ++link) {
      sources.push_back(topology->source(LinkId::at(link)).value());
      targets.push_back(topology->target(LinkId::at(link)).value());
    }
  }
  write_integers(file, "/links/source", sources, "", "vertex that the link leaves", "/links/entry");
  write_integers(file, "/links/destination", targets, "", "vertex that the link enters", "/links/entry");
  return success();
}

Status Merger::write_utilization(ColumnFileWriter& file) {
  const auto counts = gather<std::int64_t>(store::columns::kBinCount, false);
  if (!counts) return counts.errors();
  const auto offsets = offsets_of(*counts);
  const auto busy = gather_ragged(store::columns::kBinCount, store::columns::kBinBusy, offsets);
  if (!busy) return busy.errors();
  const auto width = gather_ragged(store::columns::kBinCount, store::columns::kBinWidth, offsets);
  if (!width) return width.errors();
  write_integers(file, "/bin_offset", {offsets.begin(), offsets.end() - 1}, "",
                 "first entry of the point in /utilization");
  write_integers(file, "/bin_count", *counts, "", "entries of the point in /utilization");
  const auto entry = begin_group(file, "/utilization", busy->size());
  write_integers(file, "/utilization/point", entry_points(*counts), "", "index of the point in the study", entry);
  write_integers(file, "/utilization/bin", entry_numbers(*counts), "", "bin of time, the first from 0", entry);
  write_integers(file, "/utilization/width_ps", *width, "ps", "width of the bin", entry);
  write_integers(file, "/utilization/busy_ps", *busy, "ps", "busy time in the bin, summed over all links", entry);
  return success();
}

Status Merger::write_arrivals(ColumnFileWriter& file) {
  using Column = std::tuple<const char*, const char*, const char*, const char*>;
  const auto counts = gather<std::int64_t>(store::columns::kArrivalCount, false);
  if (!counts) return counts.errors();
  const auto offsets = offsets_of(*counts);
  write_integers(file, "/arrival_offset", {offsets.begin(), offsets.end() - 1}, "",
                 "first entry of the point in /arrivals");
  write_integers(file, "/arrival_count", *counts, "", "entries of the point in /arrivals");
  const auto entry = begin_group(file, "/arrivals", static_cast<std::size_t>(offsets.back()));
  write_integers(file, "/arrivals/point", entry_points(*counts), "", "index of the point in the study", entry);
  for (const auto& [source, path, units, meaning] :
       {Column{store::columns::kArrivalTime, "/arrivals/time_ps", "ps", "when the chunk was unpacked"},
        Column{store::columns::kArrivalNpu, "/arrivals/npu", "", "where"},
        Column{store::columns::kArrivalChunk, "/arrivals/chunk", "",
               "the chunk; a message of several has an entry for each"}}) {
    const auto values = gather_ragged(store::columns::kArrivalCount, source, offsets);
    if (!values) return values.errors();
    write_integers(file, path, *values, units, meaning, entry);
  }
  return success();
}

Status Merger::write_runs(ColumnFileWriter& file) {
  const auto finished = gather<std::int64_t>(store::columns::kFinished, false);
  if (!finished) return finished.errors();
  std::vector<std::int64_t> ranks(rows());
  std::vector<std::int64_t> incarnations(rows());
  store::PackedTexts hosts(rows());
  for (const auto& shard : selection_.shards)
    for (const auto& [row, position] : shard.chosen) {
      ranks[position] = shard.origin.rank;
      incarnations[position] = shard.origin.incarnation;
      hosts.set(position, shard.origin.host);
    }
  const auto entry = begin_group(file, "/runs", rows());
  const std::vector<std::int64_t> points(selection_.points.begin(), selection_.points.end());
  write_integers(file, "/runs/point", points, "", "index of the point in the study", entry);
  write_integers(file, "/runs/rank", ranks, "", "rank that evaluated the point", entry);
  write_integers(file, "/runs/incarnation", incarnations, "", "run of the folder, counted from 1", entry);
  write_integers(file, "/runs/finished_unix_ms", *finished, "", "milliseconds since 1970-01-01 UTC", entry);
  write_text(file, "/runs/host", hosts, "host that evaluated the point", entry);
  return success();
}

Status Merger::write(ColumnFileWriter& file) {
  write_attributes(file);
  const std::vector<std::int64_t> points(selection_.points.begin(), selection_.points.end());
  file.write(kPoint, std::span<const std::int64_t>(points));
  file.make_dimension(kPoint, "point");
  file.set_attribute(kPoint, "long_name", "index in the study");
  write_settings(file);
  for (const auto& column : metric_columns()) {
    if (!has_column(column)) continue;
    if (auto status = store::gather_metric(file, *this, column, store::columns::metric(column.name)); !status)
      return status;
  }
  if (auto status = write_pareto(file); !status) return status;
  if (auto status = write_groups(file); !status) return status;
  if (auto status = write_links(file); !status) return status;
  if (auto status = write_utilization(file); !status) return status;
  if (auto status = write_arrivals(file); !status) return status;
  return write_runs(file);
}

}  // namespace

namespace {

/// Whether a selected shard is gone: a live writer has joined it with others since, and merging must begin again.
bool has_vanished(const Layout& layout, const Selection& selection) {
  std::error_code error;
  return std::ranges::any_of(selection.shards, [&](const store::ShardRows& shard) {
    return !std::filesystem::exists(layout.shard(shard.commit.shard), error);
  });
}

}  // namespace

Result<MergeReport> merge(const std::filesystem::path& dir, const Study& study) {
  const Layout layout{dir};
  const auto state = store::read_state(layout);
  if (!state) return state.errors();
  if (!*state)
    return input_error({}, fmt::format("\"{}\" is no result folder", dir.string()), "it has no state.toml",
                       "name the folder that a run was given with --out");
  constexpr int kTries = 5;
  for (int attempt = 1;; ++attempt) {
    const auto selection = store::select_rows(layout, study);
    if (!selection) return selection.errors();
    ColumnFileWriter file;
    if (auto status = Merger(layout, study, *selection).write(file); !status) {
      if (attempt < kTries && has_vanished(layout, *selection)) continue;
      return status.errors();
    }
    if (auto status = file.save(layout.result()); !status) return status.errors();
    const auto rows = selection->points.size();
    return MergeReport{rows,
                       study.points.size() - rows,
                       selection->failed,
                       selection->pruned,
                       selection->repeated,
                       layout.result(),
                       selection->warnings};
  }
}

}  // namespace tenex
