// Reads step tables (step_ports.hpp tells how they are written), trusting nothing.
#include <array>
#include <atomic>
#include <barrier>
#include <utility>

#include "files/in_parallel.hpp"
#include "files/step_ports.hpp"
#include "files/storage_columns.hpp"
#include "tenex/topology/time_range.hpp"

namespace tenex {
namespace {

constexpr std::size_t kMostLanes = 256;

/// The small columns, as in the file.
struct TableFacts {
  std::int64_t slot_bytes = 0;
  std::vector<std::int64_t> period, latency, early, late, lane_rows;
  std::vector<std::uint32_t> length, ports, own, owns, first_chunk, port_link;
  std::vector<std::uint8_t> port_lane, port_form;
  std::size_t counts = 0, deltas = 0, jumps = 0;
  std::size_t tiles = 0;  ///< follows from the number of rows
};

Result<TableFacts> read_facts(const StorageSource& source, const std::string& group) {
  TableFacts facts;
  ColumnFacts columns(source.file, group);
  columns.integer("slot_bytes", facts.slot_bytes);
  columns.column("lane_period_ps", facts.period);
  columns.column("lane_latency_ps", facts.latency);
  columns.column("lane_early_rows", facts.early);
  columns.column("lane_late_ps", facts.late);
  columns.column("lane_rows", facts.lane_rows);
  columns.column("list_length", facts.length);
  columns.column("ports", facts.ports);
  columns.column("own", facts.own);
  columns.column("owns", facts.owns);
  columns.column("first_chunk", facts.first_chunk);
  columns.column("port_link", facts.port_link);
  columns.column("port_lane", facts.port_lane);
  columns.column("port_form", facts.port_form);
  columns.rows("count", facts.counts);
  columns.rows("delta", facts.deltas);
  columns.rows("jump", facts.jumps);
  if (!columns.errors().empty()) return columns.errors();
  const auto lanes = facts.period.size();
  if (lanes > 0 && facts.lane_rows.size() >= lanes) facts.tiles = facts.lane_rows.size() / lanes - 1;
  return facts;
}

/// The error in the lanes; empty if there is none.
std::string complaint_on_lanes(const TableFacts& facts) {
  const auto lanes = facts.period.size();
  if (lanes == 0 || lanes > kMostLanes || facts.latency.size() != lanes || facts.early.size() != lanes ||
      facts.late.size() != lanes || facts.lane_rows.size() != lanes * (facts.tiles + 1))
    return "the columns of the lanes differ in length";
  constexpr std::int64_t kMostRowsPerTile = 65'536;
  const auto longest = kLongestTime.count();
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const auto* rows = facts.lane_rows.data() + lane * (facts.tiles + 1);
    if (rows[0] != 0) return "a lane does not begin at its first row";
    for (std::size_t tile = 0; tile < facts.tiles; ++tile)
      if (rows[tile + 1] < rows[tile] || rows[tile + 1] - rows[tile] > kMostRowsPerTile)
        return "the rows of a lane are not in order";
    const auto period = facts.period[lane];
    if (period < 1 || facts.latency[lane] < 0 || facts.early[lane] < 0 || facts.late[lane] < 0 ||
        facts.latency[lane] > longest || facts.late[lane] > longest || rows[facts.tiles] > longest / period)
      return "a lane has times beyond 26 days (2^61 ps)";
  }
  return {};
}

/// The error in NPUs and ports; empty if there is none.
std::string complaint_on_ports(const TableFacts& facts, const StorageSource& source) {
  const auto npus = source.topology.npus();
  if (facts.length.size() != npus || facts.ports.size() != npus || facts.owns.size() != npus ||
      facts.first_chunk.size() != npus)
    return "the columns of the NPUs differ in length";
  std::uint64_t ports = 0, slots = 0, own = 0;
  for (std::size_t npu = 0; npu < npus; ++npu) {
    if (facts.first_chunk[npu] >= source.collective.chunks()) return "an NPU has unknown chunks";
    for (auto i = own; i < std::min<std::uint64_t>(own + facts.owns[npu], facts.own.size()); ++i)
      if (std::uint64_t{facts.first_chunk[npu]} + facts.own[i] >= source.collective.chunks())
        return "an NPU owns an unknown chunk";
    ports += facts.ports[npu];
    slots += facts.length[npu];
    own += facts.owns[npu];
    if (facts.owns[npu] > facts.length[npu]) return "an NPU owns more than it holds";
    if (facts.slot_bytes == 2 && facts.length[npu] > std::numeric_limits<std::uint16_t>::max())
      return "a list is too long for its slots";
  }
  if (ports != facts.port_link.size() || ports != facts.port_lane.size() || ports != facts.port_form.size())
    return "the columns of the ports differ in length";
  if (facts.counts != ports * facts.tiles || own != facts.own.size() || slots - own != facts.deltas)
    return "the columns of the sends differ in length";
  for (std::size_t port = 0; port < ports; ++port)
    if (facts.port_link[port] >= source.topology.links() || facts.port_lane[port] >= facts.period.size() ||
        facts.port_form[port] > 1)
      return fmt::format("port {} is not in the topology", port);
  return {};
}

template <class Slot>
class StepTableReader {
 public:
  StepTableReader(const StorageSource& source, std::string group, TableFacts facts)
      : source_(source), group_(std::move(group)), facts_(std::move(facts)) {}

