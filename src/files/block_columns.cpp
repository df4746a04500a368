// Block-expanded schedules: blocks, runs and ramps as in memory.
#include <limits>
#include <vector>

#include "files/storage_columns.hpp"
#include "tenex/schedule/storage/block_schedule.hpp"
#include "tenex/topology/time_range.hpp"

namespace tenex {
namespace {

/// Writes the entries of each NPU without the unused ends of their rows. A row is written as its difference from the
/// row before.
void write_entries(ColumnFileWriter& file, const std::string& group, const BlockSchedule& data) {
  ColumnPen<std::uint16_t> block(file, group + "/block");
  ColumnPen<std::uint32_t> row_step(file, group + "/row_step");
  ColumnPen<std::uint16_t> port(file, group + "/port");
  const std::uint32_t port_mask = (1U << data.port_bits) - 1;
  for (std::size_t npu = 0; npu < data.entries.size(); ++npu) {
    std::uint32_t last = 0;
    for (std::size_t i = 0; i < data.entries[npu]; ++i) {
      block.put(data.block[npu * data.stride + i]);
      if (i == 0) continue;  // the NPU's own block, which no send brings
      const std::uint32_t when = data.when[npu * data.stride + i];
      row_step.put((when >> data.port_bits) - last);
      port.put(static_cast<std::uint16_t>(when & port_mask));
      last = when >> data.port_bits;
    }
  }
  block.finish();
  row_step.finish();
  port.finish();
}

void write_ramps(ColumnFileWriter& file, const std::string& group, const BlockSchedule& data) {
  ColumnPen<std::uint32_t> start(file, group + "/ramp_start");
  ColumnPen<std::uint32_t> place(file, group + "/ramp_place");
  ColumnPen<std::uint32_t> inner(file, group + "/ramp_inner");
  for (const RampSend& send : data.ramps) start.put(send.start), place.put(send.place), inner.put(send.inner);
  start.finish(), place.finish(), inner.finish();
  ColumnPen<std::uint32_t> first(file, group + "/ramp_first");
  ColumnPen<std::uint32_t> last(file, group + "/ramp_last");
  for (const auto& [from, to] : data.ramp_of) first.put(from), last.put(to);
  first.finish(), last.finish();
  ColumnPen<std::uint16_t> port(file, group + "/inner_port");
  port.put(std::span<const std::uint16_t>(data.inner_port));
  port.finish();
}

void write_runs(ColumnFileWriter& file, const std::string& group, const BlockSchedule& data) {
  ColumnPen<std::uint32_t> start(file, group + "/run_start");
  ColumnPen<std::uint32_t> first(file, group + "/run_first");
  ColumnPen<std::uint16_t> port(file, group + "/run_port");
  ColumnPen<std::uint16_t> count(file, group + "/run_count");
  for (const BlockRun& run : data.runs)
    start.put(run.start), first.put(run.first), port.put(run.port), count.put(run.count);
  start.finish(), first.finish(), port.finish(), count.finish();
  ColumnPen<std::uint64_t> begin(file, group + "/runs_begin");
  begin.put(std::span<const std::uint64_t>(data.runs_begin));
  begin.finish();
}

class BlockReader {
 public:
  BlockReader(const StorageSource& source, std::string group) : source_(source), group_(std::move(group)) {}

  Result<StoredSchedule> read() {
    if (auto status = read_head(); !status) return status.errors();
    if (auto status = read_entries(); !status) return status.errors();
    if (auto status = read_ramps(); !status) return status.errors();
    if (auto status = read_runs(); !status) return status.errors();
    constexpr std::uint64_t kRowsPerTile = 256;
    const std::uint64_t index = (rows_ / kRowsPerTile + 1) * npus() * sizeof(std::uint16_t);
    if (auto status = check_machine_memory(source_.name, index); !status) return status.errors();
    StoredSchedule stored;
    stored.last_start = data_.period * (static_cast<std::int64_t>(rows_) - (rows_ > 0 ? 1 : 0));
    stored.sends_of_busiest = rows_;
    stored.schedule = make_block_schedule(source_.topology, std::move(data_), source_.threads);
    return stored;
  }

 private:
  [[nodiscard]] std::size_t npus() const { return source_.topology.npus(); }
  [[nodiscard]] std::size_t ports_of(std::size_t npu) const {
    return source_.topology.in_links(VertexId::at(npu)).size();
  }
  [[nodiscard]] Diagnostic damaged(std::string why) const { return source_.damaged(group_, std::move(why)); }

  /// A row with `count` sends from it on; false if that is impossible.
  bool take_row(std::uint64_t row, std::uint64_t count) {
    rows_ = std::max(rows_, row + count);
    return rows_ <= most_rows_;
  }

