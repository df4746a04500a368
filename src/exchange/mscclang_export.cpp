// Writes MSCCLang XML.
//
// Every pair of GPUs that moves join has threadblocks of its own at both ends, as many as the moves fill (one for each
// channel), and every GPU has threadblocks for what it does with its own buffers. Steps follow the time of the
// schedule, so no step waits for a later one. A step waits for the last access of each of its places that it conflicts
// with, in other threadblocks; dependencies beyond the first stand in nops before it. A step moves chunks that lie one
// behind the other at both ends.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "exchange/collective_words.hpp"
#include "exchange/foreign_formats.hpp"
#include "tenex/exchange/foreign_schedule.hpp"
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

/// What an executor runs.
struct ExecutorLimits {
  std::string_view name;
  std::size_t steps;   ///< of a threadblock
  std::size_t blocks;  ///< of a GPU
  std::size_t channels;
};
constexpr std::array kLimits{
    ExecutorLimits{"azure", 64, 1024, 32},
    ExecutorLimits{"rccl", 64, 64, 32},
    ExecutorLimits{"msccl", 256, 216, 32},
};
constexpr std::size_t kMostCount = 71;

/// Chunks of a move that lie one behind the other at both ends.
struct XmlRun {
  std::uint32_t move = 0;
  MovePlace from;
  MovePlace to;
  std::size_t count = 0;
};

struct StepText {
  std::string_view type;
  MovePlace from;
  MovePlace to;
  std::size_t count = 0;
  std::int64_t depends_on = -1;
  std::int64_t depends_step = -1;
  bool published = false;
};

struct BlockText {
  std::int64_t send = -1;
  std::int64_t receive = -1;
  std::size_t channel = 0;
  std::vector<StepText> steps;
  std::map<std::uint32_t, std::int64_t> waited;  ///< by threadblock: the last step that it has waited for
};

class MscclangWriter {
 public:
  MscclangWriter(const MovePlan& plan, const ExecutorLimits& limits) : plan_(plan), limits_(limits) {}

  /// The threadblocks of all GPUs, with so many channels for moves of a pair. False: a threadblock has too many steps.
  bool lay_out(std::size_t steps_per_block) {
    gpus_.assign(plan_.npus, {});
    places_.assign(plan_.npus, {});
    blocks_.clear();
    locals_done_.clear();
    runs_of_.clear();
    cut();
    const auto channel_of = exchange::lanes_of(
        plan_, [&](const Move& move) { return runs_of_[static_cast<std::size_t>(&move - plan_.moves.data())].size(); },
        steps_per_block);
    for (const Deed& deed : plan_.deeds) {
      if (deed.kind == Deed::Kind::local) {
        do_local(plan_.locals[deed.index], steps_per_block);
        continue;
      }
      const Move& move = plan_.moves[deed.index];
      for (const auto& run : runs_of_[deed.index]) do_move(deed.kind, move, run, channel_of[deed.index]);
    }
    for (const auto& gpu : gpus_)
      for (const auto& block : gpu)
        if (block.steps.size() > limits_.steps) return false;
    return true;
  }

  [[nodiscard]] std::size_t most_blocks() const {
    std::size_t most = 0;
    for (const auto& gpu : gpus_) most = std::max(most, gpu.size());
    return most;
  }
  [[nodiscard]] std::size_t channels() const {
    std::size_t most = 1;
    for (const auto& gpu : gpus_)
      for (const auto& block : gpu) most = std::max(most, block.channel + 1);
    return most;
  }
  [[nodiscard]] std::string text(const std::string& head) const;

 private:
  void cut() {
    for (std::uint32_t m = 0; m < plan_.moves.size(); ++m) {
      const Move& move = plan_.moves[m];
      std::vector<XmlRun> runs;
      for (std::size_t i = 0; i < move.from.size() && i < move.to.size(); ++i) {
        const auto follows = [&](const MovePlace& first, const MovePlace& here, std::size_t count) {
          return first.buffer == here.buffer && first.index + count == here.index;
        };
        if (!runs.empty() && runs.back().count < kMostCount &&
            follows(runs.back().from, move.from[i], runs.back().count) &&
            follows(runs.back().to, move.to[i], runs.back().count))
          ++runs.back().count;
        else
          runs.push_back({m, move.from[i], move.to[i], 1});
      }
      runs_of_.push_back(std::move(runs));
    }
  }

