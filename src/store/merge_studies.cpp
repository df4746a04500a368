// First the rows are chosen by key. Then every column is gathered from all files and written, as merge() does with
// shards.

#include "tenex/store/merge_studies.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "store/folder_layout.hpp"
#include "store/gatherer.hpp"
#include "store/open_result.hpp"
#include "store/packed_columns.hpp"
#include "store/pareto_column.hpp"
#include "store/ragged_groups.hpp"
#include "store/result_columns.hpp"
#include "store/row_selection.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/design/setting.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex::store {
namespace {

// The files that a merge of several studies reads, and which of their rows it takes.

/// One result file and what the new one takes from it.
struct Source {
  std::string name;
  ColumnFileReader reader;
  std::size_t rows = 0;
  std::vector<RowPlace> chosen;    ///< by row
  std::vector<RowPlace> repeated;  ///< ok rows that must equal the chosen one
};

/// Errors: as merge_studies() for one file.
Result<Source> open_source(const std::filesystem::path& file) {
  auto reader = open_result(file);
  if (!reader) return reader.errors();
  const auto physics = reader->integer_attribute("/", "physics");
  if (!physics) return physics.errors();
  if (*physics != physics_version)
    return input_error({file.string(), 0, 0}, fmt::format("the file was made with physics {}", *physics),
                       fmt::format("this version computes physics {}, so the rows cannot be mixed", physics_version),
                       "merge files of one physics, with the version that made them");
  const auto rows = reader->rows("/point");
  if (!rows) return rows.errors();
  return Source{file.string(), std::move(reader).value(), *rows, {}, {}};
}

/// A row that may be chosen for its key.
struct Choice {
  Digest key;
  std::uint32_t source = 0;
  std::uint32_t row = 0;
  bool ok = false;
  bool pruned = false;
  std::uint8_t outputs = 0;  ///< number of kinds of ragged entries that it has
};

/// Reads keys, statuses and numbers of entries, and chooses.
class Chooser {
 public:
  Status read(std::uint32_t number, const Source& source) {
    const auto keys = source.reader.read_text("/key");
    if (!keys) return keys.errors();
    const auto status = source.reader.read<std::int8_t>("/status", 0, source.rows);
    if (!status) return status.errors();
    std::vector<std::uint8_t> outputs(source.rows, 0);
    for (const auto& ragged : ragged_groups()) {
      const auto counts = source.reader.read<std::int64_t>(ragged.count, 0, source.rows);
      if (!counts) return counts.errors();
      for (std::size_t row = 0; row < source.rows; ++row)
        if ((*counts)[row] > 0) ++outputs[row];
    }
    for (std::size_t row = 0; row < source.rows; ++row) {
      const auto digest = row < keys->rows() ? parse_digest(keys->at(row)) : std::nullopt;
      if (!digest) return environment_error(fmt::format("{}: row {} has no key", source.name, row));
      const Choice choice{*digest,
                          number,
                          static_cast<std::uint32_t>(row),
                          is_final(static_cast<PointStatus>((*status)[row])),
                          (*status)[row] == static_cast<std::int8_t>(PointStatus::pruned),
                          outputs[row]};
      rows_.push_back(choice);
    }
    return success();
  }

  /// Positions in the order of files and rows.
  StudiesReport assign(std::vector<Source>& sources) {
    std::ranges::sort(rows_, {}, [](const Choice& c) { return std::tuple(c.key.high, c.key.low, c.source, c.row); });
    std::vector<std::span<const Choice>> keys;  // the rows of each key, the chosen one first
    for (std::size_t first = 0; first < rows_.size();) {
      auto last = first;
      auto best = first;
      for (; last < rows_.size() && rows_[last].key == rows_[first].key; ++last)
        if (worth(rows_[last]) > worth(rows_[best])) best = last;
      std::swap(rows_[first], rows_[best]);
      keys.push_back(std::span<const Choice>(rows_).subspan(first, last - first));
      first = last;
    }
    std::ranges::sort(keys, {}, [](const auto& rows) { return std::pair(rows[0].source, rows[0].row); });
    StudiesReport report{keys.size(), 0, rows_.size() - keys.size()};
    for (std::uint32_t position = 0; position < keys.size(); ++position) {
      const auto& best = keys[position][0];
      sources[best.source].chosen.emplace_back(best.row, position);
      report.failed += best.ok || best.pruned ? 0 : 1;
      for (const auto& other : keys[position].subspan(1))
        if (other.ok) sources[other.source].repeated.emplace_back(other.row, position);
    }
    return report;
  }