  Status read_head() {
    std::int64_t period = 0, stride = 0, port_bits = 0;
    ColumnFacts facts(source_.file, group_);
    std::vector<std::uint32_t> chunks;
    facts.integer("period_ps", period);
    facts.integer("stride", stride);
    facts.integer("port_bits", port_bits);
    facts.column("chunks", chunks);
    facts.column("block_begin", data_.block_begin);
    facts.column("entries", data_.entries);
    if (!facts.errors().empty()) return facts.errors();
    constexpr std::int64_t kMostPortBits = 16;
    const auto& begin = data_.block_begin;
    if (period < 1 || stride < 1 || stride > std::numeric_limits<std::uint16_t>::max() + 1 || port_bits < 0 ||
        port_bits > kMostPortBits)
      return damaged("its attributes are not those of a block schedule");
    if (begin.empty() || begin.front() != 0 || begin.back() > chunks.size() || !std::ranges::is_sorted(begin))
      return damaged("the blocks are not in order");
    if (data_.entries.size() != npus()) return damaged("the columns of the NPUs differ in length");
    for (const auto entries : data_.entries)
      if (entries < 1 || entries > stride) return damaged("an NPU has more blocks than there are");
    for (const auto chunk : chunks) {
      if (chunk >= source_.collective.chunks()) return damaged("a block has an unknown chunk");
      data_.chunks.emplace_back(chunk);
    }
    most_rows_ = std::min<std::uint64_t>(std::numeric_limits<std::uint32_t>::max() >> port_bits,
                                         static_cast<std::uint64_t>(kLongestTime.count() / period));
    most_rows_ = std::min<std::uint64_t>(most_rows_, std::uint64_t{1} << 31);
    data_.period = SimTime::of(period);
    data_.stride = static_cast<std::uint32_t>(stride);
    data_.port_bits = static_cast<std::uint32_t>(port_bits);
    return success();
  }

  Status read_entries() {
    const std::uint64_t slots = std::uint64_t{data_.stride} * npus();
    if (auto status = check_machine_memory(source_.name, slots * (sizeof(std::uint16_t) + sizeof(std::uint32_t)));
        !status)
      return status;
    std::uint64_t used = 0;
    for (const auto entries : data_.entries) used += entries;
    std::size_t blocks = 0, steps = 0, ports = 0;
    ColumnFacts facts(source_.file, group_);
    facts.rows("block", blocks);
    facts.rows("row_step", steps);
    facts.rows("port", ports);
    if (!facts.errors().empty()) return facts.errors();
    if (blocks != used || steps != used - npus() || ports != steps)
      return damaged("the columns of the entries differ in length");
    ColumnCursor<std::uint16_t> block(source_.file, group_ + "/block", blocks);
    ColumnCursor<std::uint32_t> row_step(source_.file, group_ + "/row_step", steps);
    ColumnCursor<std::uint16_t> port(source_.file, group_ + "/port", ports);
    data_.block = RawArray<std::uint16_t>(slots);
    data_.when = RawArray<std::uint32_t>(slots);
    std::vector<std::uint32_t> step(data_.stride);
    std::vector<std::uint16_t> in(data_.stride);
    for (std::size_t npu = 0; npu < npus(); ++npu) {
      const std::size_t count = data_.entries[npu];
      std::uint16_t* const row = data_.block.data() + npu * data_.stride;
      if (auto status = block.take(std::span(row, count)); !status) return status;
      if (auto status = row_step.take(std::span(step).first(count - 1)); !status) return status;
      if (auto status = port.take(std::span(in).first(count - 1)); !status) return status;
      if (!place_entries(npu, step, in)) return damaged(fmt::format("NPU {} receives an impossible block", npu));
    }
    return success();
  }

  bool place_entries(std::size_t npu, const std::vector<std::uint32_t>& step, const std::vector<std::uint16_t>& in) {
    const auto ports = std::min<std::size_t>(ports_of(npu), std::size_t{1} << data_.port_bits);
    data_.when[npu * data_.stride] = 0;
    std::uint32_t start = 0;
    for (std::size_t i = 0; i < data_.entries[npu]; ++i) {
      const std::uint16_t block = data_.block[npu * data_.stride + i];
      if (block + std::size_t{1} >= data_.block_begin.size()) return false;
      if (i == 0) continue;
      start += step[i - 1];
      if (in[i - 1] >= ports || !take_row(start, data_.block_begin[block + 1U] - data_.block_begin[block]))
        return false;
      data_.when[npu * data_.stride + i] = start << data_.port_bits | in[i - 1];
    }
    return true;
  }

  Status read_ramps() {
    std::vector<std::uint32_t> start, place, inner, first, last;
    ColumnFacts facts(source_.file, group_);
    facts.column("ramp_start", start);
    facts.column("ramp_place", place);
    facts.column("ramp_inner", inner);
    facts.column("ramp_first", first);
    facts.column("ramp_last", last);
    facts.column("inner_port", data_.inner_port);
    if (!facts.errors().empty()) return facts.errors();
    std::size_t ports = 0;
    for (std::size_t npu = 0; npu < npus(); ++npu) ports += ports_of(npu);
    if (start.size() != place.size() || start.size() != inner.size() || first.size() != last.size() ||
        (!first.empty() && (first.size() != npus() || data_.inner_port.size() != ports)))
      return damaged("the columns of the ramps differ in length");
    for (std::size_t i = 0; i < start.size(); ++i) {
      data_.ramps.push_back({start[i], place[i], inner[i]});
      if (!take_row(start[i], 1)) return damaged("a ramp has an impossible row");
    }
    std::size_t first_port = 0;
    for (std::size_t npu = 0; npu < first.size(); first_port += ports_of(npu), ++npu) {
      if (first[npu] > last[npu] || last[npu] > start.size() || !has_ramp(npu, first[npu], last[npu], first_port))
        return damaged(fmt::format("NPU {} has an impossible ramp", npu));
      data_.ramp_of.emplace_back(first[npu], last[npu]);
    }
    return success();
  }

