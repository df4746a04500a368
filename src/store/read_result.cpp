// Reads a merged result.
#include <fmt/core.h>

#include "store/open_result.hpp"
#include "store/ragged_groups.hpp"
#include "store/shard.hpp"
#include "tenex/files/column_file.hpp"
#include "tenex/store/store.hpp"

namespace tenex {
namespace {

Result<std::vector<std::string>> read_texts(const ColumnFileReader& reader, const std::string& path, std::size_t rows) {
  const auto column = reader.read_text(path);
  if (!column) return column.errors();
  if (column->rows() != rows)
    return environment_error(fmt::format("\"{}\" has {} rows", path, column->rows()),
                             fmt::format("{} are expected", rows));
  std::vector<std::string> texts;
  texts.reserve(rows);
  for (std::size_t i = 0; i < rows; ++i) texts.emplace_back(column->at(i));
  return texts;
}

/// Adds a column's values to the rows.
template <class Values>
Status add_setting(const Result<Values>& values, ResultTable& table) {
  if (!values) return values.errors();
  for (std::size_t i = 0; i < table.rows.size(); ++i) table.settings[i].push_back(cell_text((*values)[i]));
  return success();
}

Result<std::vector<std::vector<std::int64_t>>> read_list_setting(const ColumnFileReader& reader,
                                                                 const std::string& path, std::size_t rows) {
  const auto lists = store::read_lists(reader, path);
  if (!lists) return lists.errors();
  if (lists->rows() != rows)
    return environment_error(fmt::format("\"{}\" has {} rows", path, lists->rows()),
                             fmt::format("{} are expected", rows));
  std::vector<std::vector<std::int64_t>> values;
  for (std::size_t i = 0; i < rows; ++i) values.emplace_back(lists->at(i).begin(), lists->at(i).end());
  return values;
}

Status read_settings(const ColumnFileReader& reader, ResultTable& table) {
  const auto rows = table.rows.size();
  table.settings.resize(rows);
  for (const auto& setting : setting_columns()) {
    const auto path = "/" + std::string(setting.name);
    Status status = success();
    const auto absent = reader.has(path) ? std::nullopt : cell_without(setting);
    if (absent) {  // no point of the study trains, or the file is older than the key
      for (auto& row : table.settings) row.push_back(cell_text(*absent));
    } else if (setting.kind == SettingColumn::Kind::integer) {
      status = add_setting(store::read_numbers<std::int64_t>(reader, path, rows), table);
    } else if (setting.kind == SettingColumn::Kind::real) {
      status = add_setting(store::read_numbers<double>(reader, path, rows), table);
    } else if (setting.kind == SettingColumn::Kind::list) {
      status = add_setting(read_list_setting(reader, path, rows), table);
    } else {
      status = add_setting(read_texts(reader, path, rows), table);
    }
    if (!status) return status;
  }
  return success();
}

}  // namespace

Result<ResultTable> read_result(const std::filesystem::path& file) {
  const auto reader = store::open_result(file);
  if (!reader) return reader.errors();
  const auto name = file.string();
  ResultTable table;
  auto points = reader->read<std::int64_t>("/point");
  if (!points) return points.errors();
  table.point = std::move(points).value();
  table.rows.resize(table.point.size());
  auto keys = read_texts(*reader, "/key", table.rows.size());
  if (!keys) return keys.errors();
  table.key = std::move(keys).value();
  if (auto status = read_settings(*reader, table); !status) return status.errors();
  if (auto status = store::read_metrics(*reader, name, "/", table.rows); !status) return status.errors();
  const auto read = [&](const store::Ragged& ragged, const store::Ragged::Part& part) {
    return store::read_ragged(*reader, "", ragged, part, table.rows.size());
  };
  if (auto status = store::set_entries(table.rows, read); !status) return status.errors();
  return table;
}

}  // namespace tenex
