// Reading a block-expanded schedule: by rows for streams in time order, by link for checks that go NPU by NPU.
//
// Index: for each tile of 256 rows and each NPU, the first entry that may still be under way when the tile begins. Any
// row is then found by walking a few entries. A segment has as many rows as hold sends_per_segment() sends (at least
// one row), laid out in a grid of rows by links.
#include "tenex/schedule/storage/block_schedule.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "schedule/storage/row_grid.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"

namespace tenex {
namespace {

constexpr std::uint32_t kTileRows = 256;
constexpr std::uint32_t kNoChunk = std::numeric_limits<std::uint32_t>::max();

/// Links of each NPU by port, without keeping the topology.
struct NpuPorts {
  std::vector<std::uint32_t> begin;   ///< per NPU, and the end
  std::vector<LinkId> link;           ///< by NPU and port
  std::vector<std::uint32_t> target;  ///< per link: its NPU, or none
  std::vector<std::uint16_t> port;    ///< per link

  explicit NpuPorts(const Topology& topology)
      : begin(topology.npus() + 1, 0), target(topology.links(), kNoChunk), port(topology.links(), 0) {
    for (std::size_t npu = 0; npu < topology.npus(); ++npu) {
      const auto in = topology.in_links(VertexId::at(npu));
      for (std::size_t p = 0; p < in.size(); ++p) {
        target[in[p].index()] = static_cast<std::uint32_t>(npu);
        port[in[p].index()] = static_cast<std::uint16_t>(p);
        link.push_back(in[p]);
      }
      begin[npu + 1] = static_cast<std::uint32_t>(link.size());
    }
  }
};

class BlockStorage final : public ScheduleStorage {
 public:
  BlockStorage(const Topology& topology, BlockSchedule data, int threads)
      : data_(std::move(data)), ports_(topology), npus_(topology.npus()) {
    measure();
    build_index(threads);
    const std::uint64_t rows = std::max<std::uint64_t>(1, sends_);
    rows_per_segment_ =
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(sends_per_segment(sends_) * rows_ / rows, 1, kTileRows));
  }

  const NpuPorts& ports() const { return ports_; }

  std::size_t segments() const override { return (rows_ + rows_per_segment_ - 1) / rows_per_segment_; }
  std::uint64_t sends() const override { return sends_; }
  std::size_t tiles() const override { return tiles_; }
  std::string_view kind() const override { return "block"; }
  StorageParts parts() const override { return {&data_}; }

  void read(std::size_t segment, SendBuffer& buffer) const override {
    const auto begin = static_cast<std::uint32_t>(segment * rows_per_segment_);
    const auto end = std::min(rows_, begin + rows_per_segment_);
    RowGrid grid(end - begin, ports_.target.size());
    for (std::uint32_t npu = 0; npu < npus_; ++npu) {
      const LinkId* link = ports_.link.data() + ports_.begin[npu];
      for_each_run(npu, begin, end, [&](const BlockRun& run) {
        for (std::uint32_t i = 0; i < run.count; ++i)
          grid.put(run.start - begin + i, link[run.port], data_.chunks[run.first + i]);
      });
    }
    grid.show(buffer, [&](std::size_t row) { return data_.period * static_cast<std::int64_t>(begin + row); });
  }

  void read_link(std::size_t tile, LinkId link, SendBuffer& buffer) const override {
    buffer.batch = {};
    const std::uint32_t npu = ports_.target[link.index()];
    if (npu == kNoChunk) return;
    const auto begin = static_cast<std::uint32_t>(tile * kTileRows);
    const auto end = std::min(rows_, begin + kTileRows);
    const std::uint16_t port = ports_.port[link.index()];
    // There are at most as many sends as rows if the schedule is valid; overlapping runs are read too. Parts of blocks
    // may come before or after whole blocks, so they may need sorting.
    make_room(buffer, kTileRows);
    std::uint32_t size = 0;
    bool sorted = true;
    std::int64_t last = -1;
    for_each_run(npu, begin, end, [&](const BlockRun& run) {
      if (run.port != port) return;
      make_room(buffer, size + run.count);
      sorted = sorted && run.start > last;
      last = run.start + run.count - 1;
      std::copy_n(data_.chunks.data() + run.first, run.count, buffer.chunk.data() + size);
      for (std::uint32_t i = 0; i < run.count; ++i) buffer.start[size + i] = data_.period * std::int64_t{run.start + i};
      size += run.count;
    });
    if (!sorted) sort_by_start(buffer, size);
    std::fill_n(buffer.link.data(), size, link);
    buffer.batch.link = std::span(buffer.link).first(size);
    buffer.batch.chunk = std::span(buffer.chunk).first(size);
    buffer.batch.start = std::span(buffer.start).first(size);
  }

  SimTime row_time() const override { return rows_ < kMostSendRows ? data_.period : SimTime::zero(); }
  std::span<const ChunkId> places() const override { return data_.chunks; }

