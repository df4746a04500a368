// Finds blocks that look alike by their inner links. Each kind is gathered once; threads gather several kinds side by
// side.

#include "synthesis/tacos/coarse/coarse_setup.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "tenex/base/bitset.hpp"
#include "tenex/base/diagnostic.hpp"

namespace tenex {
namespace {

/// The least ratio of the rows of the whole schedule to those of a stream: where few NPUs need all of their links all
/// the time (kSlackRows), on topologies that are no intact shape, and where all NPUs do (kTightRows).
constexpr std::size_t kSlackRows = 60;
constexpr std::size_t kIrregularRows = 200;
constexpr std::size_t kTightRows = 200;
constexpr double kMostPerRoot = 1.7;
constexpr std::size_t kMostSetupBlocks = 60'000;

/// Lays out the slots: all in-links, by target and port.
void lay_out_slots(const Topology& topology, const Collective& collective, StreamProblem& streams) {
  streams.slot_begin.push_back(0);
  for (std::size_t npu = 0; npu < topology.npus(); ++npu) {
    for (const LinkId link : topology.in_links(VertexId::at(npu)))
      streams.source.push_back(topology.source(link).value());
    streams.slot_begin.push_back(static_cast<std::uint32_t>(streams.source.size()));
  }
  for (std::size_t npu = 0; npu < topology.npus(); ++npu)
    streams.group_of.push_back(collective.group_of(NpuId::at(npu)).value());
  streams.free_row.assign(streams.source.size(), 0);
  streams.stream_row.assign(topology.npus(), 0);
}

/// A block's inner links, and their slots.
BlockShape shape_of(const CoarseSetup& setup, std::size_t block, std::uint32_t chunks_per_npu,
                    std::vector<std::uint32_t>& slots) {
  BlockShape shape;
  const auto& members = setup.partition.members[block];
  shape.npus = static_cast<std::uint32_t>(members.size());
  shape.chunks_per_npu = chunks_per_npu;
  shape.link_begin.push_back(0);
  for (const auto npu : members) {
    for (auto slot = setup.streams.slot_begin[npu]; slot < setup.streams.slot_begin[npu + 1]; ++slot) {
      const auto source = setup.streams.source[slot];
      if (setup.partition.block_of[source] != block) continue;
      shape.source.push_back(setup.place_in_block[source]);
      slots.push_back(slot);
    }
    shape.link_begin.push_back(static_cast<std::uint32_t>(shape.source.size()));
  }
  return shape;
}

/// Numbers the kinds of blocks in order of first appearance.
std::vector<BlockShape> find_kinds(CoarseSetup& setup, std::uint32_t chunks_per_npu) {
  std::map<std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>, std::uint32_t> known;
  std::vector<BlockShape> kinds;
  setup.slots_of.resize(setup.partition.members.size());
  for (std::size_t block = 0; block < setup.partition.members.size(); ++block) {
    auto shape = shape_of(setup, block, chunks_per_npu, setup.slots_of[block]);
    const auto [entry, fresh] =
        known.try_emplace({shape.link_begin, shape.source}, static_cast<std::uint32_t>(kinds.size()));
    if (fresh) kinds.push_back(std::move(shape));
    setup.gather_of.push_back(entry->second);
  }
  return kinds;
}

/// Enters the rows, chunks and order of one block, from its kind's gather.
void place_block(const SynthesisProblem& problem, std::size_t block, CoarseSetup& setup) {
  const auto& members = setup.partition.members[block];
  const BlockGather& gather = setup.gathers[setup.gather_of[block]];
  const auto c = static_cast<std::uint32_t>(problem.collective.chunks_per_npu());
  for (std::size_t i = 0; i < members.size(); ++i) setup.streams.stream_row[members[i]] = gather.stream_row[i];
  for (std::size_t link = 0; link < setup.slots_of[block].size(); ++link)
    setup.streams.free_row[setup.slots_of[block][link]] = gather.free_row[link];
  for (const auto chunk : gather.order) {
    const NpuId owner(members[chunk / c]);
    const ChunkId first = problem.collective.first_chunk(problem.collective.group_of(owner));
    setup.chunks.emplace_back(first.value() + problem.collective.rank_of(owner) * c + chunk % c);
  }
  setup.streams.length.push_back(static_cast<std::uint32_t>(gather.order.size()));
  setup.block_begin.push_back(static_cast<std::uint32_t>(setup.chunks.size()));
}

}  // namespace

std::size_t largest_group(const Collective& collective) {
  std::size_t most = 0;
  for (const auto& group : collective.groups()) most = std::max(most, group.members.size());
  return most;
}

std::size_t block_size_for(const SynthesisProblem& problem) {
  const auto& [topology, collective] = std::tie(problem.topology, problem.collective);
  std::size_t ports = std::numeric_limits<std::size_t>::max();
  std::size_t links = 0;  // inside groups
  for (std::size_t npu = 0; npu < topology.npus(); ++npu) {
    const auto group = collective.group_of(NpuId::at(npu));
    std::size_t inside = 0;
    for (const LinkId link : topology.in_links(VertexId::at(npu))) {
      const VertexId source = topology.source(link);
      if (source.index() < topology.npus() && collective.group_of(npu_of(source)) == group) ++inside;
    }
    ports = std::min(ports, std::max<std::size_t>(1, inside));
    links += inside;
  }
  const std::size_t npus = largest_group(collective);
  const bool tight = 10 * links <= 11 * ports * topology.npus();
  const bool tiled = topology.shape() && collective.groups().size() == 1;
  const std::size_t rows = tight ? kTightRows : tiled ? kSlackRows : kIrregularRows;
  const std::size_t most = static_cast<std::size_t>(kMostPerRoot * std::sqrt(static_cast<double>(npus)));
  // Block numbers have 16 bits.
  const std::size_t least = std::max<std::size_t>(1, (topology.npus() + kMostSetupBlocks - 1) / kMostSetupBlocks);
  return std::clamp(npus / ports / rows, least, std::max(most, least));
}

CoarseSetup plan_coarse(const SynthesisProblem& problem, std::uint32_t hop_rows, std::size_t block_size) {
  CoarseSetup setup;
  lay_out_slots(problem.topology, problem.collective, setup.streams);
  setup.streams.hop_rows = hop_rows;
  setup.partition = partition_blocks(problem.topology, setup.streams.group_of, block_size);
  setup.streams.block_of = setup.partition.block_of;
  setup.streams.group_begin.assign(problem.collective.groups().size() + 1, 0);
  for (const auto& members : setup.partition.members)
    ++setup.streams.group_begin[setup.streams.group_of[members[0]] + 1];
  std::partial_sum(setup.streams.group_begin.begin(), setup.streams.group_begin.end(),
                   setup.streams.group_begin.begin());
  setup.place_in_block.resize(problem.topology.npus());
  for (const auto& members : setup.partition.members)
    for (std::size_t i = 0; i < members.size(); ++i) setup.place_in_block[members[i]] = static_cast<std::uint32_t>(i);
  const auto kinds = find_kinds(setup, static_cast<std::uint32_t>(problem.collective.chunks_per_npu()));
  setup.gathers.resize(kinds.size());
  const auto count = static_cast<std::int64_t>(kinds.size());
#pragma omp parallel for num_threads(std::max(1, problem.threads)) schedule(dynamic, 1)
  for (std::int64_t k = 0; k < count; ++k)
    setup.gathers[static_cast<std::size_t>(k)] = gather_in_block(kinds[static_cast<std::size_t>(k)], hop_rows);
  setup.block_begin.push_back(0);
  for (std::size_t block = 0; block < setup.partition.members.size(); ++block) place_block(problem, block, setup);
  return setup;
}

// The stepwise gather, and the order of a block's chunks.

namespace {

struct BlockArrival {
  std::uint32_t row;  ///< the first row in which it can be forwarded
  std::uint32_t chunk;
};

class Stepper {
 public:
  Stepper(const BlockShape& shape, std::uint32_t hop_rows)
      : shape_(shape),
        hop_rows_(hop_rows),
        chunks_(shape.npus * shape.chunks_per_npu),
        has_(shape.npus, chunks_),
        arrivals_(shape.npus),
        sends_(shape.npus),
        cursor_(shape.source.size(), 0),
        free_(shape.source.size(), 0) {
    for (std::uint32_t npu = 0; npu < shape.npus; ++npu) {
      arrivals_[npu].reserve(chunks_);
      sends_[npu].reserve(chunks_);
      for (std::uint32_t k = 0; k < shape.chunks_per_npu; ++k) {
        const std::uint32_t chunk = npu * shape.chunks_per_npu + k;
        has_.set(npu, chunk);
        arrivals_[npu].push_back({0, chunk});
      }
    }
  }

