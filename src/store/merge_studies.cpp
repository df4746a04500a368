// First the rows are chosen by key. Then every column is gathered from all files and written, as merge() does with
// shards.
#include "tenex/store/merge_studies.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "store/folder_layout.hpp"
#include "store/gathered_columns.hpp"
#include "store/open_result.hpp"
#include "store/packed_columns.hpp"
#include "store/result_columns.hpp"
#include "store/shard.hpp"
#include "store/study_sources.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex {
namespace {

using store::Ragged;
using store::ragged_groups;
using store::Source;
using store::write_integers;
using store::write_text;

/// Gathers and writes.
class StudiesMerger {
 public:
  StudiesMerger(const std::vector<Source>& sources, std::size_t rows) : sources_(sources), rows_(rows) {}

  Status write(ColumnFileWriter& file) {
    write_attributes(file);
    if (auto status = write_points(file); !status) return status;
    if (auto status = write_settings(file); !status) return status;
    for (const auto& column : metric_columns())
      if (auto status = write_metric(file, column); !status) return status;
    if (auto status = write_pareto(file); !status) return status;
    for (const auto& ragged : ragged_groups())
      if (auto status = write_ragged(file, ragged); !status) return status;
    return write_runs(file);
  }

  /// Gathers a column of numbers. A file lacks the column where no point of its study trains: its rows get `absent`.
  template <class T>
  Result<std::vector<T>> gather(const std::string& path, bool compared, std::optional<T> absent = std::nullopt) const {
    std::vector<T> values(rows_, absent.value_or(T()));
    std::vector<std::pair<std::size_t, std::vector<T>>> others;
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      const auto& source = sources_[s];
      if (absent && !source.reader.has(path)) continue;
      const auto column = store::read_numbers<T>(source.reader, path, source.rows);
      if (!column) return column.errors();
      for (const auto& [row, position] : source.chosen) values[position] = (*column)[row];
      if (!compared || source.repeated.empty()) continue;
      auto& kept = others.emplace_back(s, std::vector<T>()).second;
      for (const auto& [row, position] : source.repeated) kept.push_back((*column)[row]);
    }
    for (const auto& [s, kept] : others)
      for (std::size_t i = 0; i < kept.size(); ++i)
        if (const auto& [row, position] = sources_[s].repeated[i]; !same_bits(values[position], kept[i]))
          return differs(sources_[s], row, path.substr(1));
    return values;
  }

  /// The same for texts and lists, which are empty where a file lacks them. Rows of files that lack the column get
  /// `absent`.
  Result<store::PackedTexts> gather_text(const std::string& path, bool compared, bool may_lack,
                                         std::string_view absent = {}) const {
    const auto read = [&](const ColumnFileReader& reader) -> Result<TextColumn> {
      if (!may_lack || reader.has(path)) return reader.read_text(path);
      const auto rows = reader.rows("/key");
      if (!rows) return rows.errors();
      TextColumn column(std::max<std::size_t>(1, absent.size()), *rows);
      for (std::size_t row = 0; row < column.rows(); ++row) column.set(row, absent);
      return column;
    };
    return gather_packed<store::PackedTexts, TextColumn>(path, compared, may_lack && absent.empty(), read);
  }
  Result<store::PackedLists> gather_lists(const std::string& path, bool compared, bool may_lack) const {
    const auto read = [&](const ColumnFileReader& reader) { return store::read_lists(reader, path); };
    return gather_packed<store::PackedLists, ListColumn>(path, compared, may_lack, read);
  }
  [[nodiscard]] std::size_t dimensions() const { return dimensions_; }

 private:
  template <class Packed, class Column, class Read>
  Result<Packed> gather_packed(const std::string& path, bool compared, bool may_lack, const Read& read) const {
    Packed values(rows_);
    std::vector<typename Packed::Value> others;  // of repeated rows, file by file
    for (const auto& source : sources_) {
      const bool lacks = may_lack && !source.reader.has(path);
      const auto column = lacks ? Result<Column>(Column(1, source.rows)) : read(source.reader);
      if (!column) return column.errors();
      if (column->rows() != source.rows)
        return environment_error(fmt::format("{}: \"{}\" has {} rows", source.name, path, column->rows()),
                                 fmt::format("{} are expected", source.rows));
      for (const auto& [row, position] : source.chosen) values.set(position, column->at(row));
      if (!compared) continue;
      for (const auto& [row, position] : source.repeated) {
        const auto cell = column->at(row);
        others.emplace_back(cell.begin(), cell.end());
      }
    }
    if (!compared) return values;
    auto other = others.begin();
    for (const auto& source : sources_)
      for (const auto& [row, position] : source.repeated)
        if (!std::ranges::equal(values.at(position), *other++)) return differs(source, row, path.substr(1));
    return values;
  }

