// The data of a report: JSON with a column after the other. Settings and texts are lists of their distinct values with
// an index per row; numbers stand by themselves. Columns without a value are left out. src/pages/web/report.js reads
// it.
#include "tenex/pages/report.hpp"

#include <map>
#include <optional>
#include <utility>

#include "pages/html.hpp"

namespace tenex {
namespace {

void add_value(JsonText& json, const ReportCell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell))
    json.integer(*number);
  else if (const auto* real = std::get_if<double>(&cell))
    json.real(*real);
  else if (const auto* text = std::get_if<std::string>(&cell))
    json.text(*text);
  else
    json.null();
}

/// Distinct values, whether each is a default, and the index of each row's.
void add_listed(JsonText& json, const ReportContent& content, std::size_t column,
                const std::vector<ReportCell>& cells) {
  std::map<std::pair<ReportCell, bool>, std::size_t> index_of;
  std::vector<std::pair<ReportCell, bool>> values;
  std::vector<std::size_t> index;
  for (std::size_t row = 0; row < cells.size(); ++row) {
    const bool plain = cells[row].index() != 0 && content.is_default(column, row);
    const auto [found, added] = index_of.try_emplace({cells[row], plain}, values.size());
    if (added) values.push_back(found->first);
    index.push_back(found->second);
  }
  json.key("values").begin_array();
  for (const auto& value : values) add_value(json, value.first);
  json.end_array().key("plain").begin_array();
  for (const auto& value : values) json.integer(value.second ? 1 : 0);
  json.end_array();
  if (values.size() > 1) json.list("index", index);
}

void add_column(JsonText& json, const ReportContent& content, std::size_t column) {
  std::vector<ReportCell> cells;
  bool any = false;
  bool texts = false;
  for (std::size_t row = 0; row < content.rows; ++row) {
    cells.push_back(content.cell(column, row));
    any = any || cells.back().index() != 0;
    texts = texts || std::holds_alternative<std::string>(cells.back());
  }
  if (!any) return;
  const auto& facts = content.columns[column];
  json.begin_object()
      .member("name", facts.name)
      .member("short", facts.short_name)
      .member("units", facts.units)
      .member("source", facts.source)
      .member("meaning", facts.meaning)
      .member("answer", facts.answer)
      .member("tabled", facts.tabled)
      .key("real")
      .truth(facts.real)
      .key("percent")
      .truth(facts.percent)
      .key("memory")
      .truth(facts.memory)
      .key("maximize")
      .truth(facts.maximize);
  const bool keys = facts.source == "key";
  if ((facts.source != "metric" || texts) && !keys) {
    add_listed(json, content, column, cells);
  } else {
    json.key("cells").begin_array();
    for (const auto& cell : cells) add_value(json, cell);
    json.end_array();
  }
  json.end_object();
}

void add_pairs(JsonText& json, std::string_view name, const std::vector<std::pair<std::string, std::string>>& pairs) {
  json.key(name).begin_array();
  for (const auto& [key, value] : pairs) json.begin_array().text(key).text(value).end_array();
  json.end_array();
}

/// Texts of rows, of which many are equal.
void add_texts(JsonText& json, std::string_view name, std::size_t rows,
               const std::function<std::string(std::size_t)>& text_of) {
  std::map<std::string, std::size_t> index_of;
  std::vector<std::size_t> index;
  std::vector<std::string> values;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto [found, added] = index_of.try_emplace(text_of(row), values.size());
    if (added) values.push_back(found->first);
    index.push_back(found->second);
  }
  json.key(name).begin_object().key("values").begin_array();
  for (const auto& value : values) json.text(value);
  json.end_array().list("index", index).end_object();
}

}  // namespace

Result<std::string> report_page(const ReportContent& content) {
  JsonText json;
  json.begin_object().member("title", content.title);
  add_pairs(json, "asked", content.asked);
  add_pairs(json, "run", content.run);
  json.member("study", content.study).member("rows", static_cast<std::int64_t>(content.rows));
  json.member("all_rows", static_cast<std::int64_t>(content.all_rows));
  json.key("front").begin_array();
  for (const auto name : content.front) json.text(name);
  json.end_array();
  add_texts(json, "limited_by", content.rows, content.limited_by);
  add_texts(json, "bound_meaning", content.rows, content.bound_meaning);
  json.key("columns").begin_array();
  for (std::size_t column = 0; column < content.columns.size(); ++column) add_column(json, content, column);
  json.end_array().end_object();
  return page_of({content.title, {"common.js", "rows.js", "charts.js", "report.js"}, "report.html", json.str()});
}

}  // namespace tenex
