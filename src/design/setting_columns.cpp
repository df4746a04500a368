// The settings of a point as result columns.
#include <string>
#include <vector>

#include <fmt/core.h>

#include "design/settings/entry.hpp"
#include "tenex/design/design_point.hpp"

namespace tenex {

namespace {

const Setting& setting_in(std::string_view column, SettingColumn::Kind kind) {
  for (const Setting& setting : settings())
    if (!column.empty() && setting.column.name == column) {
      ensure(setting.column.kind == kind, "the column of a setting is of the other kind");
      return setting;
    }
  throw InvariantError(fmt::format("no setting has a column \"{}\"", column));
}

}  // namespace

const std::vector<SettingColumn>& setting_columns() {
  static const std::vector<SettingColumn> table = [] {
    std::vector<SettingColumn> list;
    for (const Setting& setting : settings())
      if (!setting.column.name.empty()) list.push_back(setting.column);
    return list;
  }();
  return table;
}

std::string text_setting(const DesignPoint& point, std::string_view column) {
  return setting_in(column, SettingColumn::Kind::text).text(view_of(point));
}

std::int64_t integer_setting(const DesignPoint& point, std::string_view column) {
  return setting_in(column, SettingColumn::Kind::integer).integer(view_of(point));
}

}  // namespace tenex
