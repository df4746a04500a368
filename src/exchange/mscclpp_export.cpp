// Writes execution plans of mscclpp 0.9.0.
//
// Every pair of GPUs that moves join has threadblocks of its own at both ends, each pair of them with a channel: memory
// channels inside a node, port channels between nodes. The receiver says by a relaxed signal that its launch has begun;
// the sender waits for it, then puts and signals. What is to be added goes to scratch of the receiver, which adds it.
// Threadblocks of a GPU wait for each other by semaphores, one for each pair of them: the k-th acquire is for the k-th
// release. Known bugs of 0.9.0 are written around: puts in place of gets, sources of one buffer in one put. Neither
// flush nor pwsf ends a launch over a port (flush does nothing, pwsf reads its source at the address of a table): the
// receiver says by a relaxed signal that all is there. Threads of a threadblock push a port's puts, each its range, so
// the last put, which signals, has one range and comes after a nop.
//
// Under the protocol LL, every move is packets in scratch of the receiver, which tell by themselves that they are
// there: no signals, no handshakes. Each has scratch of its own, so that no packet is overwritten, and scratch is
// doubled, so that the next launch may begin while a reader of this one is late: no GPU ends a launch of these
// collectives before every other has begun it. A port channel forwards packets from scratch of the sender, range by
// range.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "exchange/collective_words.hpp"
#include "tenex/exchange/machine_text.hpp"
#include "tenex/exchange/moves.hpp"
#include "tenex/exchange/schedule_export.hpp"

namespace tenex {
namespace {

using exchange::Deed;
using exchange::LocalMove;
using exchange::Move;
using exchange::MovePlace;
using exchange::MovePlan;
using exchange::PlaceState;
using exchange::Touch;

constexpr std::size_t kMostOperations = 64;  ///< of a threadblock
constexpr std::size_t kMostRanges = 8;       ///< of an operation: each has a channel, of which it may have 8
constexpr std::size_t kMostSemaphores = 16;  ///< of an operation
constexpr std::string_view kNop = "{\"name\": \"nop\"}";
constexpr std::string_view kSimple = "Simple";
constexpr std::string_view kPackets = "LL";
/// Bytes of a collective up to which a plan has packets unless the protocol is given: the limit of the plan that
/// mscclpp 0.9.0 installs for All-Reduces between nodes.
constexpr std::int64_t kMostBytesOfPackets = std::int64_t{64} << 10;

/// Chunks that lie one behind the other at both ends.
struct PutRun {
  MovePlace from;
  MovePlace to;
  std::size_t count = 0;
};

/// One thing that a threadblock does, with what it waits for and who waits for it.
struct Part {
  std::vector<std::uint32_t> acquires;
  std::vector<std::string> body;
  std::vector<std::uint32_t> releases;
};

struct BlockPlan {
  std::int64_t peer = -1;
  bool port = false;
  std::uint32_t channel = 0;           ///< of the GPU's list of its type
  std::vector<std::uint32_t> buffers;  ///< of the GPU's remote buffers
  std::string begin;
  std::string end;
  std::vector<Part> parts;
  std::map<std::uint32_t, std::size_t> waited;  ///< by threadblock: the last part that it has waited for
};

struct GpuPlan {
  std::vector<BlockPlan> blocks;
  std::array<std::vector<std::uint32_t>, 2> connected;                          ///< memory, port: peers
  std::vector<std::tuple<std::uint32_t, char, bool>> buffers;                   ///< rank, type, over a port
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> semaphores;  ///< by releasing and acquiring block
  std::map<MovePlace, PlaceState> places;
  std::uint32_t scratch = 0;
  std::size_t locals = 0;
};

using Places = std::pair<MovePlace, std::size_t>;  ///< consecutive ones

std::string ranges(const std::vector<Places>& all, std::int64_t remote) {
  std::string out;
  for (const auto& [place, count] : all)
    out += fmt::format(
        "{}{{{}, \"index\": {}, \"size\": {}}}", out.empty() ? "" : ", ",
        remote < 0 ? fmt::format("\"type\": \"{}\"", place.buffer) : fmt::format("\"buffer_id\": {}", remote),
        place.index, count);
  return out;
}

class PlanWriter {
 public:
  PlanWriter(const MovePlan& plan, std::uint32_t node_npus, bool packets)
      : plan_(plan),
        node_(node_npus == 0 ? static_cast<std::uint32_t>(plan.npus) : node_npus),
        packets_(packets),
        stages_(packets || plan.keeps_parts) {}

