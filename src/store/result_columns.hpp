// Writes the attributes of a merged result, and its variables with their unit, meaning and dimension.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "store/packed_columns.hpp"
#include "store/ragged_groups.hpp"
#include "store/setting_columns.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/design/setting.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex::store {

/// The dimension "rows" in the root group.
inline constexpr const char* kPoint = "/point";
/// The dimension "dimensions of a topology", 1, 2, ...: the columns of lists have it.
inline constexpr const char* kDimension = "/dimension";

/// The meanings of columns that are neither settings nor metrics.
inline constexpr const char* kCanonicalMeaning = "the point: sorted name=value lines in integer SI units";
inline constexpr const char* kKeyMeaning = "XXH3-128 of the canonical text";
inline constexpr const char* kSeedMeaning = "seed of the point (a two's complement reading of 64 bits)";

/// Attaches a variable to its dimension, and gives it its unit and meaning where it has one.
void describe(ColumnFileWriter& file, const std::string& path, std::string_view units, std::string_view meaning,
              const std::string& dimension = kPoint);
void write_text(ColumnFileWriter& file, const std::string& path, const PackedTexts& values, std::string_view meaning,
                const std::string& dimension = kPoint);
/// The same for texts made piece by piece, as ColumnFileWriter::write_text() asks for them.
void write_text(ColumnFileWriter& file, const std::string& path, std::size_t width, std::size_t rows,
                const std::function<void(std::size_t first, TextColumn& part)>& fill, std::string_view meaning,
                const std::string& dimension = kPoint);
void write_integers(ColumnFileWriter& file, const std::string& path, const std::vector<std::int64_t>& values,
                    std::string_view units, std::string_view meaning, const std::string& dimension = kPoint);

/// Writes the attributes of the root group that all results have alike.
void write_attributes(ColumnFileWriter& file);

/// The rows of a result as its variables `point` name them.
struct ResultRows {
  std::vector<std::int64_t> points;
  std::string where;  ///< what the points are indices in: "the study", "this file"
};
/// Makes the dimension of rows. Called before any column of rows is written.
void begin_rows(ColumnFileWriter& file, const ResultRows& rows);
/// Makes the dimension of lists. Called once, before the first list is written.
void begin_dimensions(ColumnFileWriter& file, std::size_t dimensions);
/// A column of a result, gathered from the rows of many files.
using GatheredColumn =
    std::variant<std::vector<std::int8_t>, std::vector<std::int64_t>, std::vector<double>, PackedTexts, PackedLists>;

/// Writes a metric's column with all its attributes: flags with their meanings, times of whole points also in seconds.
void write_metric(ColumnFileWriter& file, const MetricColumn& metric, const GatheredColumn& values,
                  std::size_t dimensions);
/// Writes a setting's column. Lists are as wide as there are dimensions.
void write_setting(ColumnFileWriter& file, const SettingColumn& setting, const GatheredColumn& values,
                   std::size_t dimensions);
void write_setting(ColumnFileWriter& file, const SettingColumn& setting, const SettingColumns::Values& values,
                   std::size_t dimensions);

/// Writes a group of entries. `counts` are those of the rows; `values_of` gives a part's entries, where `offsets` are
/// the first of each row, and the end. Errors: those of `values_of`.
[[nodiscard]] Status write_ragged(ColumnFileWriter& file, const Ragged& ragged, const ResultRows& rows,
                                  const std::vector<std::int64_t>& counts,
                                  const std::function<Result<std::vector<std::int64_t>>(
                                      const Ragged::Part& part, const std::vector<std::int64_t>& offsets)>& values_of);
/// Writes the group /runs. `numbers` gives its numbers by their names in the group. Errors: those of `numbers` and
/// `hosts`.
[[nodiscard]] Status write_runs(
    ColumnFileWriter& file, const ResultRows& rows,
    const std::function<Result<std::vector<std::int64_t>>(const std::string& name)>& numbers,
    const Result<PackedTexts>& hosts);

}  // namespace tenex::store
