#include "store/result_columns.hpp"

#include <limits>
#include <numeric>
#include <span>

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

template <class T>
void write_values(ColumnFileWriter& file, const MetricColumn& column, std::span<const T> values) {
  file.write(path_of(column), values);
  describe(file, path_of(column), column.units, column.meaning);
}

}  // namespace

void write_metric(ColumnFileWriter& file, const MetricColumn& column, std::span<const double> values) {
  write_values(file, column, values);
}

void write_metric(ColumnFileWriter& file, const MetricColumn& column, std::span<const std::int8_t> values) {
  write_values(file, column, values);
  write_flags(file, path_of(column), column);
}

void write_metric(ColumnFileWriter& file, const MetricColumn& column, std::span<const std::int64_t> values) {
  if (column.name == "collective_time_ps" || column.name == "training_time_ps" || column.name == "bound_ps") {
    const auto path = path_of(column).substr(0, column.name.size() + 1 - 2) + "seconds";
    const auto seconds = in_seconds(values);
    file.write(path, std::span<const double>(seconds));
    describe(file, path, "s", column.meaning);
  }
  write_values(file, column, values);
}

void describe(ColumnFileWriter& file, const std::string& path, std::string_view units, std::string_view meaning,
              const std::string& dimension) {
  file.attach_dimension(path, dimension);
  if (!units.empty()) file.set_attribute(path, "units", units);
  if (!meaning.empty()) file.set_attribute(path, "long_name", meaning);
}

void describe_text(ColumnFileWriter& file, const std::string& path, std::string_view meaning,
                   const std::string& dimension) {
  file.set_attribute(path, "_Encoding", "utf-8");
  describe(file, path, "", meaning, dimension);
}

void write_text(ColumnFileWriter& file, const std::string& path, const PackedTexts& values, std::string_view meaning,
                const std::string& dimension) {
  file.write_text(path, values.width(), values.rows(), [&](std::size_t first, TextColumn& part) {
    for (std::size_t i = 0; i < part.rows(); ++i) part.set(i, values.at(first + i));
  });
  describe_text(file, path, meaning, dimension);
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
  file.set_attribute(kDimension, "long_name", "dimension of the topology, the first is 1");
}

void write_lists(ColumnFileWriter& file, const std::string& path, const ListColumn& values, std::string_view units,
                 std::string_view meaning) {
  file.write(path, values);
  describe(file, path, units, meaning);
  file.attach_dimension(path, kDimension, 1);
}

void write_setting(ColumnFileWriter& file, const SettingColumn& setting, std::span<const std::int64_t> values) {
  file.write(path_of(setting), values);
  describe(file, path_of(setting), setting.units, "");
}

void write_setting(ColumnFileWriter& file, const SettingColumn& setting, std::span<const double> values) {
  file.write(path_of(setting), values);
  describe(file, path_of(setting), setting.units, "");
}

void write_setting(ColumnFileWriter& file, const SettingColumn& setting, const ListColumn& values) {
  write_lists(file, path_of(setting), values, setting.units, "");
}

void write_setting(ColumnFileWriter& file, const SettingColumn& setting, const PackedTexts& values) {
  write_text(file, path_of(setting), values, "");
}

std::string begin_group(ColumnFileWriter& file, const std::string& group, std::size_t entries) {
  file.add_group(group);
  auto path = group + "/entry";
  std::vector<std::int64_t> numbers(entries);
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  file.write(path, std::span<const std::int64_t>(numbers));
  file.make_dimension(path, "entry");
  return path;
}

std::vector<std::int64_t> offsets_of(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> offsets(counts.size() + 1, 0);
  for (std::size_t i = 0; i < counts.size(); ++i) offsets[i + 1] = offsets[i] + counts[i];
  return offsets;
}

}  // namespace tenex::store
