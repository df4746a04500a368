// Writes the merged result one column at a time, gathered from the shards into study order.
//
// Layout and meaning of every variable: include/tenex/store/result_format.md. The file depends only on the study and
// the rows, so merging twice gives the same bytes. Only the columns marked measured and the group /runs depend on which
// rank evaluated which point when.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "store/folder_layout.hpp"
#include "store/gatherer.hpp"
#include "store/packed_columns.hpp"
#include "store/pareto_column.hpp"
#include "store/ragged_groups.hpp"
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

using store::Layout;
using store::Ragged;
using store::RaggedColumn;
using store::Selection;
using store::WantedColumn;
using store::write_integers;
using store::write_text;

/// Whether the result has this setting or metric: those of training points only where the study has such points.
template <class Column>
bool has_column(const Study& study, const Column& column) {
  return study.trains || !column.training;
}

/// The columns that Merger::write() reads from each shard, in its order. Other columns can be read too, but take
/// longer.
std::vector<WantedColumn> wanted_columns(const Study& study) {
  namespace names = store::columns;
  std::vector<WantedColumn> wanted;
  const auto add = [&](const MetricColumn& metric) { wanted.push_back({names::metric(metric.name), metric.kind}); };
  for (const auto& metric : metric_columns())
    if (has_column(study, metric)) add(metric);
  if (!study.search.pareto.empty()) wanted.push_back({names::metric("status"), MetricColumn::Kind::flags});
  for (const auto& objective : study.search.pareto)
    add(*std::ranges::find(metric_columns(), objective.metric, &MetricColumn::name));
  for (const auto& ragged : store::ragged_groups()) {
    wanted.push_back({ragged.count});
    for (const auto& part : ragged.parts) {
      if (part.origin != Ragged::Origin::stored) continue;
      wanted.push_back({ragged.count});
      wanted.push_back({part.shard, MetricColumn::Kind::integer, true});
    }
  }
  wanted.push_back({names::kFinished});
  return wanted;
}

/// The shards, as Gatherer reads them.
class ShardFiles {
 public:
  ShardFiles(const Layout& layout, const Study& study, const Selection& selection)
      : study_(study), selection_(selection), shards_(layout, selection, wanted_columns(study)) {}

  [[nodiscard]] const std::vector<store::ShardRows>& sources() const { return selection_.shards; }
  [[nodiscard]] bool has(const MetricColumn& metric) const { return has_column(study_, metric); }
  [[nodiscard]] static std::string path_of(const MetricColumn& metric) { return store::columns::metric(metric.name); }
  [[nodiscard]] static std::string path_of(const Ragged&, const Ragged::Part& part) { return part.shard; }

  template <class Column>
  Result<std::optional<Column>> read(std::size_t s, const std::string& path, bool may_lack) {
    auto column = shards_.take<Column>(s, path);
    if (!column || (may_lack && !*column)) return column;
    const auto& shard = selection_.shards[s];
    if (!*column || store::rows_of(**column) != shard.rows) return lacks(shard, path);
    return column;
  }

  Result<RaggedColumn> read_ragged(std::size_t s, const Ragged& ragged, const Ragged::Part& part) {
    const auto& shard = selection_.shards[s];
    auto counts = read<std::vector<std::int64_t>>(s, ragged.count, false);
    if (!counts) return counts.errors();
    auto values = shards_.take<std::vector<std::int64_t>>(s, part.shard);
    if (!values) return values.errors();
    if (!*values) return lacks(shard, part.shard);
    auto column = RaggedColumn::in_order(**std::move(values), **std::move(counts));
    if (!column)
      return environment_error(fmt::format("the shard \"{}\" is damaged", shard.commit.shard),
                               "its ragged columns do not fit together");
    return *std::move(column);
  }

  [[nodiscard]] Diagnostic differs(std::size_t, const store::RowPlace& place, const std::string& path) const {
    const auto point = selection_.points[place.second];
    return environment_error(
        fmt::format("two rows of the point {} differ in the column \"{}\"", to_string(study_.points.key(point)),
                    path.substr(path.rfind('/') + 1)),
        "the same point must give the same row for any ranks and threads: tenex is not deterministic here",
        fmt::format("please report this with the point:\n{}", study_.points[point].canonical));
  }

 private:
  static Diagnostic lacks(const store::ShardRows& shard, std::string_view column) {
    return environment_error(fmt::format("the shard \"{}\" is damaged", shard.commit.shard),
                             fmt::format("the column \"{}\" is missing or has another length", column));
  }

  const Study& study_;
  const Selection& selection_;
  store::ShardSet shards_;
};

/// The number of each entry within its row.
std::vector<std::int64_t> entry_numbers(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> numbers;
  for (const auto count : counts)
    for (std::int64_t n = 0; n < count; ++n) numbers.push_back(n);
  return numbers;
}

/// Gathers the columns of the selected rows and writes the result.
class Merger {
 public:
  Merger(const Layout& layout, const Study& study, const Selection& selection)
      : study_(study),
        selection_(selection),
        files_(layout, study, selection),
        gatherer_(files_, selection.points.size()) {}

  [[nodiscard]] Status write(ColumnFileWriter& file);

 private:
  using Numbers = std::vector<std::int64_t>;