  static bool same_bits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  }
  static bool same_bits(std::int64_t a, std::int64_t b) { return a == b; }
  static bool same_bits(std::int8_t a, std::int8_t b) { return a == b; }

  Diagnostics differs(const Source& source, std::uint32_t row, std::string_view column) const {
    const auto keys = source.reader.read_text("/key");
    return {environment_error(
        fmt::format("{}: the row of the point {} differs in the column \"{}\" from that of another file", source.name,
                    keys ? keys->at(row) : "?", column),
        "the same point must give the same row: tenex is not deterministic here, or a file was changed",
        "`tenex replay DIR KEY` tells which of the folders is right")};
  }

  [[nodiscard]] bool any_has(const std::string& path) const {
    return std::ranges::any_of(sources_, [&](const Source& source) { return source.reader.has(path); });
  }

  void write_attributes(ColumnFileWriter& file) const;
  [[nodiscard]] Status write_points(ColumnFileWriter& file) const;
  [[nodiscard]] Status write_canonical(ColumnFileWriter& file) const;
  [[nodiscard]] Status write_settings(ColumnFileWriter& file);
  [[nodiscard]] Status write_setting(ColumnFileWriter& file, const SettingColumn& setting) const;
  [[nodiscard]] Status write_metric(ColumnFileWriter& file, const MetricColumn& column) const;
  [[nodiscard]] Status write_pareto(ColumnFileWriter& file) const;
  [[nodiscard]] Result<std::vector<std::string>> competitions_by(const std::vector<std::string>& settings) const;
  [[nodiscard]] Status write_ragged(ColumnFileWriter& file, const Ragged& ragged) const;
  [[nodiscard]] Result<std::vector<std::int64_t>> gather_ragged(const Ragged& ragged, const char* part,
                                                                const std::vector<std::int64_t>& offsets) const;
  [[nodiscard]] Status write_runs(ColumnFileWriter& file) const;

  const std::vector<Source>& sources_;
  std::size_t rows_;
  std::size_t dimensions_ = 1;  ///< of the topology that has the most
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
    if (any_has("/" + std::string(setting.name))) coordinates += std::string(setting.name) + " ";
  std::int64_t dirty = 0;
  for (const auto& source : sources_)
    if (const auto value = source.reader.integer_attribute("/", "git_dirty")) dirty = std::max(dirty, *value);
  file.set_attribute("/", "Conventions", "CF-1.8");
  file.set_attribute("/", "kind", "tenex result");
  file.set_attribute("/", "schema", store::kSchema);
  file.set_attribute("/", "physics", physics_version);
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

Status StudiesMerger::write_points(ColumnFileWriter& file) const {
  std::vector<std::int64_t> positions(rows_);
  std::vector<std::int64_t> numbers(rows_);
  for (std::size_t i = 0; i < rows_; ++i) positions[i] = static_cast<std::int64_t>(i);
  for (std::size_t s = 0; s < sources_.size(); ++s)
    for (const auto& [row, position] : sources_[s].chosen) numbers[position] = static_cast<std::int64_t>(s) + 1;
  file.write(store::kPoint, std::span<const std::int64_t>(positions));
  file.make_dimension(store::kPoint, "point");
  file.set_attribute(store::kPoint, "long_name", "index in this file");
  write_integers(file, "/study_number", numbers, "", "the study that the row is from: 1 is the first");
  const auto points = gather<std::int64_t>("/point", false);
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
  file.write_text("/canonical", width, rows_, [&](std::size_t, TextColumn& part) {
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
  });
  store::describe_text(file, "/canonical", "the point: sorted name=value lines in integer SI units");
  return status;
}

Status StudiesMerger::write_setting(ColumnFileWriter& file, const SettingColumn& setting) const {
  using Kind = SettingColumn::Kind;
  const auto path = "/" + std::string(setting.name);
  const auto write = [&](const auto& values, const auto& column_of) -> Status {
    if (!values) return values.errors();
    store::write_setting(file, setting, column_of(*values));
    return success();
  };
  const auto numbers = [](const auto& values) { return std::span(values); };
  const auto absent = cell_without(setting);
  switch (setting.kind) {
    case Kind::integer:
      return write(
          gather<std::int64_t>(path, false, absent ? std::optional(std::get<std::int64_t>(*absent)) : std::nullopt),
          numbers);
    case Kind::real:
      return write(gather<double>(path, false, std::numeric_limits<double>::quiet_NaN()), numbers);
    case Kind::list:
      return write(gather_lists(path, false, setting.training),
                   [&](const auto& lists) { return lists.unpacked(dimensions_); });
    case Kind::text:
    case Kind::none:
      break;
  }
  return write(
      gather_text(path, false, absent.has_value(), absent ? cell_text(*absent) : std::string()),
      [](const auto& texts) -> const auto& { return texts; });
}