  /// False: a threadblock has too many operations.
  bool lay_out(std::size_t moves_per_block) {
    gpus_.assign(plan_.npus, {});
    blocks_.clear();
    lanes_.clear();
    for (std::size_t g = 0; g < plan_.npus; ++g) gpus_[g].scratch = plan_.scratch[g];
    const auto lane_of = exchange::lanes_of(
        plan_, [](const Move&) { return std::size_t{1}; }, moves_per_block);
    std::map<std::uint32_t, std::vector<PutRun>> staged;
    for (const Deed& deed : plan_.deeds) {
      if (deed.kind == Deed::Kind::local) {
        do_local(plan_.locals[deed.index], moves_per_block);
        continue;
      }
      const Move& move = plan_.moves[deed.index];
      if (deed.kind == Deed::Kind::send) {
        staged[deed.index] = stage(move);
        send(move, staged[deed.index], lane_of[deed.index]);
      } else {
        receive(move, staged[deed.index], lane_of[deed.index]);
      }
    }
    for (const auto& gpu : gpus_)
      for (const auto& block : gpu.blocks)
        if (operations(block).size() > kMostOperations) return false;
    return true;
  }

  [[nodiscard]] std::string text(const std::string& head) const;

 private:
  [[nodiscard]] bool over_port(std::uint32_t a, std::uint32_t b) const { return a / node_ != b / node_; }

  /// The chunks of a move and where they are put: at their places, or in scratch of the receiver, from which it takes
  /// them.
  std::vector<PutRun> stage(const Move& move) {
    std::vector<PutRun> runs;
    auto& scratch = gpus_[move.target].scratch;
    const bool aside = move.adds || stages_;
    for (std::size_t i = 0; i < move.from.size(); ++i) {
      const MovePlace to = aside ? MovePlace{'s', scratch++} : move.to[i];
      const auto follows = [&](const MovePlace& first, const MovePlace& here) {
        return first.buffer == here.buffer && first.index + runs.back().count == here.index;
      };
      if (!runs.empty() && follows(runs.back().from, move.from[i]) && follows(runs.back().to, to))
        ++runs.back().count;
      else
        runs.push_back({move.from[i], to, 1});
    }
    return runs;
  }

  /// The channel of a lane of a pair: at both ends the same number among the channels to the other.
  std::uint32_t channel_of(std::uint32_t gpu, std::uint32_t peer, bool port, std::uint32_t number) {
    auto& list = gpus_[gpu].connected[port ? 1 : 0];
    std::uint32_t seen = 0;
    for (std::uint32_t c = 0; c < list.size(); ++c)
      if (list[c] == peer && seen++ == number) return c;
    while (seen <= number) {
      list.push_back(peer);
      ++seen;
    }
    return static_cast<std::uint32_t>(list.size()) - 1;
  }

  std::uint32_t block_for(std::uint32_t gpu, std::uint32_t source, std::uint32_t target, std::size_t lane) {
    const auto key = std::tuple(gpu, source, target, lane);
    if (const auto known = blocks_.find(key); known != blocks_.end()) return known->second;
    const auto number = static_cast<std::uint32_t>(gpus_[gpu].blocks.size());
    blocks_.emplace(key, number);
    BlockPlan block;
    if (source != target) {
      block.port = over_port(source, target);
      block.peer = gpu == source ? target : source;
      const auto lanes = lanes_.try_emplace(std::minmax(source, target)).first;
      const auto [at, fresh] =
          lanes->second.try_emplace({source, lane}, static_cast<std::uint32_t>(lanes->second.size()));
      (void)fresh;
      block.channel = channel_of(gpu, static_cast<std::uint32_t>(block.peer), block.port, at->second);
      if (!packets_) {
        block.begin = on_channel(gpu == source ? "rlxwait" : "rlxsignal", block.port);
        if (block.port) block.end = block.begin;
      }
    }
    gpus_[gpu].blocks.push_back(std::move(block));
    return number;
  }

  /// Adds a part to a block that waits for what touches its places.
  Part& add(std::uint32_t gpu, std::uint32_t block, const std::vector<MovePlace>& reads,
            const std::vector<MovePlace>& writes) {
    auto& plan = gpus_[gpu];
    std::map<std::uint32_t, std::size_t> needed;
    const auto need = [&](const std::vector<Touch>& touches) {
      for (const auto& touch : touches)
        if (touch.block != block) {
          auto& last = needed.try_emplace(touch.block, 0).first->second;
          last = std::max(last, touch.step);
        }
    };
    for (const auto& place : reads) need(plan.places[place].writes);
    for (const auto& place : writes) {
      need(plan.places[place].writes);
      need(plan.places[place].reads);
    }
    auto& target = plan.blocks[block];
    Part part;
    for (const auto& [other, number] : needed) {
      const auto known = target.waited.find(other);
      if (known != target.waited.end() && known->second >= number) continue;
      target.waited[other] = number;
      const auto semaphore =
          plan.semaphores.try_emplace({other, block}, static_cast<std::uint32_t>(plan.semaphores.size())).first->second;
      part.acquires.push_back(semaphore);
      plan.blocks[other].parts[number].releases.push_back(semaphore);
    }
    const Touch touch{block, target.parts.size()};
    for (const auto& place : reads) plan.places[place].reads.push_back(touch);
    for (const auto& place : writes) plan.places[place] = {{touch}, {}};
    target.parts.push_back(std::move(part));
    return target.parts.back();
  }