  [[nodiscard]] std::size_t row_count() const { return selection_.points.size(); }
  [[nodiscard]] store::ResultRows rows() const {
    return {{selection_.points.begin(), selection_.points.end()}, "the study"};
  }
  [[nodiscard]] DesignPoint point(std::size_t row) const { return study_.points[selection_.points[row]]; }
  [[nodiscard]] const Digest& key(std::size_t row) const { return study_.points.key(selection_.points[row]); }

  void write_attributes(ColumnFileWriter& file) const;
  /// Returns the number of dimensions of the shape that has the most.
  std::size_t write_settings(ColumnFileWriter& file) const;
  [[nodiscard]] Status write_entries(ColumnFileWriter& file, const Ragged& ragged);
  [[nodiscard]] Status write_runs(ColumnFileWriter& file);
  /// For each link of the points that have entries: the vertices that it leaves and enters.
  [[nodiscard]] Result<std::pair<Numbers, Numbers>> link_ends(const Numbers& counts) const;

  const Study& study_;
  const Selection& selection_;
  ShardFiles files_;
  store::Gatherer<ShardFiles> gatherer_;
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
    if (has_column(study_, setting)) coordinates += std::string(setting.name) + " ";
  store::write_attributes(file);
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
std::size_t Merger::write_settings(ColumnFileWriter& file) const {
  store::SettingColumns columns(row_count(), study_.trains);
  const auto fill_points = [&](std::size_t first, TextColumn& part) {
    for (std::size_t i = 0; i < part.rows(); ++i) {
      const DesignPoint p = point(first + i);
      part.set(i, p.canonical);
      columns.set(first + i, p);
    }
  };
  const auto fill_keys = [&](std::size_t first, TextColumn& part) {
    for (std::size_t i = 0; i < part.rows(); ++i) part.set(i, to_string(key(first + i)));
  };
  const auto width = std::max<std::size_t>(1, study_.points.longest_canonical());
  write_text(file, "/canonical", width, row_count(), fill_points, store::kCanonicalMeaning);
  store::begin_dimensions(file, columns.dimensions());
  for (const auto& column : columns.columns())
    store::write_setting(file, column.setting, column.values, columns.dimensions());
  write_integers(file, "/seed", columns.seeds().unpacked(), "", store::kSeedMeaning);
  write_text(file, "/key", 2 * sizeof(Digest), row_count(), fill_keys, store::kKeyMeaning);
  return columns.dimensions();
}

Status Merger::write_entries(ColumnFileWriter& file, const Ragged& ragged) {
  const auto counts = gatherer_.integers(ragged.count);
  if (!counts) return counts.errors();
  Numbers destinations;
  const auto values_of = [&](const Ragged::Part& part, const Numbers& offsets) -> Result<Numbers> {
    switch (part.origin) {
      case Ragged::Origin::stored:
        break;
      case Ragged::Origin::numbered:
        return entry_numbers(*counts);
      case Ragged::Origin::link_destination:
        return std::move(destinations);
      case Ragged::Origin::link_source:
        auto ends = link_ends(*counts);
        if (!ends) return ends.errors();
        destinations = std::move(ends->second);
        return std::move(ends->first);
    }
    return gatherer_.entries(ragged, part, offsets);
  };
  return store::write_ragged(file, ragged, rows(), *counts, values_of);
}

/// The ends of links are a property of the point, so shards do not hold them.
Result<std::pair<Merger::Numbers, Merger::Numbers>> Merger::link_ends(const Numbers& counts) const {
  std::pair<Numbers, Numbers> ends;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const auto topology = build_point_topology(point(i));
    if (!topology) return topology.errors();
    if (topology->links() != static_cast<std::size_t>(counts[i]))
      return environment_error(fmt::format("the row of the point {} has {} links", to_string(key(i)), counts[i]),
                               fmt::format("its topology has {}", topology->links()));
    for (std::size_t link = 0; link < topology->links(); ++link) {
      ends.first.push_back(topology->source(LinkId::at(link)).value());
      ends.second.push_back(topology->target(LinkId::at(link)).value());
    }
  }
  return ends;
}

Status Merger::write_runs(ColumnFileWriter& file) {
  store::PackedTexts hosts(row_count());
  for (const auto& shard : selection_.shards)
    for (const auto& [row, position] : shard.chosen) hosts.set(position, shard.origin.host);
  const auto numbers = [&](const std::string& name) -> Result<Numbers> {
    if (name == "finished_unix_ms") return gatherer_.integers(store::columns::kFinished);
    Numbers values(row_count());
    for (const auto& shard : selection_.shards)
      for (const auto& [row, position] : shard.chosen)
        values[position] = name == "rank" ? shard.origin.rank : shard.origin.incarnation;
    return values;
  };
  return store::write_runs(file, rows(), numbers, std::move(hosts));
}

Status Merger::write(ColumnFileWriter& file) {
  write_attributes(file);
  store::begin_rows(file, rows());
  const auto dimensions = write_settings(file);
  if (auto status = gatherer_.write_metrics(file, dimensions); !status) return status;
  if (!study_.search.pareto.empty()) {
    const auto competition = [&](std::size_t row) { return competition_of(study_.search, point(row)); };
    const store::Front front{study_.search.pareto, study_.search.per};
    if (auto status = gatherer_.write_front(file, front, competition); !status) return status;
  }
  for (const auto& ragged : store::ragged_groups())
    if (auto status = write_entries(file, ragged); !status) return status;
  return write_runs(file);
}

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
