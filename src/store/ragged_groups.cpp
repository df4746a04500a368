#include "store/ragged_groups.hpp"

#include <utility>

#include <fmt/core.h>

#include "store/shard.hpp"

namespace tenex::store {
namespace {

using EntryIndex = std::size_t;
using StoredValue = std::int64_t;

/// The functions `size` and `resize` of a group whose entries are a list of the row.
template <auto List>
std::size_t size_of(const Evaluation& row) {
  return (row.*List).size();
}
template <auto List>
void resize(Evaluation& row, std::size_t entries) {
  (row.*List).resize(entries);
}

std::uint32_t id(StoredValue value) { return static_cast<std::uint32_t>(value); }

Ragged groups() {
  return {"/groups",
          columns::kGroupCount,
          "/group_offset",
          size_of<&Evaluation::group_times_ps>,
          resize<&Evaluation::group_times_ps>,
          {{"group", "", "process group", Ragged::Origin::numbered},
           {"time_ps", "ps", "last useful arrival of the process group", Ragged::Origin::stored, columns::kGroupTime,
            [](const Evaluation& row, EntryIndex i) { return row.group_times_ps[i]; },
            [](Evaluation& row, EntryIndex i, StoredValue value) { row.group_times_ps[i] = value; }}}};
}

Ragged links() {
  return {"/links",
          columns::kLinkCount,
          "/link_offset",
          size_of<&Evaluation::link_loads>,
          resize<&Evaluation::link_loads>,
          {{"link", "", "link of the point's topology", Ragged::Origin::numbered},
           {"source", "", "vertex that the link leaves", Ragged::Origin::link_source},
           {"destination", "", "vertex that the link enters", Ragged::Origin::link_destination},
           {"bytes", "B", "bytes that the link carried", Ragged::Origin::stored, columns::kLinkBytes,
            [](const Evaluation& row, EntryIndex i) { return row.link_loads[i].bytes.count(); },
            [](Evaluation& row, EntryIndex i, StoredValue value) { row.link_loads[i].bytes = Bytes::of(value); }},
           {"busy_ps", "ps", "how long the link was busy", Ragged::Origin::stored, columns::kLinkBusy,
            [](const Evaluation& row, EntryIndex i) { return row.link_loads[i].busy.count(); },
            [](Evaluation& row, EntryIndex i, StoredValue value) { row.link_loads[i].busy = SimTime::of(value); }}}};
}

Ragged utilization() {
  return {"/utilization",
          columns::kBinCount,
          "/bin_offset",
          size_of<&Evaluation::utilization_ps>,
          resize<&Evaluation::utilization_ps>,
          {{"bin", "", "bin of time, the first from 0", Ragged::Origin::numbered},
           {"width_ps", "ps", "width of the bin", Ragged::Origin::stored, columns::kBinWidth,
            [](const Evaluation& row, EntryIndex) { return row.utilization_bin_ps; },
            [](Evaluation& row, EntryIndex, StoredValue value) { row.utilization_bin_ps = value; }},
           {"busy_ps", "ps", "busy time in the bin, summed over all links", Ragged::Origin::stored, columns::kBinBusy,
            [](const Evaluation& row, EntryIndex i) { return row.utilization_ps[i]; },
            [](Evaluation& row, EntryIndex i, StoredValue value) { row.utilization_ps[i] = value; }}}};
}

Ragged arrivals() {
  return {"/arrivals",
          columns::kArrivalCount,
          "/arrival_offset",
          size_of<&Evaluation::arrivals>,
          resize<&Evaluation::arrivals>,
          {{"time_ps", "ps", "when the chunk was unpacked", Ragged::Origin::stored, columns::kArrivalTime,
            [](const Evaluation& row, EntryIndex i) { return row.arrivals[i].time.count(); },
            [](Evaluation& row, EntryIndex i, StoredValue value) { row.arrivals[i].time = SimTime::of(value); }},
           {"npu", "", "where", Ragged::Origin::stored, columns::kArrivalNpu,
            [](const Evaluation& row, EntryIndex i) { return StoredValue{row.arrivals[i].npu.value()}; },
            [](Evaluation& row, EntryIndex i, StoredValue value) { row.arrivals[i].npu = NpuId(id(value)); }},
           {"chunk", "", "the chunk; a message of several has an entry for each", Ragged::Origin::stored,
            columns::kArrivalChunk,
            [](const Evaluation& row, EntryIndex i) { return StoredValue{row.arrivals[i].chunk.value()}; },
            [](Evaluation& row, EntryIndex i, StoredValue value) { row.arrivals[i].chunk = ChunkId(id(value)); }}}};
}

}  // namespace

const std::vector<Ragged>& ragged_groups() {
  static const std::vector<Ragged> all{groups(), links(), utilization(), arrivals()};
  return all;
}

std::optional<RaggedColumn> RaggedColumn::in_order(std::vector<std::int64_t> values, std::vector<std::int64_t> count) {
  const auto total = static_cast<std::int64_t>(values.size());
  RaggedColumn column{std::move(values), {}, std::move(count)};
  column.first.reserve(column.count.size());
  std::int64_t entries = 0;
  for (const auto own : column.count) {
    if (own < 0 || own > total - entries) return std::nullopt;
    column.first.push_back(entries);
    entries += own;
  }
  if (entries != total) return std::nullopt;
  return column;
}

Result<RaggedColumn> read_ragged(const ColumnFileReader& reader, const std::string& file, const Ragged& ragged,
                                 const Ragged::Part& part, std::size_t rows) {
  auto values = reader.read<std::int64_t>(std::string(ragged.group) + "/" + part.name);
  if (!values) return values.errors();
  auto first = reader.read<std::int64_t>(ragged.offset, 0, rows);
  if (!first) return first.errors();
  auto count = reader.read<std::int64_t>(ragged.count, 0, rows);
  if (!count) return count.errors();
  const auto size = static_cast<std::int64_t>(values->size());
  for (std::size_t row = 0; row < rows; ++row) {
    const auto begin = (*first)[row];
    const auto entries = (*count)[row];
    if (begin < 0 || entries < 0 || begin > size || entries > size - begin)
      return environment_error(fmt::format("{}the entries of row {} in {} do not exist", file, row, ragged.group));
  }
  return RaggedColumn{*std::move(values), *std::move(first), *std::move(count)};
}

Status set_entries(std::vector<Evaluation>& rows,
                   const std::function<Result<RaggedColumn>(const Ragged& ragged, const Ragged::Part& part)>& read) {
  for (const auto& ragged : ragged_groups())
    for (const auto& part : ragged.parts) {
      if (part.origin != Ragged::Origin::stored) continue;
      const auto column = read(ragged, part);
      if (!column) return column.errors();
      for (std::size_t row = 0; row < rows.size(); ++row) {
        const auto entries = column->at(row);
        if (ragged.size(rows[row]) != entries.size()) ragged.resize(rows[row], entries.size());
        for (std::size_t i = 0; i < entries.size(); ++i) part.set(rows[row], i, entries[i]);
      }
    }
  return success();
}

}  // namespace tenex::store
