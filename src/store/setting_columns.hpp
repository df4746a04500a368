// The settings of a result's points as columns, gathered in one pass over the points.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "store/packed_columns.hpp"
#include "tenex/design/design_point.hpp"

namespace tenex::store {

/// One column per setting, and the seeds. O(rows) memory for settings that vary, O(1) for the others.
class SettingColumns {
 public:
  using Values = std::variant<PackedTexts, PackedIntegers, PackedReals, PackedLists>;
  struct Column {
    SettingColumn setting;
    Values values;
  };

  /// `trains`: there are columns for the settings of points that train too.
  SettingColumns(std::size_t rows, bool trains) : seeds_(rows) {
    for (const SettingColumn& setting : setting_columns())
      if (trains || !setting.training) columns_.push_back({setting, empty_column(setting.kind, rows)});
  }

  /// Notes all settings of the point in a row.
  void set(std::size_t row, const DesignPoint& point) {
    for (auto& [setting, column] : columns_) {
      const SettingCell cell = setting_cell(point, setting.name);
      std::visit(
          [&](auto& values) {
            using T = typename std::remove_cvref_t<decltype(values)>::Value;
            values.set(row, std::get<T>(cell));
          },
          column);
    }
    seeds_.set(row, static_cast<std::int64_t>(point.seed));
    dimensions_ = std::max(dimensions_, point.topology.shape.dimensions());
  }

  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  /// The 64 bits of each seed read as two's complement.
  [[nodiscard]] const PackedIntegers& seeds() const { return seeds_; }
  /// The number of dimensions of the shape that has the most, at least 1.
  [[nodiscard]] std::size_t dimensions() const { return dimensions_; }

 private:
  static Values empty_column(SettingColumn::Kind kind, std::size_t rows) {
    switch (kind) {
      case SettingColumn::Kind::integer:
        return PackedIntegers(rows);
      case SettingColumn::Kind::real:
        return PackedReals(rows);
      case SettingColumn::Kind::list:
        return PackedLists(rows);
      case SettingColumn::Kind::text:
      case SettingColumn::Kind::none:
        break;
    }
    return PackedTexts(rows);
  }

  std::vector<Column> columns_;
  PackedIntegers seeds_;
  std::size_t dimensions_ = 1;
};

}  // namespace tenex::store
