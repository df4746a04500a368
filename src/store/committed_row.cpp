// Finds the row that merge() would choose, and compares it with another.
#include "tenex/store/committed_row.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <variant>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "store/asked_outputs.hpp"
#include "store/folder_layout.hpp"
#include "store/row_selection.hpp"
#include "store/shard.hpp"

namespace tenex {
namespace {

std::string shown(const MetricColumn& column, const MetricValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return "\"" + *text + "\"";
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value))
    return fmt::format("{}", fmt::join(*list, ","));
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{:.17g}", *real);
  const auto integer = std::get<std::int64_t>(value);
  if (column.kind == MetricColumn::Kind::flags && integer >= 0 && integer < std::ssize(column.flags))
    return std::string(column.flags[static_cast<std::size_t>(integer)]);
  return fmt::format("{}", integer);
}

/// Bitwise equality, except that all absent numbers are equal.
bool same(const MetricValue& a, const MetricValue& b) {
  const auto* x = std::get_if<double>(&a);
  const auto* y = std::get_if<double>(&b);
  if (x == nullptr || y == nullptr) return a == b;
  return (std::isnan(*x) && std::isnan(*y)) || std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(*y);
}

/// Compares ragged parts of two rows; the text names the first entry in which they differ.
template <class T, class Text>
void compare_lists(const char* name, const std::vector<T>& stored, const std::vector<T>& other, const Text& text,
                   std::vector<RowDifference>& differences) {
  const auto [a, b] = std::mismatch(stored.begin(), stored.end(), other.begin(), other.end(),
                                    [&](const T& x, const T& y) { return text(x) == text(y); });
  if (a == stored.end() && b == other.end()) return;
  const auto at = a - stored.begin();
  const auto part = [&](const std::vector<T>& list) {
    if (at >= std::ssize(list)) return fmt::format("{} entries", list.size());
    return fmt::format("entry {} of {}: {}", at, list.size(), text(list[static_cast<std::size_t>(at)]));
  };
  differences.push_back({name, part(stored), part(other)});
}

}  // namespace

Result<std::optional<KeptRow>> read_committed_row(const std::filesystem::path& dir, const Study& study,
                                                  std::uint64_t point) {
  const store::Layout layout{dir};
  const auto selection = store::select_rows(layout, study);
  if (!selection) return selection.errors();
  const auto found = std::ranges::lower_bound(selection->points, point);
  if (found == selection->points.end() || *found != point) return std::optional<KeptRow>();
  const auto position = static_cast<std::uint32_t>(found - selection->points.begin());
  for (const auto& shard : selection->shards) {
    const auto chosen = std::ranges::find(shard.chosen, position, &std::pair<std::uint32_t, std::uint32_t>::second);
    if (chosen == shard.chosen.end()) continue;
    const auto file = store::open_shard(layout, shard.commit);
    if (!file) return file.errors();
    auto rows = store::decode_shard(*file, shard.commit.shard);
    if (!rows) return rows.errors();
    auto& row = (*rows)[chosen->first];
    KeptRow kept{std::move(row.evaluation), shard.writer.incarnation,  shard.writer.rank,   shard.origin.host,
                 shard.origin.version,      shard.origin.git_revision, row.finished_unix_ms};
    kept.link_bytes = (row.outputs & store::kLinkBytesOutput) != 0;
    kept.group_times = (row.outputs & store::kGroupTimesOutput) != 0;
    kept.utilization = (row.outputs & store::kUtilizationOutput) != 0;
    kept.arrivals = (row.outputs & store::kArrivalsOutput) != 0;
    return std::optional(std::move(kept));
  }
  return std::optional<KeptRow>();
}

std::vector<RowDifference> compare_rows(const KeptRow& stored, const Evaluation& other) {
  std::vector<RowDifference> differences;
  if (stored.evaluation.clock_ended == 1 || other.clock_ended == 1) return differences;  // runs may differ
  const auto& columns = metric_columns();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].measured) continue;
    const auto kept = metric_value(stored.evaluation, i);
    const auto now = metric_value(other, i);
    if (!same(kept, now))
      differences.push_back({std::string(columns[i].name), shown(columns[i], kept), shown(columns[i], now)});
  }
  const auto number = [](std::int64_t value) { return fmt::format("{}", value); };
  const auto& row = stored.evaluation;
  if (stored.group_times) compare_lists("group_times", row.group_times_ps, other.group_times_ps, number, differences);
  if (stored.utilization) compare_lists("utilization", row.utilization_ps, other.utilization_ps, number, differences);
  if (stored.link_bytes)
    compare_lists(
        "link_bytes", row.link_loads, other.link_loads,
        [](const LinkLoad& load) { return fmt::format("{} B, busy {} ps", load.bytes.count(), load.busy.count()); },
        differences);
  if (stored.arrivals)
    compare_lists(
        "arrivals", row.arrivals, other.arrivals,
        [](const Delivery& d) {
          return fmt::format("chunk {} at NPU {} at {} ps", d.chunk.value(), d.npu.value(), d.time.count());
        },
        differences);
  return differences;
}

std::size_t compared_columns(const KeptRow& stored) {
  if (stored.evaluation.clock_ended == 1) return 0;
  const auto metrics = std::ranges::count(metric_columns(), false, &MetricColumn::measured);
  return static_cast<std::size_t>(metrics) + (stored.link_bytes ? 1U : 0U) + (stored.group_times ? 1U : 0U) +
         (stored.utilization ? 1U : 0U) + (stored.arrivals ? 1U : 0U);
}

}  // namespace tenex
