#include "store/result_columns.hpp"

#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "store/folder_layout.hpp"
#include "tenex/design/design_point.hpp"

namespace tenex::store {
namespace {

template <class Column>
std::string path_of(const Column& column) {
  return "/" + std::string(column.name);
}

/// Writes CF flag attributes. Meanings are separated by blanks, so an empty one is spelled "absent".
void write_flags(ColumnFileWriter& file, const std::string& path, const MetricColumn& column) {
  std::vector<std::int8_t> values;
  std::string meanings;
  for (const auto flag : column.flags) {
    values.push_back(static_cast<std::int8_t>(values.size()));
    meanings += (meanings.empty() ? "" : " ") + (flag.empty() ? std::string("absent") : std::string(flag));
  }
  file.set_attribute(path, "flag_values", std::span<const std::int8_t>(values));
  file.set_attribute(path, "flag_meanings", meanings);
}

/// Seconds for plots, beside the exact picoseconds. NaN where absent.
std::vector<double> in_seconds(std::span<const std::int64_t> picoseconds) {
  std::vector<double> seconds(picoseconds.size());
  for (std::size_t i = 0; i < seconds.size(); ++i)
    seconds[i] =
        picoseconds[i] < 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(picoseconds[i]) / 1e12;
  return seconds;
}

/// Writes a column of any kind. Texts have no unit.
template <class Values>
void write_column(ColumnFileWriter& file, const std::string& path, const Values& values, std::string_view units,
                  std::string_view meaning, std::size_t dimensions) {
  if constexpr (std::is_same_v<Values, PackedTexts>) {
    write_text(file, path, values, meaning);
  } else if constexpr (std::is_same_v<Values, PackedLists>) {
    file.write(path, values.unpacked(dimensions));
    describe(file, path, units, meaning);
    file.attach_dimension(path, kDimension, 1);
  } else if constexpr (requires { values.unpacked(); }) {
    write_column(file, path, values.unpacked(), units, meaning, dimensions);
  } else {
    file.write(path, std::span(values));
    describe(file, path, units, meaning);
  }
}

template <class... Kinds>
void write_column(ColumnFileWriter& file, const std::string& path, const std::variant<Kinds...>& values,
                  std::string_view units, std::string_view meaning, std::size_t dimensions) {
  std::visit([&](const auto& column) { write_column(file, path, column, units, meaning, dimensions); }, values);
}

/// Makes a group and its dimension `entry`: 0, 1, 2, ...; returns the path of that dimension.
std::string begin_group(ColumnFileWriter& file, const std::string& group, std::size_t entries) {
  file.add_group(group);
  auto path = group + "/entry";
  std::vector<std::int64_t> numbers(entries);
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  file.write(path, std::span<const std::int64_t>(numbers));
  file.make_dimension(path, "entry");
  return path;
}

}  // namespace

void write_attributes(ColumnFileWriter& file) {
  file.set_attribute("/", "Conventions", "CF-1.8");
  file.set_attribute("/", "kind", "tenex result");
  file.set_attribute("/", "schema", kResultSchema);
  file.set_attribute("/", "physics", physics_version);
}

void begin_rows(ColumnFileWriter& file, const ResultRows& rows) {
  file.write(kPoint, std::span(rows.points));
  file.make_dimension(kPoint, "point");
  file.set_attribute(kPoint, "long_name", "index in " + rows.where);
}

void write_metric(ColumnFileWriter& file, const MetricColumn& metric, const GatheredColumn& values,
                  std::size_t dimensions) {
  const auto path = path_of(metric);
  if (metric.in_seconds)
    write_column(file, path.substr(0, path.size() - 2) + "seconds",
                 in_seconds(std::get<std::vector<std::int64_t>>(values)), "s", metric.meaning, dimensions);
  write_column(file, path, values, metric.units, metric.meaning, dimensions);
  if (metric.kind == MetricColumn::Kind::flags) write_flags(file, path, metric);
}

void write_setting(ColumnFileWriter& file, const SettingColumn& setting, const GatheredColumn& values,
                   std::size_t dimensions) {
  write_column(file, path_of(setting), values, setting.units, "", dimensions);
}

void write_setting(ColumnFileWriter& file, const SettingColumn& setting, const SettingColumns::Values& values,
                   std::size_t dimensions) {
  write_column(file, path_of(setting), values, setting.units, "", dimensions);
}

void describe(ColumnFileWriter& file, const std::string& path, std::string_view units, std::string_view meaning,
              const std::string& dimension) {
  file.attach_dimension(path, dimension);
  if (!units.empty()) file.set_attribute(path, "units", units);
  if (!meaning.empty()) file.set_attribute(path, "long_name", meaning);
}

void write_text(ColumnFileWriter& file, const std::string& path, std::size_t width, std::size_t rows,
                const std::function<void(std::size_t first, TextColumn& part)>& fill, std::string_view meaning,
                const std::string& dimension) {
  const auto characters = path + "_characters";
  file.write_characters(path, width, rows, fill);
  file.set_attribute(path, "_Encoding", "utf-8");
  describe(file, path, "", meaning, dimension);
  file.add_dimension(characters, width);  // its own: a copy with other texts has another width
  file.attach_dimension(path, characters, 1);
}

void write_text(ColumnFileWriter& file, const std::string& path, const PackedTexts& values, std::string_view meaning,
                const std::string& dimension) {
  const auto fill = [&](std::size_t first, TextColumn& part) {
    for (std::size_t i = 0; i < part.rows(); ++i) part.set(i, values.at(first + i));
  };
  write_text(file, path, values.width(), values.rows(), fill, meaning, dimension);
}

void write_integers(ColumnFileWriter& file, const std::string& path, const std::vector<std::int64_t>& values,
                    std::string_view units, std::string_view meaning, const std::string& dimension) {
  file.write(path, std::span<const std::int64_t>(values));
  describe(file, path, units, meaning, dimension);
}

void begin_dimensions(ColumnFileWriter& file, std::size_t dimensions) {
  std::vector<std::int64_t> numbers(dimensions);
  std::iota(numbers.begin(), numbers.end(), std::int64_t{1});
  file.write(kDimension, std::span<const std::int64_t>(numbers));
  file.make_dimension(kDimension, "dimension");
  file.set_attribute(kDimension, "long_name", "dimension of a product or level of a family, the first is 1");
}

Status write_ragged(ColumnFileWriter& file, const Ragged& ragged, const ResultRows& rows,
                    const std::vector<std::int64_t>& counts,
                    const std::function<Result<std::vector<std::int64_t>>(
                        const Ragged::Part& part, const std::vector<std::int64_t>& offsets)>& values_of) {
  std::vector<std::int64_t> offsets(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), offsets.begin() + 1);
  const std::string group = ragged.group;
  write_integers(file, ragged.offset, {offsets.begin(), offsets.end() - 1}, "", "first entry of the point in " + group);
  write_integers(file, ragged.count, counts, "", "entries of the point in " + group);
  const auto entry = begin_group(file, group, static_cast<std::size_t>(offsets.back()));
  std::vector<std::int64_t> points;
  points.reserve(static_cast<std::size_t>(offsets.back()));
  for (std::size_t row = 0; row < counts.size(); ++row)
    points.insert(points.end(), static_cast<std::size_t>(counts[row]), rows.points[row]);
  write_integers(file, group + "/point", points, "", "index of the point in " + rows.where, entry);
  points = {};
  for (const auto& part : ragged.parts) {
    const auto values = values_of(part, offsets);
    if (!values) return values.errors();
    write_integers(file, group + "/" + part.name, *values, part.units, part.meaning, entry);
  }
  return success();
}

Status write_runs(ColumnFileWriter& file, const ResultRows& rows,
                  const std::function<Result<std::vector<std::int64_t>>(const std::string& name)>& numbers,
                  const Result<PackedTexts>& hosts) {
  const auto entry = begin_group(file, "/runs", rows.points.size());
  write_integers(file, "/runs/point", rows.points, "", "index of the point in " + rows.where, entry);
  for (const auto& [name, meaning] : {std::pair{"rank", "rank that evaluated the point"},
                                      std::pair{"incarnation", "run of the folder, counted from 1"},
                                      std::pair{"finished_unix_ms", "milliseconds since 1970-01-01 UTC"}}) {
    const auto values = numbers(name);
    if (!values) return values.errors();
    write_integers(file, std::string("/runs/") + name, *values, "", meaning, entry);
  }
  if (!hosts) return hosts.errors();
  write_text(file, "/runs/host", *hosts, "host that evaluated the point", entry);
  return success();
}

}  // namespace tenex::store