  [[nodiscard]] bool has_ramp(std::size_t npu, std::size_t first, std::size_t last, std::size_t first_port) const {
    const std::uint64_t own = data_.block_begin[data_.block[npu * data_.stride]];
    for (std::size_t i = first; i < last; ++i) {
      const RampSend& send = data_.ramps[i];
      if (own + send.place >= data_.chunks.size() || first_port + send.inner >= data_.inner_port.size() ||
          data_.inner_port[first_port + send.inner] >= ports_of(npu) ||
          (i > first && send.start < data_.ramps[i - 1].start))
        return false;
    }
    return true;
  }

  Status read_runs() {
    std::size_t rows = 0, columns = 0;
    ColumnFacts facts(source_.file, group_);
    facts.column("runs_begin", data_.runs_begin);
    facts.rows("run_start", rows);
    for (const auto* name : {"run_first", "run_port", "run_count"}) {
      facts.rows(name, columns);
      if (facts.errors().empty() && columns != rows) return damaged("the columns of the runs differ in length");
    }
    if (!facts.errors().empty()) return facts.errors();
    const auto& begin = data_.runs_begin;
    if (begin.size() != npus() + 1 || begin.front() != 0 || begin.back() != rows || !std::ranges::is_sorted(begin))
      return damaged("the runs are not in order");
    ColumnCursor<std::uint32_t> start(source_.file, group_ + "/run_start", rows);
    ColumnCursor<std::uint32_t> first(source_.file, group_ + "/run_first", rows);
    ColumnCursor<std::uint16_t> port(source_.file, group_ + "/run_port", rows);
    ColumnCursor<std::uint16_t> count(source_.file, group_ + "/run_count", rows);
    data_.runs.resize(rows);
    for (std::size_t npu = 0; npu < npus(); ++npu)
      for (auto i = begin[npu]; i < begin[npu + 1]; ++i) {
        BlockRun& run = data_.runs[i];
        if (auto status = start.take({&run.start, 1}); !status) return status;
        if (auto status = first.take({&run.first, 1}); !status) return status;
        if (auto status = port.take({&run.port, 1}); !status) return status;
        if (auto status = count.take({&run.count, 1}); !status) return status;
        if (run.port >= ports_of(npu) || std::uint64_t{run.first} + run.count > data_.chunks.size() ||
            !take_row(run.start, run.count))
          return damaged(fmt::format("NPU {} receives an impossible run", npu));
      }
    return success();
  }

  const StorageSource& source_;
  std::string group_;
  BlockSchedule data_;
  std::uint64_t most_rows_ = 0;
  std::uint64_t rows_ = 0;  ///< one past the last row
};

}  // namespace

bool write_blocks(const StorageTarget& target, const std::string& group, const Schedule& schedule,
                  const BlockSchedule& data) {
  // A schedule that is read backwards in time was made for the reversed links, and ports are numbered there.
  const bool turned = !has_block_ports(schedule, target.topology);
  if (turned && !has_block_ports(schedule, target.topology.reversed())) return false;
  auto& file = target.file;
  file.set_attribute(group, "turned", std::int64_t{turned});
  file.set_attribute(group, "period_ps", data.period.count());
  file.set_attribute(group, "stride", std::int64_t{data.stride});
  file.set_attribute(group, "port_bits", std::int64_t{data.port_bits});
  ColumnPen<std::uint32_t> chunks(file, group + "/chunks");
  for (const ChunkId chunk : data.chunks) chunks.put(chunk.value());
  chunks.finish();
  file.write(group + "/block_begin", std::span<const std::uint32_t>(data.block_begin));
  file.write(group + "/entries", std::span<const std::uint16_t>(data.entries));
  write_entries(file, group, data);
  write_ramps(file, group, data);
  write_runs(file, group, data);
  return true;
}

Result<StoredSchedule> read_blocks(const StorageSource& source, const std::string& group) {
  const auto turned = source.file.integer_attribute(group, "turned");
  if (!turned) return turned.errors();
  if (*turned != 0 && *turned != 1) return source.damaged(group, fmt::format("turned = {}", *turned));
  if (*turned == 0) return BlockReader(source, group).read();
  const Topology backward = source.topology.reversed();
  return BlockReader({source.file, source.name, backward, source.collective, source.threads}, group).read();
}

}  // namespace tenex