Status StudiesMerger::write_settings(ColumnFileWriter& file) {
  for (const auto& source : sources_) {
    const auto dimensions = store::count_dimensions(source.reader);
    if (!dimensions) return dimensions.errors();
    dimensions_ = std::max(dimensions_, *dimensions);
  }
  store::begin_dimensions(file, dimensions_);
  for (const auto& setting : setting_columns()) {
    if (cell_without(setting) && !any_has("/" + std::string(setting.name))) continue;
    if (auto status = write_setting(file, setting); !status) return status;
  }
  const auto seeds = gather<std::int64_t>("/seed", false);
  if (!seeds) return seeds.errors();
  write_integers(file, "/seed", *seeds, "", "seed of the point (a two's complement reading of 64 bits)");
  const auto keys = gather_text("/key", false, false);
  if (!keys) return keys.errors();
  write_text(file, "/key", *keys, "XXH3-128 of the canonical text");
  return success();
}

Status StudiesMerger::write_metric(ColumnFileWriter& file, const MetricColumn& column) const {
  const auto path = "/" + std::string(column.name);
  if (column.training && !any_has(path)) return success();
  return store::gather_metric(file, *this, column, path);
}

/// One value where all dimensions have the same, as points state it, whatever the number of dimensions.
std::string stated(const std::vector<std::int64_t>& list) {
  const bool uniform = std::ranges::adjacent_find(list, std::not_equal_to<>()) == list.end();
  return fmt::format(
      "{}", fmt::join(std::span(list).first(uniform ? std::min<std::size_t>(1, list.size()) : list.size()), ","));
}

/// The texts of these settings per row: rows with equal texts compete.
Result<std::vector<std::string>> StudiesMerger::competitions_by(const std::vector<std::string>& names) const {
  std::vector<std::string> competitions(rows_);
  for (const auto& name : names) {
    const auto& setting = *find_setting_column(name);
    const auto absent = cell_without(setting);
    const auto path = "/" + name;
    const auto add = [&](const auto& values, const auto& text_at) -> Status {
      if (!values) return values.errors();
      for (std::size_t i = 0; i < rows_; ++i) competitions[i].append(text_at(*values, i)).append("\n");
      return success();
    };
    const auto number = [](const auto& values, std::size_t i) { return fmt::format("{}", values[i]); };
    const auto status =
        setting.kind == SettingColumn::Kind::integer
            ? add(gather<std::int64_t>(path, false, absent ? std::get<std::int64_t>(*absent) : -1), number)
        : setting.kind == SettingColumn::Kind::real
            ? add(gather<double>(path, false, std::numeric_limits<double>::quiet_NaN()), number)
        : setting.kind == SettingColumn::Kind::list
            ? add(gather_lists(path, false, true), [](const auto& lists, std::size_t i) { return stated(lists.at(i)); })
            : add(gather_text(path, false, absent.has_value(), absent ? cell_text(*absent) : std::string()),
                  [](const auto& texts, std::size_t i) { return texts.at(i); });
    if (!status) return status.errors();
  }
  return competitions;
}

/// One front over all rows if all studies that name objectives name the same ones. Else every row keeps the value in
/// its own study's file: fronts by different objectives cannot be compared.
Status StudiesMerger::write_pareto(ColumnFileWriter& file) const {
  std::vector<std::optional<store::Front>> fronts;
  for (const auto& source : sources_)
    if (source.reader.has("/pareto")) fronts.push_back(store::read_front(source.reader));
  if (fronts.empty()) return success();
  const auto& front = fronts.front();
  if (!front || !std::ranges::all_of(fronts, [&](const auto& each) { return each == front; })) {
    const auto own = gather<std::int8_t>("/pareto", false, 0);
    if (!own) return own.errors();
    file.write("/pareto", std::span<const std::int8_t>(*own));
    store::describe(file, "/pareto", "", "1: on the front of the study that the row is from, by its own objectives");
    return success();
  }
  const auto status = gather<std::int8_t>("/status", false);
  if (!status) return status.errors();
  const auto objectives =
      store::gather_objectives(*this, *front, [](std::string_view metric) { return "/" + std::string(metric); });
  if (!objectives) return objectives.errors();
  const auto competitions = competitions_by(front->per);
  if (!competitions) return competitions.errors();
  const auto competition = [&](std::size_t row) { return (*competitions)[row]; };
  store::write_front(file, *front, store::pareto_column(*front, competition, *status, *objectives));
  return success();
}

