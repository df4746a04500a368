// The settings of a result's points as columns, gathered in one pass over the points. Private to this room.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "store/packed_columns.hpp"
#include "tenex/design/design_point.hpp"

namespace tenex::store {

/// One column per setting, and the seeds. O(rows) memory for settings that vary, O(1) for the others.
class SettingColumns {
 public:
  /// `trains`: the settings of points that train are columns too.
  SettingColumns(std::size_t rows, bool trains) : seeds_(rows) {
    for (const SettingColumn& setting : setting_columns()) {
      if (setting.training && !trains) continue;
      if (setting.kind == SettingColumn::Kind::integer) {
        integers_.emplace_back(setting, rows);
      } else {
        texts_.emplace_back(setting, rows);
      }
    }
  }

  /// Notes all settings of the point in a row.
  void set(std::size_t row, const DesignPoint& point) {
    for (auto& [setting, column] : integers_) column.set(row, integer_setting(point, setting.name));
    for (auto& [setting, column] : texts_) column.set(row, text_setting(point, setting.name));
    seeds_.set(row, static_cast<std::int64_t>(point.seed));
  }

  [[nodiscard]] const std::vector<std::pair<SettingColumn, PackedIntegers>>& integers() const { return integers_; }
  [[nodiscard]] const std::vector<std::pair<SettingColumn, PackedTexts>>& texts() const { return texts_; }
  /// Two's complement readings of 64 bits.
  [[nodiscard]] const PackedIntegers& seeds() const { return seeds_; }

 private:
  std::vector<std::pair<SettingColumn, PackedIntegers>> integers_;
  std::vector<std::pair<SettingColumn, PackedTexts>> texts_;
  PackedIntegers seeds_;
};

}  // namespace tenex::store