  Result<StoredSchedule> read() {
    const std::uint64_t slots = facts_.own.size() + facts_.deltas;
    // The table, and the counts once more for access by link.
    const std::uint64_t needed =
        slots * sizeof(Slot) + 2 * facts_.counts + (facts_.tiles + 1) * facts_.length.size() * sizeof(Slot);
    if (auto status = check_machine_memory(source_.name, needed); !status) return status.errors();
    lay_out(slots);
    const SourceOrder order(table_, source_.topology);
    if (auto status = read_counts(order); !status) return status.errors();
    if (auto status = count_lengths(); !status) return status.errors();
    if (auto status = read_values(order); !status) return status.errors();
    if (!replace_places(order)) return source_.damaged(group_, "a send of a chunk that its source does not have");
    stored_.schedule = make_step_schedule(std::move(table_), source_.topology.links());
    return std::move(stored_);
  }

 private:
  void lay_out(std::uint64_t slots) {
    const auto npus = facts_.length.size();
    for (std::size_t lane = 0; lane < facts_.period.size(); ++lane) {
      table_.lanes.push_back({SimTime::of(facts_.period[lane]), SimTime::of(facts_.latency[lane]), facts_.early[lane],
                              SimTime::of(facts_.late[lane])});
      const auto* rows = facts_.lane_rows.data() + lane * (facts_.tiles + 1);
      table_.lane_rows.emplace_back(rows, rows + facts_.tiles + 1);
    }
    table_.list_begin.push_back(0);
    table_.port_begin.push_back(0);
    for (std::size_t npu = 0; npu < npus; ++npu) {
      table_.list_begin.push_back(table_.list_begin.back() + facts_.length[npu]);
      table_.port_begin.push_back(table_.port_begin.back() + facts_.ports[npu]);
    }
    table_.own = facts_.owns;
    table_.first_chunk = facts_.first_chunk;
    for (const auto link : facts_.port_link) table_.port_link.emplace_back(link);
    table_.port_lane = facts_.port_lane;
    npu_of_port_ = npu_of_ports(table_.port_begin);
    table_.lists = RawArray<Slot>(slots);
    std::size_t next = 0;
    for (std::size_t npu = 0; npu < npus; ++npu)
      for (std::size_t i = 0; i < table_.own[npu]; ++i)
        table_.lists[table_.list_begin[npu] + i] = static_cast<Slot>(facts_.own[next++]);
    for (std::size_t tile = 0; tile < facts_.tiles; ++tile) table_.counts.emplace_back(table_.port_link.size());
    for (std::size_t tile = 0; tile <= facts_.tiles; ++tile) table_.lengths.emplace_back(npus);
  }

  Status read_counts(const SourceOrder& order) {
    ColumnCursor<std::uint8_t> cursor(source_.file, group_ + "/count", facts_.counts);
    std::vector<std::uint8_t> counts(facts_.tiles);
    for (const auto port : order.ports) {
      if (auto status = cursor.take(counts); !status) return status;
      const auto& rows = table_.lane_rows[table_.port_lane[port]];
      std::uint64_t sends = 0;
      std::int64_t last = -1;
      for (std::size_t tile = 0; tile < counts.size(); ++tile) {
        if (counts[tile] > rows[tile + 1] - rows[tile])
          return source_.damaged(group_, fmt::format("port {} has more sends than rows", port));
        table_.counts[tile][port] = counts[tile];
        sends += counts[tile];
        if (counts[tile] > 0) last = rows[tile] + counts[tile] - 1;
      }
      if (last < 0) continue;
      stored_.last_start = std::max(stored_.last_start, table_.lanes[table_.port_lane[port]].start(last));
      stored_.sends_of_busiest = std::max(stored_.sends_of_busiest, sends);
    }
    return success();
  }

  Status count_lengths() {
    for (std::size_t npu = 0; npu < table_.npus(); ++npu) table_.lengths[0][npu] = static_cast<Slot>(table_.own[npu]);
    for (std::size_t tile = 0; tile < facts_.tiles; ++tile)
      for (std::size_t npu = 0; npu < table_.npus(); ++npu) {
        std::uint64_t length = table_.lengths[tile][npu];
        for (std::size_t port = table_.port_begin[npu]; port < table_.port_begin[npu + 1]; ++port)
          length += table_.counts[tile][port];
        if (length > facts_.length[npu] || (tile + 1 == facts_.tiles && length != facts_.length[npu]))
          return source_.damaged(group_, fmt::format("NPU {} does not receive the chunks that it holds", npu));
        table_.lengths[tile + 1][npu] = static_cast<Slot>(length);
      }
    return success();
  }