  std::uint32_t block_for(std::uint32_t gpu, std::int64_t send, std::int64_t receive, std::size_t channel) {
    const auto [known, fresh] =
        blocks_.try_emplace({gpu, send, receive, channel}, static_cast<std::uint32_t>(gpus_[gpu].size()));
    if (fresh) {
      BlockText block;
      block.send = send;
      block.receive = receive;
      block.channel = send < 0 && receive < 0 ? 0 : channel;
      gpus_[gpu].push_back(std::move(block));
    }
    return known->second;
  }

  void do_local(const LocalMove& local, std::size_t steps_per_block) {
    auto& count = locals_done_[local.npu];
    const auto block = block_for(local.npu, -1, -1, count++ / std::max<std::size_t>(1, steps_per_block / 2));
    StepText step{local.adds ? "re" : "cpy", local.from, local.to, 1};
    add(local.npu, block, step, {local.from}, {local.to}, local.adds);
  }

  void do_move(Deed::Kind kind, const Move& move, const XmlRun& run, std::size_t channel) {
    const bool sends = kind == Deed::Kind::send;
    const auto gpu = sends ? move.source : move.target;
    const auto block = sends ? block_for(gpu, move.target, -1, channel) : block_for(gpu, -1, move.source, channel);
    const auto range = [&](const MovePlace& first) {
      std::vector<MovePlace> all;
      for (std::size_t i = 0; i < run.count; ++i)
        all.push_back({first.buffer, first.index + static_cast<std::uint32_t>(i)});
      return all;
    };
    if (sends)
      add(gpu, block, {"s", run.from, run.from, run.count}, range(run.from), {}, false);
    else if (move.adds)
      add(gpu, block, {"rrc", run.to, run.to, run.count}, {}, range(run.to), true);
    else
      add(gpu, block, {"r", run.to, run.to, run.count}, {}, range(run.to), false);
  }

  /// Adds a step that waits for what touches its places.
  void add(std::uint32_t gpu, std::uint32_t block, StepText step, const std::vector<MovePlace>& reads,
           const std::vector<MovePlace>& writes, bool reads_target) {
    std::map<std::uint32_t, std::int64_t> needed;
    const auto need = [&](const std::vector<Touch>& touches) {
      for (const auto& touch : touches)
        if (touch.block != block) {
          auto& last = needed.try_emplace(touch.block, -1).first->second;
          last = std::max(last, static_cast<std::int64_t>(touch.step));
        }
    };
    auto& places = places_[gpu];
    for (const auto& place : reads) need(places[place].writes);
    for (const auto& place : writes) {
      need(places[place].writes);
      need(places[place].reads);
    }
    (void)reads_target;  // what is added to is written, too
    auto& text = gpus_[gpu][block];
    std::erase_if(needed, [&](const auto& each) {
      const auto known = text.waited.find(each.first);
      return known != text.waited.end() && known->second >= each.second;
    });
    std::size_t left = needed.size();
    for (const auto& [other, number] : needed) {
      gpus_[gpu][other].steps[static_cast<std::size_t>(number)].published = true;
      text.waited[other] = number;
      StepText waiting = --left == 0 ? step : StepText{"nop", {}, {}, 0};
      waiting.depends_on = other;
      waiting.depends_step = number;
      text.steps.push_back(waiting);
    }
    if (needed.empty()) text.steps.push_back(step);
    const Touch touch{block, text.steps.size() - 1};
    for (const auto& place : reads) places[place].reads.push_back(touch);
    for (const auto& place : writes) places[place] = {{touch}, {}};
  }

  const MovePlan& plan_;
  const ExecutorLimits& limits_;
  std::vector<std::vector<XmlRun>> runs_of_;
  std::vector<std::vector<BlockText>> gpus_;
  std::vector<std::map<MovePlace, PlaceState>> places_;
  std::map<std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::size_t>, std::uint32_t> blocks_;
  std::map<std::uint32_t, std::size_t> locals_done_;
};

std::string MscclangWriter::text(const std::string& head) const {
  std::string out = head;
  const auto chunks = plan_.chunks;
  const auto inputs = plan_.kind == CollectiveKind::all_gather ? 0 : chunks;
  const auto outputs =
      plan_.kind == CollectiveKind::all_gather || plan_.kind == CollectiveKind::all_to_all ? chunks : 0;
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    out += fmt::format("  <gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n", gpu, inputs, outputs,
                       plan_.scratch[gpu]);
    for (std::size_t b = 0; b < gpus_[gpu].size(); ++b) {
      const auto& block = gpus_[gpu][b];
      out += fmt::format("    <tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n", b, block.send, block.receive,
                         block.channel);
      for (std::size_t s = 0; s < block.steps.size(); ++s) {
        const auto& step = block.steps[s];
        const bool nop = step.count == 0;
        out += fmt::format(
            "      <step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" cnt=\"{}\" "
            "depid=\"{}\" deps=\"{}\" hasdep=\"{}\"/>\n",
            s, step.type, step.from.buffer, nop ? -1 : static_cast<std::int64_t>(step.from.index), step.to.buffer,
            nop ? -1 : static_cast<std::int64_t>(step.to.index), step.count, step.depends_on, step.depends_step,
            step.published ? 1 : 0);
      }
      out += "    </tb>\n";
    }
    out += "  </gpu>\n";
  }
  return out + "</algo>\n";
}

