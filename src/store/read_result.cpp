// Reads a merged result.
#include "store/column_kinds.hpp"
#include "store/open_result.hpp"
#include "store/ragged_groups.hpp"
#include "store/shard.hpp"
#include "tenex/files/column_file.hpp"
#include "tenex/store/store.hpp"

namespace tenex {
namespace {

/// Adds a column's values to the rows.
template <class Column>
Status add_setting(const ColumnFileReader& reader, const std::string& path, ResultTable& table) {
  const auto values = store::read_column<Column>(reader, path, table.rows.size());
  if (!values) return values.errors();
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    table.settings[i].push_back(cell_text(store::kept(store::cell_at(*values, i))));
  return success();
}

Status read_settings(const ColumnFileReader& reader, ResultTable& table) {
  table.settings.resize(table.rows.size());
  for (const auto& setting : setting_columns()) {
    const auto path = "/" + std::string(setting.name);
    const auto absent = reader.has(path) ? std::nullopt : cell_without(setting);
    if (absent) {  // no point of the study trains, or the file is older than the key
      for (auto& row : table.settings) row.push_back(cell_text(*absent));
      continue;
    }
    const auto status = store::with_type_of(store::kind_of(setting),
                                            [&]<class Column>() { return add_setting<Column>(reader, path, table); });
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
  const auto keys = store::read_column<TextColumn>(*reader, "/key", table.rows.size());
  if (!keys) return keys.errors();
  for (std::size_t i = 0; i < table.rows.size(); ++i) table.key.emplace_back(keys->at(i));
  auto seeds = store::read_numbers<std::int64_t>(*reader, "/seed", table.rows.size());
  if (!seeds) return seeds.errors();
  table.seed = std::move(seeds).value();
  if (auto status = read_settings(*reader, table); !status) return status.errors();
  if (auto status = store::read_metrics(*reader, name, "/", table.rows); !status) return status.errors();
  if (reader->has("/pareto")) {
    auto front = store::read_numbers<std::int8_t>(*reader, "/pareto", table.rows.size());
    if (!front) return front.errors();
    table.pareto = std::move(front).value();
  }
  const auto read = [&](const store::Ragged& ragged, const store::Ragged::Part& part) {
    return store::read_ragged(*reader, "", ragged, part, table.rows.size());
  };
  if (auto status = store::set_entries(table.rows, read); !status) return status.errors();
  return table;
}

}  // namespace tenex
