#include "store/shard_set.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "store/column_kinds.hpp"
#include "store/open_result.hpp"
#include "store/shard.hpp"

namespace tenex::store {
namespace {

constexpr std::size_t kLeastForAShard = 4096;  // with less, small shards could hold nothing

std::size_t width_of(WantedColumn::Type type) { return type == WantedColumn::Type::flags ? 1 : 8; }

/// The number of elements of a column, known before it is read. An absent ragged column has none.
Result<std::size_t> entries_of(const ColumnFileReader& reader, const WantedColumn& column, std::size_t rows) {
  if (!column.ragged) return rows;
  return reader.has(column.path) ? reader.rows(column.path) : Result<std::size_t>(0);
}

}  // namespace

ShardSet::ShardSet(const Layout& layout, const Selection& selection, std::vector<WantedColumn> wanted,
                   std::size_t budget)
    : layout_(layout), selection_(selection), wanted_(std::move(wanted)), held_(selection.shards.size()) {
  std::size_t rows = 0;
  for (const auto& shard : selection.shards) rows += shard.rows;
  budget_of_row_ = budget / std::max<std::size_t>(1, rows);
}

Result<ColumnFileReader> ShardSet::open(std::size_t shard) {
  ++opened_;
  return open_shard(layout_, selection_.shards[shard].commit);
}

template <class T>
Result<ShardSet::Values> ShardSet::read(const ColumnFileReader& reader, const std::string& path) {
  auto values = [&] {
    if constexpr (std::is_same_v<T, TextColumn>)
      return reader.read_text(path);
    else if constexpr (std::is_same_v<T, ListColumn>)
      return read_lists(reader, path);
    else
      return reader.read<CellOf<T>>(path);
  }();
  if (values) return Values(std::move(values).value());
  if (!reader.has(path)) return Values();
  return values.errors();
}

Status ShardSet::read_ahead(std::size_t shard, Held& held) {
  const auto reader = open(shard);
  if (!reader) return reader.errors();
  const auto budget = std::max(kLeastForAShard, budget_of_row_ * selection_.shards[shard].rows);
  std::size_t bytes = 0;
  for (auto at = held.next; at < wanted_.size(); ++at) {
    const auto& column = wanted_[at];
    if (!held.columns.empty()) {  // the first one is asked for now
      const auto entries = entries_of(*reader, column, selection_.shards[shard].rows);
      if (!entries || bytes + *entries * width_of(column.type) > budget) break;  // taking it will report the error
    }
    auto values = with_type_of(column.type, [&]<class T>() { return read<T>(*reader, column.path); });
    if (!values) {
      if (held.columns.empty()) return values.errors();
      break;
    }
    const auto size = std::visit(
        [](const auto& v) -> std::size_t {
          using T = std::remove_cvref_t<decltype(v)>;
          if constexpr (std::is_same_v<T, std::monostate>)
            return 0;
          else if constexpr (std::is_same_v<T, TextColumn>)
            return v.bytes.size();
          else if constexpr (std::is_same_v<T, ListColumn>)
            return v.values.size() * sizeof(std::int64_t);
          else
            return v.size() * sizeof(typename T::value_type);
        },
        *values);
    if (!held.columns.empty() && bytes + size > budget) break;  // the width of texts is known only now
    bytes += size;
    held.columns.push_back(std::move(values).value());
  }
  return success();
}

template <class T>
Result<std::optional<T>> ShardSet::take(std::size_t shard, const std::string& path) {
  const auto unpacked = [](Values values) -> Result<std::optional<T>> {
    if (std::holds_alternative<std::monostate>(values)) return std::optional<T>();
    ensure(std::holds_alternative<T>(values), "a column is planned as another type");
    return std::optional<T>(std::move(std::get<T>(values)));
  };
  auto& held = held_[shard];
  if (held.next == wanted_.size() || wanted_[held.next].path != path) {
    const auto reader = open(shard);
    if (!reader) return reader.errors();
    auto values = read<T>(*reader, path);
    if (!values) return values.errors();
    return unpacked(std::move(values).value());
  }
  if (held.columns.empty())
    if (auto status = read_ahead(shard, held); !status) return status.errors();
  auto values = std::move(held.columns.front());
  held.columns.pop_front();
  ++held.next;
  return unpacked(std::move(values));
}

template Result<std::optional<std::vector<std::int8_t>>> ShardSet::take(std::size_t, const std::string&);
template Result<std::optional<std::vector<std::int64_t>>> ShardSet::take(std::size_t, const std::string&);
template Result<std::optional<std::vector<double>>> ShardSet::take(std::size_t, const std::string&);
template Result<std::optional<TextColumn>> ShardSet::take(std::size_t, const std::string&);
template Result<std::optional<ListColumn>> ShardSet::take(std::size_t, const std::string&);

}  // namespace tenex::store