  static std::vector<MovePlace> places(const std::vector<PutRun>& runs, MovePlace PutRun::*end) {
    std::vector<MovePlace> all;
    for (const auto& run : runs)
      for (std::size_t i = 0; i < run.count; ++i)
        all.push_back({(run.*end).buffer, (run.*end).index + static_cast<std::uint32_t>(i)});
    return all;
  }

  std::uint32_t buffer_ref(std::uint32_t gpu, BlockPlan& block, std::uint32_t rank, char type) {
    auto& all = gpus_[gpu].buffers;
    const auto key = std::tuple(rank, type, block.port);
    auto found = std::ranges::find(all, key);
    if (found == all.end()) found = all.insert(all.end(), key);
    const auto number = static_cast<std::uint32_t>(found - all.begin());
    auto ref = std::ranges::find(block.buffers, number);
    if (ref == block.buffers.end()) ref = block.buffers.insert(block.buffers.end(), number);
    return static_cast<std::uint32_t>(ref - block.buffers.begin());
  }

  static std::string on_channel(std::string_view name, bool port) {
    return fmt::format("{{\"name\": \"{}\", \"channel_ids\": [0], \"channel_type\": \"{}\"}}", name,
                       port ? "port" : "memory");
  }

  void send(const Move& move, const std::vector<PutRun>& runs, std::size_t lane) {
    const auto number = block_for(move.source, move.source, move.target, lane);
    Part& part = add(move.source, number, places(runs, &PutRun::from), {});
    auto& block = gpus_[move.source].blocks[number];
    if (packets_ && block.port) {
      forward_packets(move, runs, block, part);
      return;
    }
    const std::string_view name = packets_ ? "ppkt" : "put";
    // A port's last put signals, and with one range alone.
    const auto before = block.port ? runs.size() - 1 : runs.size();
    for (std::size_t first = 0; first < before;) {
      const auto end = end_of_put(runs, first, before);
      put(name, move,
          {runs.begin() + static_cast<std::ptrdiff_t>(first), runs.begin() + static_cast<std::ptrdiff_t>(end)}, block,
          part);
      first = end;
    }
    if (before > 0) part.body.emplace_back(kNop);
    if (block.port) {
      put("pws", move, {runs.back()}, block, part);
      part.body.emplace_back(kNop);
    } else if (!packets_) {
      part.body.push_back(on_channel("signal", false));
    }
  }

  /// The runs from here on that share a put: of one source buffer and one destination buffer.
  static std::size_t end_of_put(const std::vector<PutRun>& runs, std::size_t first, std::size_t before) {
    auto end = first;
    while (end < before && end - first < kMostRanges && runs[end].from.buffer == runs[first].from.buffer &&
           runs[end].to.buffer == runs[first].to.buffer)
      ++end;
    return end;
  }

  void put(std::string_view name, const Move& move, const std::vector<PutRun>& runs, BlockPlan& block, Part& part) {
    std::vector<Places> from;
    std::vector<Places> to;
    std::string channels;  // each range has its own, though they are one
    for (const PutRun& run : runs) {
      from.emplace_back(run.from, run.count);
      to.emplace_back(run.to, run.count);
      channels += channels.empty() ? "0" : ", 0";
    }
    const auto remote = buffer_ref(move.source, block, move.target, runs.front().to.buffer);
    part.body.push_back(
        fmt::format("{{\"name\": \"{}\", \"src_buff\": [{}], \"dst_buff\": [{}], \"channel_ids\": [{}], "
                    "\"channel_type\": \"{}\"}}",
                    name, ranges(from, -1), ranges(to, remote), channels, block.port ? "port" : "memory"));
  }