  /// Puts the values, places or chunks, into the slots of their chunks.
  Status read_values(const SourceOrder& order) {
    ColumnCursor<std::int8_t> deltas(source_.file, group_ + "/delta", facts_.deltas);
    ColumnCursor<std::uint32_t> jumps(source_.file, group_ + "/jump", facts_.jumps);
    std::array<std::int8_t, 256> delta{};
    std::size_t read = 0;
    for (const auto port : order.ports) {
      const auto npu = npu_of_port_[port];
      const bool places = facts_.port_form[read++] == static_cast<std::uint8_t>(PortForm::places);
      const auto unknown = places ? std::uint64_t{std::numeric_limits<std::uint32_t>::max()}
                                  : std::uint64_t{source_.collective.chunks()} - table_.first_chunk[npu];
      const auto limit = static_cast<std::int64_t>(
          std::min<std::uint64_t>(unknown, std::uint64_t{std::numeric_limits<Slot>::max()} + 1));
      std::int64_t value = 0;
      for (std::size_t tile = 0; tile < facts_.tiles; ++tile) {
        const std::size_t count = table_.counts[tile][port];
        if (count == 0) continue;
        if (auto status = deltas.take(std::span(delta).first(count)); !status) return status;
        Slot* const slots = table_.lists.data() + table_.slots_of(tile, npu, port);
        for (std::size_t i = 0; i < count; ++i) {
          value += delta[i];
          if (delta[i] == kJump) {
            std::uint32_t jump = 0;
            if (auto status = jumps.take({&jump, 1}); !status) return status;
            value = jump;
          }
          if (value < 0 || value >= limit) return source_.damaged(group_, fmt::format("a send of {}", value));
          slots[i] = static_cast<Slot>(value);
        }
      }
    }
    return success();
  }

  /// Replaces places by their chunks, tile by tile, with some NPUs per thread.
  bool replace_places(const SourceOrder& order) {
    std::vector<std::uint8_t> form(table_.ports());
    for (std::size_t i = 0; i < form.size(); ++i) form[order.ports[i]] = facts_.port_form[i];
    const auto threads = static_cast<std::size_t>(std::max(1, source_.threads));
    std::barrier barrier(static_cast<std::ptrdiff_t>(threads));
    std::atomic<bool> good{true};
    on_all_threads(threads, [&](std::size_t part) {
      const auto first = table_.npus() * part / threads;
      const auto last = table_.npus() * (part + 1) / threads;
      for (std::size_t tile = 0; tile < facts_.tiles; ++tile) {
        for (std::size_t npu = first; npu < last; ++npu)
          if (!replace_places(order, form, tile, npu)) good = false;
        barrier.arrive_and_wait();
      }
    });
    return good;
  }

  bool replace_places(const SourceOrder& order, const std::vector<std::uint8_t>& form, std::size_t tile,
                      std::size_t npu) {
    Slot* slot = table_.lists.data() + table_.list_begin[npu] + table_.lengths[tile][npu];
    for (std::size_t port = table_.port_begin[npu]; port < table_.port_begin[npu + 1]; ++port) {
      Slot* const end = slot + table_.counts[tile][port];
      if (form[port] == static_cast<std::uint8_t>(PortForm::places)) {
        const auto source = order.source[port];
        if (source == kNoSource || table_.first_chunk[source] != table_.first_chunk[npu]) return false;
        const Slot* const list = table_.lists.data() + table_.list_begin[source];
        const Slot length = table_.lengths[tile][source];
        for (; slot != end; ++slot) {
          if (*slot >= length) return false;
          *slot = list[*slot];
        }
      }
      slot = end;
    }
    return true;
  }

  const StorageSource& source_;
  std::string group_;
  TableFacts facts_;
  StepTable<Slot> table_;
  std::vector<std::uint32_t> npu_of_port_;
  StoredSchedule stored_;
};

}  // namespace

Result<StoredSchedule> read_step_table(const StorageSource& source, const std::string& group) {
  auto facts = read_facts(source, group);
  if (!facts) return facts.errors();
  if (const auto wrong = complaint_on_lanes(*facts); !wrong.empty()) return source.damaged(group, wrong);
  if (const auto wrong = complaint_on_ports(*facts, source); !wrong.empty()) return source.damaged(group, wrong);
  if (facts->slot_bytes == sizeof(std::uint16_t))
    return StepTableReader<std::uint16_t>(source, group, std::move(facts).value()).read();
  if (facts->slot_bytes == sizeof(std::uint32_t))
    return StepTableReader<std::uint32_t>(source, group, std::move(facts).value()).read();
  return source.damaged(group, fmt::format("slots of {} bytes", facts->slot_bytes));
}

}  // namespace tenex