/// The entries of one row of a file.
class RaggedColumn {
 public:
  static Result<RaggedColumn> read(const Source& source, const Ragged& ragged, const std::string& path) {
    auto values = source.reader.read<std::int64_t>(path);
    if (!values) return values.errors();
    auto first = source.reader.read<std::int64_t>(ragged.offset, 0, source.rows);
    if (!first) return first.errors();
    auto count = source.reader.read<std::int64_t>(ragged.count, 0, source.rows);
    if (!count) return count.errors();
    const auto size = static_cast<std::int64_t>(values->size());
    for (std::size_t row = 0; row < source.rows; ++row) {
      const auto begin = (*first)[row];
      const auto entries = (*count)[row];
      if (begin < 0 || entries < 0 || begin > size || entries > size - begin)
        return environment_error(
            fmt::format("{}: the entries of row {} in {} do not exist", source.name, row, ragged.group));
    }
    return RaggedColumn(std::move(values).value(), std::move(first).value(), std::move(count).value());
  }
  [[nodiscard]] std::span<const std::int64_t> entries(std::uint32_t row) const {
    return std::span(values_).subspan(static_cast<std::size_t>(first_[row]), static_cast<std::size_t>(count_[row]));
  }

 private:
  RaggedColumn(std::vector<std::int64_t> values, std::vector<std::int64_t> first, std::vector<std::int64_t> count)
      : values_(std::move(values)), first_(std::move(first)), count_(std::move(count)) {}
  std::vector<std::int64_t> values_;
  std::vector<std::int64_t> first_;
  std::vector<std::int64_t> count_;
};

/// The entries of all rows, end to end. Entries of repeated rows are compared where both rows have any.
Result<std::vector<std::int64_t>> StudiesMerger::gather_ragged(const Ragged& ragged, const char* part,
                                                               const std::vector<std::int64_t>& offsets) const {
  const auto path = std::string(ragged.group) + "/" + part;
  std::vector<std::int64_t> values(static_cast<std::size_t>(offsets.back()));
  std::vector<std::vector<std::vector<std::int64_t>>> repeated(sources_.size());
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    const auto column = RaggedColumn::read(sources_[s], ragged, path);
    if (!column) return column.errors();
    for (const auto& [row, position] : sources_[s].chosen)
      std::ranges::copy(column->entries(row), values.begin() + offsets[position]);
    for (const auto& [row, position] : sources_[s].repeated)
      repeated[s].emplace_back(column->entries(row).begin(), column->entries(row).end());
  }
  for (std::size_t s = 0; s < sources_.size(); ++s)
    for (std::size_t i = 0; i < repeated[s].size(); ++i) {
      const auto& [row, position] = sources_[s].repeated[i];
      const std::span mine(values.begin() + offsets[position], values.begin() + offsets[position + 1]);
      if (!repeated[s][i].empty() && !mine.empty() && !std::ranges::equal(mine, repeated[s][i]))
        return differs(sources_[s], row, path.substr(1));
    }
  return values;
}

Status StudiesMerger::write_ragged(ColumnFileWriter& file, const Ragged& ragged) const {
  const auto counts = gather<std::int64_t>(ragged.count, false);
  if (!counts) return counts.errors();
  const auto offsets = store::offsets_of(*counts);
  const std::string group = ragged.group;
  write_integers(file, ragged.offset, {offsets.begin(), offsets.end() - 1}, "", "first entry of the point in " + group);
  write_integers(file, ragged.count, *counts, "", "entries of the point in " + group);
  const auto entry = store::begin_group(file, group, static_cast<std::size_t>(offsets.back()));
  std::vector<std::int64_t> points;
  for (std::size_t i = 0; i < counts->size(); ++i)
    points.insert(points.end(), static_cast<std::size_t>((*counts)[i]), static_cast<std::int64_t>(i));
  write_integers(file, group + "/point", points, "", "index of the point in this file", entry);
  for (const auto& part : ragged.parts) {
    const auto values = gather_ragged(ragged, part.name, offsets);
    if (!values) return values.errors();
    write_integers(file, group + "/" + part.name, *values, part.units, part.meaning, entry);
  }
  return success();
}

Status StudiesMerger::write_runs(ColumnFileWriter& file) const {
  const auto entry = store::begin_group(file, "/runs", rows_);
  std::vector<std::int64_t> positions(rows_);
  for (std::size_t i = 0; i < rows_; ++i) positions[i] = static_cast<std::int64_t>(i);
  write_integers(file, "/runs/point", positions, "", "index of the point in this file", entry);
  for (const auto& [name, meaning] : {std::pair{"rank", "rank that evaluated the point"},
                                      std::pair{"incarnation", "run of the folder, counted from 1"},
                                      std::pair{"finished_unix_ms", "milliseconds since 1970-01-01 UTC"}}) {
    const auto values = gather<std::int64_t>(std::string("/runs/") + name, false);
    if (!values) return values.errors();
    write_integers(file, std::string("/runs/") + name, *values, "", meaning, entry);
  }
  const auto hosts = gather_text("/runs/host", false, false);
  if (!hosts) return hosts.errors();
  write_text(file, "/runs/host", *hosts, "host that evaluated the point", entry);
  return success();
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