  void run() {
    std::uint32_t missing = shape_.npus * (chunks_ - shape_.chunks_per_npu);
    std::uint32_t quiet = 0;
    for (std::uint32_t row = 0; missing > 0; ++row) {
      const std::uint32_t before = missing;
      for (std::uint32_t npu = 0; npu < shape_.npus; ++npu) {
        if (arrivals_[npu].size() == chunks_) continue;
        for (auto link = shape_.link_begin[npu]; link < shape_.link_begin[npu + 1]; ++link)
          missing -= send(npu, link, row) ? 1U : 0U;
      }
      quiet = missing == before ? quiet + 1 : 0;
      ensure(quiet <= hop_rows_, "gather_in_block: a block that is not connected");
    }
  }

  BlockGather result() {
    BlockGather gather;
    order_chunks(gather);
    std::vector<std::uint32_t> place(chunks_);
    for (std::uint32_t i = 0; i < chunks_; ++i) place[gather.order[i]] = i;
    gather.send_begin.push_back(0);
    for (std::uint32_t npu = 0; npu < shape_.npus; ++npu) {
      std::int64_t stream = 0;
      for (const auto& arrival : arrivals_[npu])
        stream = std::max(stream, std::int64_t{arrival.row} - place[arrival.chunk]);
      gather.stream_row.push_back(static_cast<std::uint32_t>(stream));
      for (auto send : sends_[npu]) {
        send.place = place[send.place];  // until here `place` is the chunk
        gather.sends.push_back(send);
      }
      gather.send_begin.push_back(static_cast<std::uint32_t>(gather.sends.size()));
    }
    gather.free_row = std::move(free_);
    return gather;
  }