  /// The chunks become packets in scratch of their own NPU, from where the port takes them.
  void forward_packets(const Move& move, const std::vector<PutRun>& runs, BlockPlan& block, Part& part) {
    auto& scratch = gpus_[move.source].scratch;
    for (const PutRun& run : runs) {
      const MovePlace own{'s', scratch};
      scratch += static_cast<std::uint32_t>(run.count);
      part.body.push_back(local_operation("cpkt", {{run.from, run.count}}, {own, run.count}));
      put("rppkt", move, {{own, run.to, run.count}}, block, part);
    }
    part.body.emplace_back(kNop);
  }

  void receive(const Move& move, const std::vector<PutRun>& runs, std::size_t lane) {
    const auto gpu = move.target;
    const auto number = block_for(gpu, move.source, move.target, lane);
    const bool aside = move.adds || stages_;
    Part& part = add(gpu, number, {}, aside ? move.to : places(runs, &PutRun::to));
    if (!packets_) {
      part.body.push_back(on_channel("wait", gpus_[gpu].blocks[number].port));
      part.body.emplace_back(kNop);
    }
    if (!aside) return;
    const auto put = places(runs, &PutRun::to);
    for (std::size_t i = 0; i < put.size();) {
      std::size_t count = 1;
      while (i + count < put.size() && put[i + count].index == put[i].index + count &&
             move.to[i + count].buffer == move.to[i].buffer && move.to[i + count].index == move.to[i].index + count)
        ++count;
      part.body.push_back(take({put[i], count}, {move.to[i], count}, move.adds, packets_));
      i += count;
    }
    part.body.emplace_back(kNop);
  }

  static std::string local_operation(std::string_view name, const std::vector<Places>& from, const Places& to) {
    const bool adds = from.size() > 1;
    return fmt::format("{{\"name\": \"{}\", \"src_buff\": [{}], \"dst_buff\": [{}]{}}}", name, ranges(from, -1),
                       ranges({to}, -1), adds ? ", \"reduce_op\": \"sum\"" : "");
  }
  /// to = from, or to += from.
  static std::string take(const Places& from, const Places& to, bool adds, bool packets) {
    if (adds) return local_operation(packets ? "repkt" : "re", {to, from}, to);
    return local_operation(packets ? "upkt" : "copy", {from}, to);
  }

  void do_local(const LocalMove& local, std::size_t moves_per_block) {
    const auto lane = gpus_[local.npu].locals++ / moves_per_block;
    const auto number = block_for(local.npu, local.npu, local.npu, lane);
    Part& part = add(local.npu, number, {local.from}, {local.to});
    part.body.push_back(take({local.from, 1}, {local.to, 1}, local.adds, false));
    part.body.emplace_back(kNop);
  }

  [[nodiscard]] static std::vector<std::string> operations(const BlockPlan& block) {
    std::vector<std::string> all;
    const auto semaphores = [&](std::string_view name, const std::vector<std::uint32_t>& ids) {
      for (std::size_t first = 0; first < ids.size(); first += kMostSemaphores) {
        std::string list;
        for (auto i = first; i < std::min(ids.size(), first + kMostSemaphores); ++i)
          list += fmt::format("{}{}", list.empty() ? "" : ", ", ids[i]);
        all.push_back(fmt::format("{{\"name\": \"{}\", \"semaphore_ids\": [{}]}}", name, list));
      }
    };
    if (!block.begin.empty()) {
      all.push_back(block.begin);
      all.emplace_back(kNop);
    }
    for (const auto& part : block.parts) {
      semaphores("sem_acquire", part.acquires);
      if (!part.acquires.empty()) all.emplace_back(kNop);
      all.insert(all.end(), part.body.begin(), part.body.end());
      semaphores("sem_release", part.releases);
    }
    if (!block.end.empty()) all.push_back(block.end);
    return all;
  }

