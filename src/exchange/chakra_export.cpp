// A schedule as ASTRA-sim's custom collective: one Chakra trace per NPU, of sends, receives and computations.
//
// Nodes have the order of time, which is the order in which ASTRA-sim issues what is ready at once. A node depends on
// what wrote the places that it reads, and on what read or wrote before the places that it writes, so every order that
// the dependencies allow gives the same result. A sum is a receive and a computation that adds what it brought.
// ASTRA-sim ignores what chunks are; they stand in attributes, so that the traces can be judged (chakra_schedule.cpp):
//
//   of the trace   tenex_collective, tenex_npus, tenex_chunks (of the larger side), tenex_in_place, tenex_rank
//   of a send      tenex_from: its places, "i0 i1"; of a receive tenex_to, unless a computation adds what it brings
//   of a COMP      tenex_to and tenex_adds; tenex_from, or tenex_receive: the id of the receive that brought it
//
// Source: astra-sim/astra-sim, system/astraccl (custom collectives). include/tenex/exchange/README.md has what it makes
// of them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "exchange/chakra_trace.hpp"
#include "exchange/foreign_formats.hpp"
#include "tenex/exchange/foreign_schedule.hpp"
#include "tenex/exchange/machine_text.hpp"
#include "tenex/exchange/moves.hpp"
#include "tenex/exchange/schedule_export.hpp"

namespace tenex {
namespace exchange {
namespace {

std::string text_of(const std::vector<MovePlace>& places) {
  std::string text;
  for (const auto& place : places) text += fmt::format("{}{}{}", text.empty() ? "" : " ", place.buffer, place.index);
  return text;
}

/// One NPU's trace as it grows.
class RankTrace {
 public:
  explicit RankTrace(ChakraTrace trace) : trace_(std::move(trace)) {}

  /// A node that reads and writes places. Returns its id.
  std::uint64_t add(ChakraNode node, const std::vector<MovePlace>& reads, const std::vector<MovePlace>& writes) {
    node.id = trace_.nodes.size();
    for (const auto& place : reads)
      if (const auto& state = places_[place]; state.written) node.after.push_back(state.writer);
    for (const auto& place : writes) {
      const auto& state = places_[place];
      if (state.written) node.after.push_back(state.writer);
      node.after.insert(node.after.end(), state.readers.begin(), state.readers.end());
    }
    std::ranges::sort(node.after);
    node.after.erase(std::unique(node.after.begin(), node.after.end()), node.after.end());
    for (const auto& place : reads) places_[place].readers.push_back(node.id);
    for (const auto& place : writes) places_[place] = {true, node.id, {}};
    trace_.nodes.push_back(std::move(node));
    return trace_.nodes.back().id;
  }
  /// ASTRA-sim never ends the collective of a rank without nodes.
  void fill() {
    if (!trace_.nodes.empty()) return;
    ChakraNode node;
    node.name = "nothing to do";
    node.type = ChakraType::comp;
    add(std::move(node), {}, {});
  }
  [[nodiscard]] const ChakraTrace& trace() const { return trace_; }

 private:
  struct State {
    bool written = false;
    std::uint64_t writer = 0;
    std::vector<std::uint64_t> readers = {};  ///< since it was written
  };
  ChakraTrace trace_;
  std::map<MovePlace, State> places_;
};

class TraceWriter {
 public:
  TraceWriter(const ScheduleFile& file, const MovePlan& plan) : plan_(plan) {
    chunk_bytes_ = file.collective.chunk_bytes(ChunkId::at(0)).count();
    for (std::size_t rank = 0; rank < plan.npus; ++rank) {
      ChakraTrace trace;
      trace.attributes["tenex_collective"] = std::string(to_string(plan.kind));
      trace.attributes["tenex_npus"] = static_cast<std::int64_t>(plan.npus);
      trace.attributes["tenex_chunks"] = static_cast<std::int64_t>(plan.chunks);
      trace.attributes["tenex_in_place"] = plan.in_place;
      trace.attributes["tenex_rank"] = static_cast<std::int64_t>(rank);
      trace.attributes["tenex_size"] = file.collective.size().count();
      ranks_.emplace_back(std::move(trace));
    }
    tags_.resize(plan.moves.size());
  }

  std::vector<NamedText> write() {
    for (const auto& deed : plan_.deeds) {
      if (deed.kind == Deed::Kind::send) send(deed.index);
      if (deed.kind == Deed::Kind::receive) receive(plan_.moves[deed.index], tags_[deed.index]);
      if (deed.kind == Deed::Kind::local) compute(plan_.locals[deed.index]);
    }
    std::vector<NamedText> files;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      ranks_[rank].fill();
      files.push_back({fmt::format(".{}.et", rank), write_chakra(ranks_[rank].trace())});
    }
    return files;
  }

