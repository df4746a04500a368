// Opens files of results of any schema: their columns then have the names and kinds of today.
//
// Schema 1 had other names for some columns (SettingColumn::former, MetricColumn::former). It had text where there are
// numbers now: lists such as "500000" or "4:2:1", where one number stood for all dimensions; rates; millionths of a
// dollar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex::store {

/// Opens a merged result. Errors: unreadable or damaged (environment); not a result of tenex, or a newer schema
/// (input).
[[nodiscard]] Result<ColumnFileReader> open_result(const std::filesystem::path& path);
/// A column of whole numbers per dimension. Errors: as ColumnFileReader::read().
[[nodiscard]] Result<ListColumn> read_lists(const ColumnFileReader& file, const std::string& path);
/// The first `rows` elements of a column of numbers. Errors: as ColumnFileReader::read().
template <class T>
[[nodiscard]] Result<std::vector<T>> read_numbers(const ColumnFileReader& file, const std::string& path,
                                                  std::size_t rows);
/// The number of dimensions of the topology that has the most, at least 1. Errors: as ColumnFileReader::read().
[[nodiscard]] Result<std::size_t> count_dimensions(const ColumnFileReader& file);

}  // namespace tenex::store