  const MovePlan& plan_;
  std::uint32_t node_;
  bool packets_;  ///< the protocol is LL
  /// Everything is put in scratch first. Where sums are kept in parts, a final value may come while an input is still
  /// sent to others.
  bool stages_;
  std::vector<GpuPlan> gpus_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::size_t>, std::uint32_t> blocks_;
  /// By pair: the number of each lane's channel, by sender and lane.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::pair<std::uint32_t, std::size_t>, std::uint32_t>>
      lanes_;
};

template <class List, class Text>
std::string joined(const List& list, const Text& text) {
  std::string out;
  for (const auto& each : list) out += (out.empty() ? "" : ", ") + text(each);
  return out;
}

std::string PlanWriter::text(const std::string& head) const {
  const auto share = plan_.chunks / plan_.npus;
  const auto inputs = plan_.kind == CollectiveKind::all_gather ? share : plan_.chunks;
  const auto outputs = plan_.kind == CollectiveKind::reduce_scatter ? share : plan_.chunks;
  std::string out = head + " \"gpus\": [\n";
  for (std::size_t g = 0; g < gpus_.size(); ++g) {
    const auto& gpu = gpus_[g];
    out += fmt::format("  {{\"id\": {}, \"input_chunks\": {}, \"output_chunks\": {}, \"scratch_chunks\": {},\n", g,
                       inputs, outputs, gpu.scratch);
    out += "   \"threadblocks\": [";
    for (std::size_t b = 0; b < gpu.blocks.size(); ++b) {
      const auto& block = gpu.blocks[b];
      const std::string type = block.port ? "port" : "memory";
      out += fmt::format(
          "{}\n    {{\"id\": {}, \"ops\": [\n      {}],\n     \"channels\": [{}],\n     "
          "\"remote_buffer_refs\": [{}]}}",
          b == 0 ? "" : ",", b, joined(operations(block), [](const std::string& text) { return text; }),
          block.peer < 0 ? std::string()
                         : fmt::format("{{\"channel_type\": \"{}\", \"channel_ids\": [{}]}}", type, block.channel),
          block.buffers.empty() ? std::string()
                                : fmt::format("{{\"access_channel_type\": \"{}\", \"remote_buffer_ids\": [{}]}}", type,
                                              joined(block.buffers, [](auto id) { return std::to_string(id); })));
    }
    out += "],\n   \"channels\": [";
    bool any = false;
    for (const auto port : {0, 1})
      if (!gpu.connected[static_cast<std::size_t>(port)].empty()) {
        out += fmt::format(
            "{}{{\"channel_type\": \"{}\", \"connected_to\": [{}]}}", any ? ", " : "", port == 1 ? "port" : "memory",
            joined(gpu.connected[static_cast<std::size_t>(port)], [](auto peer) { return std::to_string(peer); }));
        any = true;
      }
    out += fmt::format("],\n   \"remote_buffers\": [{}],\n", joined(gpu.buffers, [](const auto& buffer) {
                         return fmt::format("{{\"rank\": {}, \"type\": \"{}\", \"access_channel_types\": [\"{}\"]}}",
                                            std::get<0>(buffer), std::get<1>(buffer),
                                            std::get<2>(buffer) ? "port" : "memory");
                       }));
    out += fmt::format("   \"semaphores\": [{}]}}{}\n",
                       joined(gpu.semaphores, [](const auto&) { return std::string("{\"init_value\": 0}"); }),
                       g + 1 == gpus_.size() ? "" : ",");
  }
  return out + " ]}\n";
}

}  // namespace

Result<std::string> to_mscclpp(const ScheduleFile& file, const ScheduleExportOptions& options) {
  const auto plan = exchange::plan_moves(file);
  if (!plan) return plan.errors();
  const auto bytes = file.collective.size().count();
  const auto protocol = !options.protocol.empty()      ? std::string_view(options.protocol)
                        : bytes <= kMostBytesOfPackets ? kPackets
                                                       : kSimple;
  if (protocol != kPackets && protocol != kSimple)
    return unsupported_error({"--protocol", 0, 0}, fmt::format("the protocol {} in a plan of mscclpp", protocol),
                             "its executor has Simple and LL", "leave it out, which takes LL up to 64 KiB");
  const bool packets = protocol == kPackets;
  PlanWriter writer(*plan, options.node_npus, packets);
  bool fits = false;
  for (std::size_t fill = 16; fill > 0 && !fits; fill = fill * 2 / 3) fits = writer.lay_out(fill);
  if (!fits)
    return resource_error("an op list of the schedule does not fit in a threadblock",
                          fmt::format("the executor runs {} ops", kMostOperations), "use fewer chunks");
  const auto name = options.name.empty()
                        ? fmt::format("{}_{}_{}", file.algorithm, exchange::word_of(plan->kind), plan->npus)
                        : options.name;
  // Packets take twice the bytes and four times the scratch, so a plan with them is not for all sizes.
  const auto most = packets ? static_cast<std::uint64_t>(std::max(bytes, kMostBytesOfPackets))
                            : std::numeric_limits<std::uint64_t>::max();
  return writer.text(fmt::format(
      "{{\"name\": \"{}\", \"collective\": \"{}\", \"protocol\": \"{}\", \"inplace\": {},\n \"reuse_resources\": "
      "false, \"use_double_scratch_buffer\": {}, \"buffer_alignment\": 16,\n \"num_threads_per_block\": 1024, "
      "\"min_message_size\": 0, \"max_message_size\": {},\n",
      exchange::plain(name), exchange::word_of(plan->kind), protocol, plan->in_place ? "true" : "false",
      packets ? "true" : "false", most));
}

}  // namespace tenex
