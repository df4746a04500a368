#include "store/pruned_rows.hpp"

#include <algorithm>

#include "store/shard.hpp"

namespace tenex::store {

Result<std::vector<bool>> rows_pruned_elsewhere(const ColumnFileReader& shard, const std::vector<std::int8_t>& status,
                                                const Study& study) {
  if (std::ranges::none_of(status, is_pruned)) return std::vector<bool>();
  const auto reasons = shard.read_text(columns::metric("reason"));
  if (!reasons) return reasons.errors();
  if (reasons->rows() != status.size()) return environment_error("a shard is damaged", "a column is too short");
  const auto stamp = search_stamp(study);
  std::vector<bool> elsewhere(status.size(), false);
  for (std::size_t row = 0; row < status.size(); ++row)
    elsewhere[row] = is_pruned(status[row]) && !(study.search.prunes() && reasons->at(row).ends_with(stamp));
  return elsewhere;
}

}  // namespace tenex::store