 private:
  [[nodiscard]] ChakraNode message(ChakraType type, std::string_view peer_name, std::uint32_t peer, std::int64_t tag,
                                   std::size_t chunks) const {
    ChakraNode node;
    node.name = fmt::format("{} {} {}", type == ChakraType::send ? "send to" : "receive from", peer, tag);
    node.type = type;
    node.attributes["comm_type"] = static_cast<std::int64_t>(type);
    node.attributes["comm_size"] = chunk_bytes_ * static_cast<std::int64_t>(chunks);
    node.attributes["comm_tag"] = tag;
    node.attributes["is_cpu_op"] = false;
    node.attributes.emplace(peer_name, std::int64_t{peer});
    return node;
  }

  void send(std::uint32_t number) {
    const Move& move = plan_.moves[number];
    tags_[number] = next_tag_[{move.source, move.target}]++;
    auto node = message(ChakraType::send, "comm_dst", move.target, tags_[number], move.from.size());
    node.attributes["tenex_from"] = text_of(move.from);
    ranks_[move.source].add(std::move(node), move.from, {});
  }

  void receive(const Move& move, std::int64_t tag) {
    auto node = message(ChakraType::receive, "comm_src", move.source, tag, move.to.size());
    if (!move.adds) {
      node.attributes["tenex_to"] = text_of(move.to);
      ranks_[move.target].add(std::move(node), {}, move.to);
      return;
    }
    const auto id = ranks_[move.target].add(std::move(node), {}, {});
    ChakraNode sum;
    sum.name = fmt::format("add {} {}", move.source, tag);
    sum.type = ChakraType::comp;
    sum.after = {id};
    sum.attributes["tenex_to"] = text_of(move.to);
    sum.attributes["tenex_adds"] = true;
    sum.attributes["tenex_receive"] = static_cast<std::int64_t>(id);
    ranks_[move.target].add(std::move(sum), move.to, move.to);
  }

  void compute(const LocalMove& local) {
    ChakraNode node;
    node.name = local.adds ? "add" : "copy";
    node.type = ChakraType::comp;
    node.attributes["tenex_from"] = text_of({local.from});
    node.attributes["tenex_to"] = text_of({local.to});
    node.attributes["tenex_adds"] = local.adds;
    std::vector<MovePlace> reads{local.from};
    if (local.adds) reads.push_back(local.to);
    ranks_[local.npu].add(std::move(node), reads, {local.to});
  }

  const MovePlan& plan_;
  std::int64_t chunk_bytes_ = 0;
  std::vector<RankTrace> ranks_;
  std::vector<std::int64_t> tags_;  ///< by move
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> next_tag_;
};

/// A collective's number in the format's enum CollectiveCommType.
std::optional<std::int64_t> number_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 0;
    case CollectiveKind::all_gather:
      return 2;
    case CollectiveKind::all_to_all:
      return 6;
    case CollectiveKind::reduce_scatter:
      return 7;
    default:
      return std::nullopt;
  }
}

/// The bytes of a collective's argument on one rank, which a workload states.
Bytes argument_of(const Collective& collective) {
  if (collective.kind() != CollectiveKind::all_gather) return collective.size();
  return Bytes::of(ceil_div(collective.size().count(), static_cast<std::int64_t>(collective.npus())));
}

/// A workload of one collective, for each rank.
std::vector<NamedText> workload_of(const ScheduleFile& file) {
  std::vector<NamedText> files;
  for (std::size_t rank = 0; rank < file.topology.npus(); ++rank) {
    ChakraTrace trace;
    ChakraNode node;
    node.name = std::string(to_string(file.collective.kind()));
    node.type = ChakraType::collective;
    node.attributes["comm_type"] = number_of(file.collective.kind()).value();
    node.attributes["comm_size"] = argument_of(file.collective).count();
    node.attributes["is_cpu_op"] = false;
    trace.nodes.push_back(std::move(node));
    files.push_back({fmt::format(".workload.{}.et", rank), write_chakra(trace)});
  }
  return files;
}

/// ASTRA-sim's system of a network whose collective is the schedule.
std::string system_of(CollectiveKind kind, const std::string& prefix) {
  std::string name(to_string(kind));
  std::ranges::replace(name, '_', '-');
  return fmt::format(
      "{{\n  \"scheduling-policy\": \"FIFO\",\n  \"preferred-dataset-splits\": 1,\n"
      "  \"active-chunks-per-dimension\": 1,\n  \"{}-implementation-custom\": [\"{}\"],\n  \"local-mem-bw\": 50\n}}\n",
      name, plain(prefix));
}

}  // namespace
}  // namespace exchange

Result<std::vector<NamedText>> to_checked_chakra(const ScheduleFile& file, const ScheduleExportOptions& options) {
  const auto plan = exchange::plan_moves(file);
  if (!plan) return plan.errors();
  auto files = exchange::TraceWriter(file, *plan).write();
  std::vector<SourceText> written;
  for (const auto& [name, bytes] : files) written.push_back({options.name + name, bytes});
  if (auto status = exchange::expect_valid(interpret_traces(written)); !status) return status.errors();
  for (auto& each : exchange::workload_of(file)) files.push_back(std::move(each));
  files.push_back({".system.json", exchange::system_of(file.collective.kind(), options.name)});
  files.push_back({".memory.json", "{\n  \"memory-type\": \"NO_MEMORY_EXPANSION\"\n}\n"});
  return files;
}

}  // namespace tenex