Result<std::string> write(const ScheduleFile& file, const ScheduleExportOptions& options, std::int64_t most_bytes) {
  const auto plan = exchange::plan_moves(file);
  if (!plan) return plan.errors();
  const std::string_view executor = options.executor.empty() ? std::string_view("rccl") : options.executor;
  const auto* const limits = std::ranges::find(kLimits, executor, &ExecutorLimits::name);
  if (limits == kLimits.end())
    return input_error({"--for", 0, 0}, fmt::format("nobody named {} runs MSCCLang", executor),
                       "azure, rccl and msccl do");
  const std::string_view protocol = options.protocol.empty() ? std::string_view("Simple") : options.protocol;
  MscclangWriter writer(*plan, *limits);
  bool fits = false;
  // Dependencies beyond the first take steps of their own, so threadblocks begin less full where they are many.
  for (auto fill = limits->steps; fill > 0 && !fits; fill = fill * 2 / 3) fits = writer.lay_out(fill);
  if (!fits || writer.most_blocks() > limits->blocks || writer.channels() > limits->channels)
    return resource_error(fmt::format("the schedule takes {} threadblocks on a gpu and {} channels",
                                      writer.most_blocks(), writer.channels()),
                          fmt::format("{} runs {} threadblocks of {} steps and {} channels", limits->name,
                                      limits->blocks, limits->steps, limits->channels),
                          "use fewer chunks");
  const auto name = options.name.empty()
                        ? fmt::format("{}_{}_{}", file.algorithm, exchange::word_of(plan->kind), plan->npus)
                        : options.name;
  const auto head = fmt::format(
      "<algo name=\"{}\" proto=\"{}\" nchannels=\"{}\" nchunksperloop=\"{}\" ngpus=\"{}\" coll=\"{}\" inplace=\"{}\" "
      "outofplace=\"{}\" minBytes=\"0\" maxBytes=\"{}\">\n",
      exchange::plain(name), protocol, writer.channels(), plan->chunks, plan->npus, exchange::word_of(plan->kind),
      plan->in_place ? 1 : 0, plan->in_place ? 0 : 1, most_bytes);
  return writer.text(head);
}

/// The text, if the interpreter finds it valid; `schedule` is what it found.
Result<std::string> checked(Result<std::string> text, const std::string& what, ForeignSchedule* found = nullptr) {
  if (!text) return text;
  auto schedule = interpret_schedule({what, *text});
  if (!schedule)  // only its size can be wrong
    return resource_error("the file is larger than what is interpreted", schedule.errors().front().problem,
                          "use fewer chunks");
  if (found != nullptr) *found = *schedule;
  const bool hangs = !schedule->valid() && schedule->wrong.front().wrong == Wrong::hang;
  if (hangs && found != nullptr) return text;
  if (auto status = exchange::expect_valid(schedule); !status) return status.errors();
  return text;
}

}  // namespace

std::vector<std::string_view> mscclang_executor_names() {
  std::vector<std::string_view> names;
  for (const auto& limits : kLimits) names.push_back(limits.name);
  return names;
}

Result<std::string> to_mscclang(const ScheduleFile& file, const ScheduleExportOptions& options) {
  return write(file, options, 0);
}

Result<std::string> to_checked_mscclang(const ScheduleFile& file, const ScheduleExportOptions& options) {
  ForeignSchedule found;
  auto text = checked(write(file, options, 0), "exported.xml", &found);
  if (!text || !found.hangs_from) return text;
  if (found.hangs_from->count() <= 1)
    return unsupported_error({}, "the schedule sends more at once than a FIFO holds at any size",
                             found.wrong.front().message, "use another protocol: LL and LL128 have more slots");
  return checked(write(file, options, found.hangs_from->count() - 1), "exported.xml");
}

Result<std::string> to_checked_mscclpp(const ScheduleFile& file, const ScheduleExportOptions& options) {
  return checked(to_mscclpp(file, options), "exported.json");
}

}  // namespace tenex
