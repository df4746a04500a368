// The settings of a point as result columns.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "design/settings/entry.hpp"
#include "tenex/design/design_point.hpp"

namespace tenex {

namespace {

using Kind = SettingColumn::Kind;

const Setting& setting_in(std::string_view column) {
  for (const Setting& setting : settings())
    if (!column.empty() && setting.column.name == column) return setting;
  throw InvariantError(fmt::format("no setting has a column \"{}\"", column));
}

}  // namespace

SettingCell absent_cell(Kind kind) {
  switch (kind) {
    case Kind::integer:
      return std::int64_t{-1};
    case Kind::real:
      return std::numeric_limits<double>::quiet_NaN();
    case Kind::list:
      return std::vector<std::int64_t>();
    case Kind::text:
    case Kind::none:
      break;
  }
  return std::string();
}

std::optional<SettingCell> cell_without(const SettingColumn& column) {
  if (column.training) return absent_cell(column.kind);
  if (!column.has_default) return std::nullopt;
  return setting_cell(DesignPoint(), column.name);
}

bool is_default_text(const SettingColumn& column, std::string_view text) {
  return column.has_default &&
         (text == setting_in(column.name).fallback || text == cell_text(setting_cell(DesignPoint(), column.name)));
}

std::string cell_text(const SettingCell& cell) {
  return std::visit(
      [](const auto& value) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::vector<std::int64_t>>)
          return fmt::format("{}", fmt::join(value, ","));
        else
          return fmt::format("{}", value);
      },
      cell);
}

const std::vector<SettingColumn>& setting_columns() {
  static const std::vector<SettingColumn> table = [] {
    std::vector<SettingColumn> list;
    for (const Setting& setting : settings())
      if (setting.column.kind != Kind::none) list.push_back(setting.column);
    return list;
  }();
  return table;
}

const SettingColumn* find_setting_column(std::string_view name) {
  const auto& table = settings();
  const auto found = std::ranges::find_if(table, [&](const Setting& setting) {
    return setting.column.kind != Kind::none &&
           (setting.name == name || setting.column.name == name || setting.column.former == name);
  });
  return found == table.end() ? nullptr : &found->column;
}

SettingCell setting_cell(const DesignPoint& point, std::string_view column) {
  const Setting& setting = setting_in(column);
  const PointView view = view_of(point);
  switch (setting.column.kind) {
    case Kind::integer:
      return setting.integer(view);
    case Kind::real:
      return setting.real(view);
    case Kind::list:
      return setting.list(view);
    case Kind::text:
    case Kind::none:
      break;
  }
  return setting.text(view);
}

std::string text_setting(const DesignPoint& point, std::string_view column) {
  const Setting& setting = setting_in(column);
  ensure(setting.text != nullptr, "the column of a setting is of another kind");
  return setting.text(view_of(point));
}

}  // namespace tenex
