// Writes the variables of a merged result with their unit, meaning and dimension.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/packed_columns.hpp"
#include "tenex/design/setting.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex::store {

/// The dimension "rows" in the root group.
inline constexpr const char* kPoint = "/point";
/// The dimension "dimensions of a topology", 1, 2, ...: the columns of lists have it.
inline constexpr const char* kDimension = "/dimension";

/// Attaches a variable to its dimension, and gives it its unit and meaning where it has one.
void describe(ColumnFileWriter& file, const std::string& path, std::string_view units, std::string_view meaning,
              const std::string& dimension = kPoint);
/// The same for a variable of texts.
void describe_text(ColumnFileWriter& file, const std::string& path, std::string_view meaning,
                   const std::string& dimension = kPoint);
void write_text(ColumnFileWriter& file, const std::string& path, const PackedTexts& values, std::string_view meaning,
                const std::string& dimension = kPoint);
void write_integers(ColumnFileWriter& file, const std::string& path, const std::vector<std::int64_t>& values,
                    std::string_view units, std::string_view meaning, const std::string& dimension = kPoint);
/// Makes the dimension of lists. Called once, before the first list is written.
void begin_dimensions(ColumnFileWriter& file, std::size_t dimensions);
/// Writes a column of lists, each as wide as there are dimensions.
void write_lists(ColumnFileWriter& file, const std::string& path, const ListColumn& values, std::string_view units,
                 std::string_view meaning);
/// Writes a metric's column with all its attributes: flags with their meanings, times of whole points also in seconds.
void write_metric(ColumnFileWriter& file, const MetricColumn& column, std::span<const double> values);
void write_metric(ColumnFileWriter& file, const MetricColumn& column, std::span<const std::int8_t> values);
void write_metric(ColumnFileWriter& file, const MetricColumn& column, std::span<const std::int64_t> values);
/// The same for a setting.
void write_setting(ColumnFileWriter& file, const SettingColumn& setting, std::span<const std::int64_t> values);
void write_setting(ColumnFileWriter& file, const SettingColumn& setting, std::span<const double> values);
void write_setting(ColumnFileWriter& file, const SettingColumn& setting, const ListColumn& values);
void write_setting(ColumnFileWriter& file, const SettingColumn& setting, const PackedTexts& values);
/// Makes a group and its dimension `entry`: 0, 1, 2, ...; returns the path of that dimension.
std::string begin_group(ColumnFileWriter& file, const std::string& group, std::size_t entries);
/// Where the entries of each row begin, with the total at the end.
[[nodiscard]] std::vector<std::int64_t> offsets_of(const std::vector<std::int64_t>& counts);

}  // namespace tenex::store