 private:
  bool send(std::uint32_t npu, std::uint32_t link, std::uint32_t row) {
    const auto& held = arrivals_[shape_.source[link]];
    auto& cursor = cursor_[link];
    while (cursor < held.size() && has_.test(npu, held[cursor].chunk)) ++cursor;
    if (cursor == held.size() || held[cursor].row > row) return false;
    const std::uint32_t chunk = held[cursor++].chunk;
    has_.set(npu, chunk);
    arrivals_[npu].push_back({row + hop_rows_, chunk});
    sends_[npu].push_back({row, chunk, link - shape_.link_begin[npu]});
    free_[link] = row + 1;
    return true;
  }

  /// Puts chunks first that all NPUs get early.
  void order_chunks(BlockGather& gather) const {
    std::vector<std::uint64_t> sum(chunks_, 0);
    for (const auto& held : arrivals_)
      for (const auto& arrival : held) sum[arrival.chunk] += arrival.row;
    gather.order.resize(chunks_);
    std::iota(gather.order.begin(), gather.order.end(), 0U);
    std::stable_sort(gather.order.begin(), gather.order.end(), [&](auto a, auto b) { return sum[a] < sum[b]; });
  }

  const BlockShape& shape_;
  std::uint32_t hop_rows_;
  std::uint32_t chunks_;
  BitMatrix has_;
  std::vector<std::vector<BlockArrival>> arrivals_;
  std::vector<std::vector<RampSend>> sends_;
  std::vector<std::uint32_t> cursor_;
  std::vector<std::uint32_t> free_;
};

}  // namespace

BlockGather gather_in_block(const BlockShape& shape, std::uint32_t hop_rows) {
  Stepper stepper(shape, hop_rows);
  stepper.run();
  return stepper.result();
}

}  // namespace tenex