 private:
  static int worth(const Choice& row) { return row.ok ? 1 + row.outputs : 0; }

  std::vector<Choice> rows_;
};

/// Chooses the row for each key, and its position: positions are in the order of files and rows. Fills in `chosen` and
/// `repeated` of the sources. Errors: columns are missing or damaged. O(rows log rows).
Result<StudiesReport> choose_rows(std::vector<Source>& sources) {
  Chooser chooser;
  for (std::uint32_t s = 0; s < sources.size(); ++s)
    if (auto status = chooser.read(s, sources[s]); !status) return status.errors();
  return chooser.assign(sources);
}

}  // namespace
}  // namespace tenex::store

namespace tenex {
namespace {

using store::Ragged;
using store::RaggedColumn;
using store::Source;
using store::write_integers;
using store::write_text;

/// The files, as Gatherer reads them. All columns of one file have its number of rows.
class StudyFiles {
 public:
  explicit StudyFiles(const std::vector<Source>& sources) : sources_(sources) {}

  [[nodiscard]] const std::vector<Source>& sources() const { return sources_; }
  [[nodiscard]] bool has(const std::string& path) const {
    return std::ranges::any_of(sources_, [&](const Source& source) { return source.reader.has(path); });
  }
  [[nodiscard]] bool has(const MetricColumn& metric) const { return !metric.may_lack() || has(path_of(metric)); }
  template <class Column>
  [[nodiscard]] static std::string path_of(const Column& column) {
    return "/" + std::string(column.name);
  }
  [[nodiscard]] static std::string path_of(const Ragged& ragged, const Ragged::Part& part) {
    return std::string(ragged.group) + "/" + part.name;
  }

  template <class Column>
  Result<std::optional<Column>> read(std::size_t s, const std::string& path, bool may_lack) const {
    const auto& source = sources_[s];
    if (may_lack && !source.reader.has(path)) return std::optional<Column>();
    auto column = store::read_column<Column>(source.reader, path, source.rows, source.name + ": ");
    if (!column) return column.errors();
    return std::optional(std::move(column).value());
  }

  Result<RaggedColumn> read_ragged(std::size_t s, const Ragged& ragged, const Ragged::Part& part) const {
    return store::read_ragged(sources_[s].reader, sources_[s].name + ": ", ragged, part, sources_[s].rows);
  }

  [[nodiscard]] Diagnostic differs(std::size_t s, const store::RowPlace& place, const std::string& path) const {
    const auto keys = sources_[s].reader.read_text("/key");
    return environment_error(
        fmt::format("{}: the row of the point {} differs in the column \"{}\" from that of another file",
                    sources_[s].name, keys ? keys->at(place.first) : "?", path.substr(1)),
        "the same point must give the same row: tenex is not deterministic here, or a file was changed",
        "`tenex replay DIR KEY` tells which of the folders is right");
  }

 private:
  const std::vector<Source>& sources_;
};

/// Gathers and writes.
class StudiesMerger {
 public:
  StudiesMerger(const std::vector<Source>& sources, std::size_t rows)
      : sources_(sources), rows_(rows), files_(sources), gatherer_(files_, rows) {}

  [[nodiscard]] Status write(ColumnFileWriter& file);

 private:
  [[nodiscard]] store::ResultRows rows() const {
    store::ResultRows rows{std::vector<std::int64_t>(rows_), "this file"};
    std::iota(rows.points.begin(), rows.points.end(), std::int64_t{0});
    return rows;
  }
  void write_attributes(ColumnFileWriter& file) const;
  [[nodiscard]] Status write_points(ColumnFileWriter& file);
  [[nodiscard]] Status write_canonical(ColumnFileWriter& file) const;
  [[nodiscard]] Result<store::GatheredColumn> gather_setting(const SettingColumn& setting);
  [[nodiscard]] Status write_settings(ColumnFileWriter& file, std::size_t dimensions);
  [[nodiscard]] Status write_pareto(ColumnFileWriter& file);
  [[nodiscard]] Result<std::vector<std::string>> competitions_by(const std::vector<std::string>& names);

