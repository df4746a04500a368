// Writes execution plans of mscclpp 0.9.0.
//
// Every pair of GPUs that moves join has threadblocks of its own at both ends, each pair of them with a channel: memory
// channels inside a node, port channels between nodes. The receiver says by a relaxed signal that its launch has begun;
// the sender waits for it, then puts and signals. What is to be added goes to scratch of the receiver, which adds it.
// Threadblocks of a GPU wait for each other by semaphores, one for each pair of them: the k-th acquire is for the k-th
// release. Known bugs of 0.9.0 are written around: puts in place of gets, pwsf in place of flush, sources of one buffer
// in one put.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
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
constexpr std::size_t kMostRanges = 10;      ///< of an operation
constexpr std::size_t kMostSemaphores = 16;  ///< of an operation

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

std::string ranges(const std::vector<std::pair<MovePlace, std::size_t>>& all, std::int64_t remote) {
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
  PlanWriter(const MovePlan& plan, std::uint32_t node_npus, bool stages)
      : plan_(plan), node_(node_npus == 0 ? static_cast<std::uint32_t>(plan.npus) : node_npus), stages_(stages) {}

  /// False: a threadblock has too many operations.
  bool lay_out(std::size_t moves_per_block) {
    gpus_.assign(plan_.npus, {});
    blocks_.clear();
    lanes_.clear();
    for (std::size_t g = 0; g < plan_.npus; ++g) gpus_[g].scratch = plan_.scratch[g];
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> moves;
    for (const Deed& deed : plan_.deeds)
      if (deed.kind == Deed::Kind::send) ++moves[{plan_.moves[deed.index].source, plan_.moves[deed.index].target}];
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> next;
    std::map<std::uint32_t, std::size_t> lane_of;
    std::map<std::uint32_t, std::vector<PutRun>> staged;
    for (const Deed& deed : plan_.deeds) {
      if (deed.kind == Deed::Kind::local) {
        do_local(plan_.locals[deed.index], moves_per_block);
        continue;
      }
      const Move& move = plan_.moves[deed.index];
      const std::pair pair(move.source, move.target);
      if (deed.kind == Deed::Kind::send) {
        lane_of[deed.index] = next[pair]++ % ((moves[pair] + moves_per_block - 1) / moves_per_block);
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
      const auto type = block.port ? "port" : "memory";
      block.begin = fmt::format("{{\"name\": \"{}\", \"channel_ids\": [0], \"channel_type\": \"{}\"}}",
                                gpu == source ? "rlxwait" : "rlxsignal", type);
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

  void send(const Move& move, const std::vector<PutRun>& runs, std::size_t lane) {
    const auto gpu = move.source;
    const auto number = block_for(gpu, move.source, move.target, lane);
    Part& part = add(gpu, number, places(runs, &PutRun::from), {});
    auto& block = gpus_[gpu].blocks[number];
    const auto type = block.port ? "port" : "memory";
    // The runs of one source buffer and one destination buffer share a put.
    for (std::size_t first = 0; first < runs.size();) {
      std::vector<std::pair<MovePlace, std::size_t>> from;
      std::vector<std::pair<MovePlace, std::size_t>> to;
      auto end = first;
      for (; end < runs.size() && from.size() < kMostRanges && runs[end].from.buffer == runs[first].from.buffer &&
             runs[end].to.buffer == runs[first].to.buffer;
           ++end) {
        from.emplace_back(runs[end].from, runs[end].count);
        to.emplace_back(runs[end].to, runs[end].count);
      }
      const bool last = end == runs.size();
      const auto remote = buffer_ref(gpu, block, move.target, runs[first].to.buffer);
      part.body.push_back(
          fmt::format("{{\"name\": \"{}\", \"src_buff\": [{}], \"dst_buff\": [{}], \"channel_ids\": [0], "
                      "\"channel_type\": \"{}\"}}",
                      block.port && last ? "pwsf" : "put", ranges(from, -1), ranges(to, remote), type));
      first = end;
    }
    part.body.emplace_back("{\"name\": \"nop\"}");
    if (!block.port) part.body.push_back("{\"name\": \"signal\", \"channel_ids\": [0], \"channel_type\": \"memory\"}");
  }

  void receive(const Move& move, const std::vector<PutRun>& runs, std::size_t lane) {
    const auto gpu = move.target;
    const auto number = block_for(gpu, move.source, move.target, lane);
    const bool aside = move.adds || stages_;
    Part& part = add(gpu, number, {}, aside ? move.to : places(runs, &PutRun::to));
    const auto type = gpus_[gpu].blocks[number].port ? "port" : "memory";
    part.body.push_back(fmt::format("{{\"name\": \"wait\", \"channel_ids\": [0], \"channel_type\": \"{}\"}}", type));
    part.body.emplace_back("{\"name\": \"nop\"}");
    if (!aside) return;
    const auto put = places(runs, &PutRun::to);
    for (std::size_t i = 0; i < put.size();) {
      std::size_t count = 1;
      while (i + count < put.size() && put[i + count].index == put[i].index + count &&
             move.to[i + count].buffer == move.to[i].buffer && move.to[i + count].index == move.to[i].index + count)
        ++count;
      part.body.push_back(local_operation({put[i], count}, {move.to[i], count}, move.adds));
      i += count;
    }
    part.body.emplace_back("{\"name\": \"nop\"}");
  }

  static std::string local_operation(const std::pair<MovePlace, std::size_t>& from,
                                     const std::pair<MovePlace, std::size_t>& to, bool adds) {
    if (!adds)
      return fmt::format("{{\"name\": \"copy\", \"src_buff\": [{}], \"dst_buff\": [{}]}}", ranges({from}, -1),
                         ranges({to}, -1));
    return fmt::format("{{\"name\": \"re\", \"src_buff\": [{}], \"dst_buff\": [{}], \"reduce_op\": \"sum\"}}",
                       ranges({to, from}, -1), ranges({to}, -1));
  }

  void do_local(const LocalMove& local, std::size_t moves_per_block) {
    const auto lane = gpus_[local.npu].locals++ / moves_per_block;
    const auto number = block_for(local.npu, local.npu, local.npu, lane);
    Part& part = add(local.npu, number, {local.from}, {local.to});
    part.body.push_back(local_operation({local.from, 1}, {local.to, 1}, local.adds));
    part.body.emplace_back("{\"name\": \"nop\"}");
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
      all.emplace_back("{\"name\": \"nop\"}");
    }
    for (const auto& part : block.parts) {
      semaphores("sem_acquire", part.acquires);
      if (!part.acquires.empty()) all.emplace_back("{\"name\": \"nop\"}");
      all.insert(all.end(), part.body.begin(), part.body.end());
      semaphores("sem_release", part.releases);
    }
    return all;
  }

  const MovePlan& plan_;
  std::uint32_t node_;
  bool stages_;  ///< everything is put in scratch first
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
  // Where sums are kept in parts, a final value may come while an input is still sent to others: it is put aside first.
  PlanWriter writer(*plan, options.node_npus, plan->keeps_parts);
  bool fits = false;
  for (std::size_t fill = 16; fill > 0 && !fits; fill = fill * 2 / 3) fits = writer.lay_out(fill);
  if (!fits)
    return unsupported_error({}, "an op list of the schedule does not fit in a threadblock",
                             fmt::format("the executor runs {} ops", kMostOperations), "use fewer chunks");
  const auto name = options.name.empty()
                        ? fmt::format("{}_{}_{}", file.algorithm, exchange::word_of(plan->kind), plan->npus)
                        : options.name;
  return writer.text(fmt::format(
      "{{\"name\": \"{}\", \"collective\": \"{}\", \"protocol\": \"Simple\", \"inplace\": {},\n \"reuse_resources\": "
      "false, \"use_double_scratch_buffer\": false, \"buffer_alignment\": 16,\n \"num_threads_per_block\": 1024, "
      "\"min_message_size\": 0, \"max_message_size\": 18446744073709551615,\n",
      exchange::plain(name), exchange::word_of(plan->kind), plan->in_place ? "true" : "false"));
}

}  // namespace tenex