  void read_rows(LinkId link, RowBuffer& buffer) const override {
    auto& runs = buffer.runs;
    const auto before = static_cast<std::ptrdiff_t>(runs.size());
    const std::uint32_t npu = ports_.target[link.index()];
    if (npu == kNoChunk) return;
    const std::uint16_t port = ports_.port[link.index()];
    for_each_ramp_send(npu, 0, ramp_rows_, [&](const BlockRun& run) {
      if (run.port == port) runs.push_back(row_run(run.start, run.first, run.count));
    });
    append_blocks(npu, port, runs);
    for (const BlockRun& part : parts_of(npu))
      if (part.port == port) runs.push_back(row_run(part.start, part.first, part.count));
    // Each of the three is in order.
    const auto by_row = [](const RowRun& a, const RowRun& b) { return a.row < b.row; };
    if (!std::is_sorted(runs.begin() + before, runs.end(), by_row))
      std::stable_sort(runs.begin() + before, runs.end(), by_row);
  }

  std::size_t memory_bytes() const override {
    return sizeof(*this) + npus_ * data_.stride * (sizeof(std::uint16_t) + sizeof(std::uint32_t)) +
           bytes_of(data_.chunks) + bytes_of(data_.block_begin) + bytes_of(data_.entries) + bytes_of(data_.runs) +
           bytes_of(data_.runs_begin) + bytes_of(data_.ramps) + bytes_of(data_.ramp_of) + bytes_of(data_.inner_port) +
           bytes_of(index_) + bytes_of(ports_.begin) + bytes_of(ports_.link) + bytes_of(ports_.target) +
           bytes_of(ports_.port);
  }

 private:
  const std::uint16_t* blocks_of(std::size_t npu) const { return data_.block.data() + npu * data_.stride; }
  const std::uint32_t* times_of(std::size_t npu) const { return data_.when.data() + npu * data_.stride; }
  std::uint32_t block_size(std::uint16_t block) const {
    return data_.block_begin[block + 1U] - data_.block_begin[block];
  }
  std::span<const BlockRun> parts_of(std::size_t npu) const {
    return std::span(data_.runs).subspan(data_.runs_begin[npu], data_.runs_begin[npu + 1] - data_.runs_begin[npu]);
  }

  static RowRun row_run(std::uint32_t start, std::uint32_t first, std::uint32_t count) {
    return {first, count, static_cast<std::int32_t>(start), 1, Stage::copy, false};
  }

  /// Appends the whole blocks that reach the NPU over a port. Which port is next cannot be predicted, so every block is
  /// written and counted only where it is the port's.
  void append_blocks(std::uint32_t npu, std::uint16_t port, std::vector<RowRun>& runs) const {
    const std::uint32_t* when = times_of(npu);
    const std::uint16_t* block = blocks_of(npu);
    const std::uint32_t port_mask = (1U << data_.port_bits) - 1;
    auto size = runs.size();
    runs.resize(size + data_.entries[npu]);
    for (std::uint32_t i = 1; i < data_.entries[npu]; ++i) {
      runs[size] = row_run(when[i] >> data_.port_bits, data_.block_begin[block[i]], block_size(block[i]));
      size += (when[i] & port_mask) == port ? 1 : 0;
    }
    runs.resize(size);
  }

  /// Counts all sends and rows, and finds the longest run.
  void measure() {
    for (std::size_t b = 0; b + 1 < data_.block_begin.size(); ++b)
      longest_ = std::max(longest_, block_size(static_cast<std::uint16_t>(b)));
    for (const auto& run : data_.runs) {
      longest_ = std::max<std::uint32_t>(longest_, run.count);
      rows_ = std::max(rows_, run.start + run.count);
      sends_ += run.count;
    }
    for (const auto& send : data_.ramps) ramp_rows_ = std::max(ramp_rows_, send.start + 1);
    for (const auto& [first, last] : data_.ramp_of) sends_ += last - first;
    rows_ = std::max(rows_, ramp_rows_);
  }

