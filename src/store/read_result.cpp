// Reads a merged result.
#include <fmt/core.h>

#include "store/open_result.hpp"
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

/// Where the entries of each row lie in a ragged group; checked against the group's length.
struct Ragged {
  std::vector<std::int64_t> offset;
  std::vector<std::int64_t> count;
};

Result<Ragged> read_offsets(const ColumnFileReader& reader, const std::string& name, std::size_t rows,
                            std::size_t entries) {
  auto offset = reader.read<std::int64_t>("/" + name + "_offset", 0, rows);
  if (!offset) return offset.errors();
  auto count = reader.read<std::int64_t>("/" + name + "_count", 0, rows);
  if (!count) return count.errors();
  const auto limit = static_cast<std::int64_t>(entries);
  for (std::size_t i = 0; i < rows; ++i)
    if ((*offset)[i] < 0 || (*count)[i] < 0 || (*offset)[i] > limit || (*count)[i] > limit - (*offset)[i])
      return environment_error(fmt::format("the entries of row {} in /{}s do not exist", i, name));
  return Ragged{std::move(offset).value(), std::move(count).value()};
}

Status read_groups(const ColumnFileReader& reader, ResultTable& table) {
  const auto times = reader.read<std::int64_t>("/groups/time_ps");
  if (!times) return times.errors();
  const auto ragged = read_offsets(reader, "group", table.rows.size(), times->size());
  if (!ragged) return ragged.errors();
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto first = times->begin() + ragged->offset[i];
    table.rows[i].group_times_ps.assign(first, first + ragged->count[i]);
  }
  return success();
}

Status read_links(const ColumnFileReader& reader, ResultTable& table) {
  const auto bytes = reader.read<std::int64_t>("/links/bytes");
  if (!bytes) return bytes.errors();
  const auto busy = reader.read<std::int64_t>("/links/busy_ps", 0, bytes->size());
  if (!busy) return busy.errors();
  const auto ragged = read_offsets(reader, "link", table.rows.size(), bytes->size());
  if (!ragged) return ragged.errors();
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    for (std::int64_t n = 0; n < ragged->count[i]; ++n) {
      const auto entry = static_cast<std::size_t>(ragged->offset[i] + n);
      table.rows[i].link_loads.push_back({Bytes::of((*bytes)[entry]), SimTime::of((*busy)[entry])});
    }
  return success();
}

Status read_utilization(const ColumnFileReader& reader, ResultTable& table) {
  const auto busy = reader.read<std::int64_t>("/utilization/busy_ps");
  if (!busy) return busy.errors();
  const auto width = reader.read<std::int64_t>("/utilization/width_ps", 0, busy->size());
  if (!width) return width.errors();
  const auto ragged = read_offsets(reader, "bin", table.rows.size(), busy->size());
  if (!ragged) return ragged.errors();
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (ragged->count[i] == 0) continue;
    const auto first = busy->begin() + ragged->offset[i];
    table.rows[i].utilization_ps.assign(first, first + ragged->count[i]);
    table.rows[i].utilization_bin_ps = (*width)[static_cast<std::size_t>(ragged->offset[i])];
  }
  return success();
}

Status read_arrivals(const ColumnFileReader& reader, ResultTable& table) {
  const auto times = reader.read<std::int64_t>("/arrivals/time_ps");
  if (!times) return times.errors();
  const auto npus = reader.read<std::int64_t>("/arrivals/npu", 0, times->size());
  if (!npus) return npus.errors();
  const auto chunks = reader.read<std::int64_t>("/arrivals/chunk", 0, times->size());
  if (!chunks) return chunks.errors();
  const auto ragged = read_offsets(reader, "arrival", table.rows.size(), times->size());
  if (!ragged) return ragged.errors();
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    for (std::int64_t n = 0; n < ragged->count[i]; ++n) {
      const auto entry = static_cast<std::size_t>(ragged->offset[i] + n);
      table.rows[i].arrivals.push_back({SimTime::of((*times)[entry]), NpuId(static_cast<std::uint32_t>((*npus)[entry])),
                                        ChunkId(static_cast<std::uint32_t>((*chunks)[entry]))});
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
  if (auto status = read_groups(*reader, table); !status) return status.errors();
  if (auto status = read_links(*reader, table); !status) return status.errors();
  if (auto status = read_utilization(*reader, table); !status) return status.errors();
  if (auto status = read_arrivals(*reader, table); !status) return status.errors();
  return table;
}

}  // namespace tenex