  const std::vector<Source>& sources_;
  std::size_t rows_;
  StudyFiles files_;
  store::Gatherer<StudyFiles> gatherer_;
};

/// The distinct texts of one attribute over the files, in their order.
std::string joined(const std::vector<Source>& sources, const std::string& name, const char* separator) {
  std::vector<std::string> known;
  std::string all;
  for (const auto& source : sources) {
    const auto text = source.reader.text_attribute("/", name);
    if (!text || std::ranges::find(known, *text) != known.end()) continue;
    all += (known.empty() ? "" : separator) + *text;
    known.push_back(*text);
  }
  return all;
}

void StudiesMerger::write_attributes(ColumnFileWriter& file) const {
  std::string coordinates;
  for (const auto& setting : setting_columns())
    if (files_.has(StudyFiles::path_of(setting))) coordinates += std::string(setting.name) + " ";
  std::int64_t dirty = 0;
  for (const auto& source : sources_)
    if (const auto value = source.reader.integer_attribute("/", "git_dirty")) dirty = std::max(dirty, *value);
  store::write_attributes(file);
  file.set_attribute("/", "title", joined(sources_, "title", " + "));
  file.set_attribute("/", "studies", static_cast<std::int64_t>(sources_.size()));
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const auto text = sources_[i].reader.text_attribute("/", "study");
    file.set_attribute("/", i == 0 ? "study" : fmt::format("study_{}", i + 1), text ? *text : "");
  }
  file.set_attribute("/", "study_digest", joined(sources_, "study_digest", ", "));
  file.set_attribute("/", "study_points", static_cast<std::int64_t>(rows_));
  file.set_attribute("/", "version", joined(sources_, "version", ", "));
  file.set_attribute("/", "git_revision", joined(sources_, "git_revision", ", "));
  file.set_attribute("/", "git_dirty", dirty);
  file.set_attribute("/", "hosts", joined(sources_, "hosts", "; "));
  file.set_attribute("/", "coordinates", coordinates + "seed");
}

Status StudiesMerger::write_points(ColumnFileWriter& file) {
  std::vector<std::int64_t> numbers(rows_);
  for (std::size_t s = 0; s < sources_.size(); ++s)
    for (const auto& [row, position] : sources_[s].chosen) numbers[position] = static_cast<std::int64_t>(s) + 1;
  store::begin_rows(file, rows());
  write_integers(file, "/study_number", numbers, "", "the study that the row is from: 1 is the first");
  const auto points = gatherer_.integers(store::kPoint);
  if (!points) return points.errors();
  write_integers(file, "/study_point", *points, "", "index in that study");
  return write_canonical(file);
}

/// Positions ascend with files and rows, so the texts of only one file are in memory at a time.
Status StudiesMerger::write_canonical(ColumnFileWriter& file) const {
  std::size_t width = 1;
  for (const auto& source : sources_) {
    const auto column = source.reader.read_text("/canonical");
    if (!column) return column.errors();
    if (column->rows() != source.rows) return environment_error(fmt::format("{}: a column is too short", source.name));
    width = std::max(width, column->width);
  }
  std::size_t at = 0;    // the file whose texts are in `texts`
  std::size_t next = 0;  // next of its chosen rows
  std::optional<TextColumn> texts;
  Status status = success();
  const auto fill = [&](std::size_t, TextColumn& part) {
    for (std::size_t i = 0; i < part.rows() && status; ++i) {
      while (next == sources_[at].chosen.size()) ++at, next = 0, texts.reset();
      if (!texts) {
        auto column = sources_[at].reader.read_text("/canonical");
        if (!column) {
          status = column.errors();
          return;
        }
        texts = std::move(column).value();
      }
      part.set(i, texts->at(sources_[at].chosen[next++].first));
    }
  };
  write_text(file, "/canonical", width, rows_, fill, store::kCanonicalMeaning);
  return status;
}

Result<store::GatheredColumn> StudiesMerger::gather_setting(const SettingColumn& setting) {
  return gatherer_.gather(store::kind_of(setting), StudyFiles::path_of(setting), false, cell_without(setting));
}

Status StudiesMerger::write_settings(ColumnFileWriter& file, std::size_t dimensions) {
  store::begin_dimensions(file, dimensions);
  for (const auto& setting : setting_columns()) {
    if (cell_without(setting) && !files_.has(StudyFiles::path_of(setting))) continue;
    const auto values = gather_setting(setting);
    if (!values) return values.errors();
    store::write_setting(file, setting, *values, dimensions);
  }
  const auto seeds = gatherer_.integers("/seed");
  if (!seeds) return seeds.errors();
  write_integers(file, "/seed", *seeds, "", store::kSeedMeaning);
  const auto keys = gatherer_.gather<TextColumn>("/key", false);
  if (!keys) return keys.errors();
  write_text(file, "/key", *keys, store::kKeyMeaning);
  return success();
}

/// The text by which rows compete: one value of a list where all dimensions have the same, as points state it, whatever
/// the number of dimensions.
template <class Column>
std::string stated(const Column& column, std::size_t row) {
  if constexpr (std::is_same_v<Column, store::PackedLists>) {
    auto list = column.at(row);
    if (std::ranges::adjacent_find(list, std::not_equal_to<>()) == list.end())
      list.resize(std::min<std::size_t>(1, list.size()));
    return fmt::format("{}", fmt::join(list, ","));
  } else if constexpr (std::is_same_v<Column, store::PackedTexts>) {
    return std::string(column.at(row));
  } else {
    return fmt::format("{}", column[row]);
  }
}

/// The texts of these settings per row: rows with equal texts compete.
Result<std::vector<std::string>> StudiesMerger::competitions_by(const std::vector<std::string>& names) {
  std::vector<std::string> competitions(rows_);
  for (const auto& name : names) {
    const auto values = gather_setting(*find_setting_column(name));
    if (!values) return values.errors();
    std::visit(
        [&](const auto& column) {
          for (std::size_t i = 0; i < competitions.size(); ++i) competitions[i].append(stated(column, i)).append("\n");
        },
        *values);
  }
  return competitions;
}

/// One front over all rows if all studies that name objectives name the same ones. Else every row keeps the value in
/// its own study's file: fronts by different objectives cannot be compared.
Status StudiesMerger::write_pareto(ColumnFileWriter& file) {
  std::vector<std::optional<store::Front>> fronts;
  for (const auto& source : sources_)
    if (source.reader.has("/pareto")) fronts.push_back(store::read_front(source.reader));
  if (fronts.empty()) return success();
  const auto& front = fronts.front();
  if (!front || !std::ranges::all_of(fronts, [&](const auto& each) { return each == front; })) {
    const auto own = gatherer_.gather<std::vector<std::int8_t>>("/pareto", false, std::int64_t{0});
    if (!own) return own.errors();
    file.write("/pareto", std::span(*own));
    store::describe(file, "/pareto", "", "1: on the front of the study that the row is from, by its own objectives");
    return success();
  }
  const auto competitions = competitions_by(front->per);
  if (!competitions) return competitions.errors();
  return gatherer_.write_front(file, *front, [&](std::size_t row) { return (*competitions)[row]; });
}

Status StudiesMerger::write(ColumnFileWriter& file) {
  write_attributes(file);
  if (auto status = write_points(file); !status) return status;
  std::size_t dimensions = 1;  // of the topology that has the most
  for (const auto& source : sources_) {
    const auto own = store::count_dimensions(source.reader);
    if (!own) return own.errors();
    dimensions = std::max(dimensions, *own);
  }
  if (auto status = write_settings(file, dimensions); !status) return status;
  if (auto status = gatherer_.write_metrics(file, dimensions); !status) return status;
  if (auto status = write_pareto(file); !status) return status;
  for (const auto& ragged : store::ragged_groups()) {
    const auto counts = gatherer_.integers(ragged.count);
    if (!counts) return counts.errors();
    const auto values_of = [&](const auto& part, const auto& offsets) {
      return gatherer_.entries(ragged, part, offsets);
    };
    if (auto status = store::write_ragged(file, ragged, rows(), *counts, values_of); !status) return status;
  }
  const auto numbers = [&](const std::string& name) { return gatherer_.integers("/runs/" + name); };
  return store::write_runs(file, rows(), numbers, gatherer_.gather<TextColumn>("/runs/host", false));
}

}  // namespace

Result<StudiesReport> merge_studies(const std::filesystem::path& out, const std::vector<std::filesystem::path>& files) {
  std::vector<Source> sources;
  Diagnostics wrong;
  for (const auto& file : files) {
    auto source = store::open_source(file);
    if (source)
      sources.push_back(std::move(source).value());
    else
      append(wrong, source.errors());
  }
  if (!wrong.empty()) return wrong;
  const auto report = store::choose_rows(sources);
  if (!report) return report.errors();
  ColumnFileWriter file;
  if (auto status = StudiesMerger(sources, report->rows).write(file); !status) return status.errors();
  if (auto status = file.save(out); !status) return status.errors();
  return report;
}

}  // namespace tenex