  void build_index(int threads) {
    std::uint64_t sends = 0;
    std::uint32_t rows = rows_;
    const auto npus = static_cast<std::int64_t>(npus_);
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sends) reduction(max : rows)
    for (std::int64_t v = 0; v < npus; ++v) {
      const auto npu = static_cast<std::size_t>(v);
      for (std::uint32_t i = 1; i < data_.entries[npu]; ++i) {
        const std::uint32_t size = block_size(blocks_of(npu)[i]);
        sends += size;
        rows = std::max(rows, (times_of(npu)[i] >> data_.port_bits) + size);
      }
    }
    sends_ += sends;
    rows_ = rows;
    tiles_ = (rows_ + kTileRows - 1) / kTileRows;
    index_.resize(tiles_ * npus_);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::int64_t v = 0; v < npus; ++v) index_npu(static_cast<std::size_t>(v));
  }

  void index_npu(std::size_t npu) {
    std::uint32_t entry = 1;
    for (std::size_t tile = 0; tile < tiles_; ++tile) {
      const std::uint64_t begin = tile * kTileRows;
      while (entry < data_.entries[npu] && (times_of(npu)[entry] >> data_.port_bits) + longest_ <= begin) ++entry;
      index_[tile * npus_ + npu] = static_cast<std::uint16_t>(entry);
    }
  }

  /// The single sends of the NPU's ramp in rows [begin, end).
  template <class Visit>
  void for_each_ramp_send(std::uint32_t npu, std::uint32_t begin, std::uint32_t end, Visit&& visit) const {
    if (begin >= ramp_rows_ || data_.ramp_of.empty()) return;
    const auto [first, last] = data_.ramp_of[npu];
    const auto sends = std::span(data_.ramps).subspan(first, last - first);
    const std::uint32_t own = data_.block_begin[blocks_of(npu)[0]];
    const std::uint16_t* port = data_.inner_port.data() + ports_.begin[npu];
    auto send = std::partition_point(sends.begin(), sends.end(), [&](const auto& s) { return s.start < begin; });
    for (; send != sends.end() && send->start < end; ++send)
      visit(BlockRun{send->start, own + send->place, port[send->inner], 1});
  }

  /// Visits the runs on the NPU's in-links in rows [begin, end) of one tile, cut to these rows: its ramp, whole blocks,
  /// parts, each in order of start.
  template <class Visit>
  void for_each_run(std::uint32_t npu, std::uint32_t begin, std::uint32_t end, Visit&& visit) const {
    for_each_ramp_send(npu, begin, end, visit);
    const auto clip = [&](std::uint32_t start, std::uint32_t count, std::uint32_t first, std::uint32_t port) {
      const std::uint32_t from = std::max(start, begin);
      const std::uint32_t to = std::min(start + count, end);
      if (from < to)
        visit(BlockRun{from, first + (from - start), static_cast<std::uint16_t>(port),
                       static_cast<std::uint16_t>(to - from)});
    };
    const std::uint32_t* when = times_of(npu);
    const std::uint16_t* block = blocks_of(npu);
    const std::uint32_t port_mask = (1U << data_.port_bits) - 1;
    for (std::uint32_t i = index_[begin / kTileRows * npus_ + npu]; i < data_.entries[npu]; ++i) {
      const std::uint32_t start = when[i] >> data_.port_bits;
      if (start >= end) break;
      clip(start, block_size(block[i]), data_.block_begin[block[i]], when[i] & port_mask);
    }
    const auto parts = parts_of(npu);
    if (parts.empty() || parts.back().start + longest_ <= begin) return;
    auto part = std::partition_point(parts.begin(), parts.end(),
                                     [&](const BlockRun& run) { return run.start + longest_ <= begin; });
    for (; part != parts.end() && part->start < end; ++part) clip(part->start, part->count, part->first, part->port);
  }

  static void make_room(SendBuffer& buffer, std::uint32_t sends) {
    if (buffer.link.size() < sends) buffer.link.resize(sends);
    if (buffer.chunk.size() < sends) buffer.chunk.resize(sends);
    if (buffer.start.size() < sends) buffer.start.resize(sends);
  }

  static void sort_by_start(SendBuffer& buffer, std::uint32_t size) {
    std::vector<std::pair<SimTime, ChunkId>> sends(size);
    for (std::uint32_t i = 0; i < size; ++i) sends[i] = {buffer.start[i], buffer.chunk[i]};
    std::sort(sends.begin(), sends.end());
    for (std::uint32_t i = 0; i < size; ++i) std::tie(buffer.start[i], buffer.chunk[i]) = sends[i];
  }

  BlockSchedule data_;
  NpuPorts ports_;
  std::size_t npus_;
  std::uint32_t longest_ = 1;
  std::uint32_t rows_ = 0;
  std::uint32_t ramp_rows_ = 0;
  std::uint32_t rows_per_segment_ = 1;
  std::size_t tiles_ = 0;
  std::uint64_t sends_ = 0;
  std::vector<std::uint16_t> index_;  ///< tile * npus + NPU
};

}  // namespace

Schedule make_block_schedule(const Topology& topology, BlockSchedule data, int threads) {
  ensure(data.entries.size() == topology.npus() && data.runs_begin.size() == topology.npus() + 1,
         "make_block_schedule: data of another topology");
  TENEX_EXPECTS(data.period > SimTime::zero(), "a period");
  TENEX_EXPECTS(data.block.size() == topology.npus() * data.stride && data.when.size() == data.block.size(),
                "tables as long as `npus` and `stride` say");
  return Schedule(std::make_shared<const BlockStorage>(topology, std::move(data), threads));
}

bool has_block_ports(const Schedule& schedule, const Topology& topology) {
  const auto* storage = dynamic_cast<const BlockStorage*>(schedule.storage().get());
  if (storage == nullptr) return false;
  const NpuPorts ports(topology);
  return ports.begin == storage->ports().begin && ports.link == storage->ports().link;
}

}  // namespace tenex
