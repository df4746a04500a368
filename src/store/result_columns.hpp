// How the variables of a merged result are written: with their unit, meaning and dimension. Private to this room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/packed_columns.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex::store {

/// The dimension of the root group.
inline constexpr const char* kPoint = "/point";

/// Marks a variable: along its dimension, with its unit and meaning where it has one.
void describe(ColumnFileWriter& file, const std::string& path, std::string_view units, std::string_view meaning,
              const std::string& dimension = kPoint);
/// The same of a variable of texts.
void describe_text(ColumnFileWriter& file, const std::string& path, std::string_view meaning,
                   const std::string& dimension = kPoint);
void write_text(ColumnFileWriter& file, const std::string& path, const PackedTexts& values, std::string_view meaning,
                const std::string& dimension = kPoint);
void write_integers(ColumnFileWriter& file, const std::string& path, const std::vector<std::int64_t>& values,
                    std::string_view units, std::string_view meaning, const std::string& dimension = kPoint);
/// A metric's column with all its attributes; flags with their meanings, times of whole points also in seconds.
void write_metric(ColumnFileWriter& file, const MetricColumn& column, std::span<const double> values);
void write_metric(ColumnFileWriter& file, const MetricColumn& column, std::span<const std::int8_t> values);
void write_metric(ColumnFileWriter& file, const MetricColumn& column, std::span<const std::int64_t> values);
/// Makes a group with its dimension `entry`: 0, 1, 2, ...; returns the path of that.
std::string begin_group(ColumnFileWriter& file, const std::string& group, std::size_t entries);
/// Where the entries of each row begin, with the total at the end.
[[nodiscard]] std::vector<std::int64_t> offsets_of(const std::vector<std::int64_t>& counts);

}  // namespace tenex::store
