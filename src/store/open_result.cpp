#include "store/open_result.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "store/folder_layout.hpp"
#include "store/result_columns.hpp"
#include "tenex/base/decimal.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/topology/shape.hpp"

namespace tenex::store {
namespace {

/// Schema 1 named the column of the key `groups` beside the HDF5 group of that name.
std::string former_path(const SettingColumn& setting) {
  return "/" + std::string(setting.former == "groups" ? "process_groups" : setting.former);
}

/// Numbers separated by "," or ":"; words are skipped.
std::vector<std::int64_t> whole_numbers(std::string_view text) {
  std::vector<std::int64_t> numbers;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(",:"), text.size());
    numbers.push_back(read_number<std::int64_t>(text.substr(0, end)).value_or(-1));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return numbers;
}

/// The number of dimensions of each row's topology; 0 where the file does not say, as for a machine file.
std::vector<std::size_t> dimensions_by_row(const ColumnFileReader& file, std::size_t rows) {
  std::vector<std::size_t> dimensions(rows, 0);
  const auto topologies = file.read_text("/topology");
  if (!topologies || topologies->rows() != rows) return dimensions;
  std::map<std::string_view, std::size_t> known;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto [found, is_new] = known.emplace(topologies->at(row), 0);
    if (is_new)
      if (const auto shape = parse_shape(found->first, {})) found->second = shape->dimensions();
    dimensions[row] = found->second;
  }
  return dimensions;
}

/// Gives the columns of a result of schema 1 their names of today.
void name_columns(ColumnFileReader& file) {
  const auto schema = file.integer_attribute("/", "schema");
  if (!schema || *schema > 1) return;
  for (const auto& column : metric_columns())
    if (!column.former.empty()) file.rename("/" + std::string(column.name), "/" + std::string(column.former));
  for (const auto& setting : setting_columns())
    if (!setting.former.empty()) file.rename("/" + std::string(setting.name), former_path(setting));
}

}  // namespace

Result<ColumnFileReader> open_result(const std::filesystem::path& path) {
  auto reader = ColumnFileReader::open(path);
  if (!reader) return reader;
  if (auto status = check_file_kind(*reader, path.string(), "tenex result", kResultSchema); !status)
    return status.errors();
  name_columns(*reader);
  return reader;
}

Result<ListColumn> read_lists(const ColumnFileReader& file, const std::string& path) {
  if (!file.is_text(path)) return file.read_lists(path);
  const auto texts = file.read_text(path);
  if (!texts) return texts.errors();
  const auto dimensions = dimensions_by_row(file, texts->rows());
  std::vector<std::vector<std::int64_t>> lists;
  for (std::size_t row = 0; row < texts->rows(); ++row) {
    auto& list = lists.emplace_back(whole_numbers(texts->at(row)));
    if (list.size() == 1) list.resize(std::max<std::size_t>(1, dimensions[row]), list.front());
  }
  return ListColumn(lists);
}

template <class T>
Result<std::vector<T>> read_numbers(const ColumnFileReader& file, const std::string& path, std::size_t rows) {
  if constexpr (!std::is_same_v<T, std::int8_t>) {
    if (file.is_text(path)) {
      const auto texts = file.read_text(path);
      if (!texts) return texts.errors();
      if (texts->rows() != rows) return environment_error("a column has another length than the result", path);
      std::vector<T> numbers;
      for (std::size_t row = 0; row < rows; ++row) {
        const auto number = read_number<std::int64_t>(texts->at(row));
        if constexpr (std::is_same_v<T, double>)  // the only such column is in dollars
          numbers.push_back(number ? static_cast<double>(*number) / 1e6 : std::numeric_limits<double>::quiet_NaN());
        else
          numbers.push_back(number.value_or(-1));
      }
      return numbers;
    }
  }
  return file.read<T>(path, 0, rows);
}

template Result<std::vector<std::int8_t>> read_numbers(const ColumnFileReader&, const std::string&, std::size_t);
template Result<std::vector<std::int64_t>> read_numbers(const ColumnFileReader&, const std::string&, std::size_t);
template Result<std::vector<double>> read_numbers(const ColumnFileReader&, const std::string&, std::size_t);

Result<std::size_t> count_dimensions(const ColumnFileReader& file) {
  if (file.has(kDimension)) return file.rows(kDimension);
  const auto rows = file.rows(kPoint);
  if (!rows) return rows;
  const auto dimensions = dimensions_by_row(file, *rows);
  return dimensions.empty() ? 1 : std::max<std::size_t>(1, *std::ranges::max_element(dimensions));
}

}  // namespace tenex::store
