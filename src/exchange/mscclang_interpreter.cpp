// Interprets MSCCLang XML with symbolic buffers.
//
// Every threadblock is a thread whose step s runs in epoch s + 1. What a step knows: what its threadblock knows, what
// the step knew that published what it waited for, and what the sender knew whose chunks it receives. These orders hold
// in every execution, so values and races found in one execution are those of all: without a race every read sees the
// same write in all of them.
//
// Sizes at which a finite FIFO fills: a slot holds max(1, slot bytes / chunk bytes) chunks, so a step of cnt chunks
// takes ceil(cnt / that) slots. Fewer chunks in a slot mean more slots: each number is tried.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <memory>
#include <utility>

#include "exchange/foreign_formats.hpp"
#include "exchange/mscclang_file.hpp"
#include "exchange/mscclang_progress.hpp"

namespace tenex::exchange {
namespace {

constexpr std::size_t kMostClockBytes = std::size_t{256} << 20;
constexpr std::size_t kMostXmlItems = std::size_t{1} << 24;
constexpr std::size_t kMostMoved = std::size_t{1} << 22;

/// Where the places of one GPU's buffers are; in place, two buffers share places.
struct GpuLayout {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  std::size_t scratch = 0;
  std::size_t input_at = 0;  ///< from the GPU's first place
  std::size_t output_at = 0;
  std::size_t scratch_at = 0;
  std::size_t places = 0;
};

GpuLayout layout_of(const MscclangFile& file, const Outcome& outcome, std::size_t gpu, bool in_place) {
  GpuLayout layout;
  layout.inputs = outcome.inputs();
  layout.outputs = outcome.outputs();
  layout.scratch = static_cast<std::size_t>(file.gpus[gpu].scratch);
  const auto share = static_cast<std::size_t>(file.chunks) / file.gpus.size();
  if (!in_place)
    layout.output_at = layout.inputs;
  else if (file.kind == CollectiveKind::all_gather)
    layout.input_at = gpu * share;
  else if (file.kind == CollectiveKind::reduce_scatter)
    layout.output_at = gpu * share;
  layout.scratch_at = in_place ? std::max(layout.inputs, layout.outputs) : layout.inputs + layout.outputs;
  layout.places = layout.scratch_at + layout.scratch;
  return layout;
}

/// What a send leaves in its FIFO.
struct InFlight {
  std::vector<ValueId> values;
  std::shared_ptr<const VectorClock> clock;
  std::vector<std::uint32_t> transfers;
};

/// One run with symbolic buffers, in place or not.
class SymbolicRun {
 public:
  SymbolicRun(const MscclangFile& file, MscclangProgress& progress, bool in_place, ForeignSchedule& schedule)
      : file_(file),
        progress_(progress),
        schedule_(schedule),
        outcome_(file.kind, file.gpus.size(), static_cast<std::size_t>(file.chunks)),
        values_(kMostXmlItems),
        memory_(0) {
    std::size_t places = 0;
    for (std::size_t gpu = 0; gpu < file.gpus.size(); ++gpu) {
      layouts_.push_back(layout_of(file, outcome_, gpu, in_place));
      bases_.push_back(places);
      places += layouts_.back().places;
    }
    memory_ = SymbolicMemory(places);
    for (std::size_t gpu = 0; gpu < file.gpus.size(); ++gpu)
      for (std::size_t i = 0; i < layouts_[gpu].inputs; ++i)
        memory_.set(bases_[gpu] + layouts_[gpu].input_at + i, values_.of(outcome_.contribution(gpu, i)));
    const auto threads = progress.seats().size();
    clocks_.assign(threads, VectorClock(threads, 0));
    published_.resize(threads);
    arrived_.resize(threads);
    in_flight_.resize(progress.connections().size());
    for (std::size_t t = 0; t < threads; ++t) first_step_.push_back(t == 0 ? 0 : first_step_[t - 1] + steps_of(t - 1));
  }

  /// Runs all; adds what is wrong. Errors (resource): too many values.
  Status run(bool keep_transfers) {
    const bool ended = progress_.run(0, 0, [&](std::size_t block, std::size_t step) { take(block, step); });
    if (values_.full())
      return resource_error("the schedule's values are too many to follow",
                            fmt::format("at most {} contributions are kept", kMostXmlItems));
    if (!ended) tell_deadlock();
    for (const auto& race : memory_.races()) tell_race(race);
    if (ended && schedule_.valid()) check_outputs();
    if (keep_transfers) std::move(outcome_).finish(schedule_);
    return success();
  }

 private:
  [[nodiscard]] std::size_t steps_of(std::size_t thread) const { return progress_.block(thread).steps.size(); }

  /// Operations are steps, numbered over all threadblocks.
  [[nodiscard]] std::pair<std::size_t, std::size_t> step_of(std::uint32_t operation) const {
    const auto next = std::ranges::upper_bound(first_step_, static_cast<std::size_t>(operation));
    // Threadblocks without steps have the number of the next one: the last of equal numbers has the step.
    const auto thread = static_cast<std::size_t>(next - first_step_.begin()) - 1;
    return {thread, operation - first_step_[thread]};
  }
  [[nodiscard]] std::string say(std::uint32_t operation) const {
    const auto [thread, step] = step_of(operation);
    return fmt::format("{}, step {} ({})", progress_.say(thread), step,
                       rule_of(progress_.block(thread).steps[step].type).name);
  }
  [[nodiscard]] Place place_of(std::uint32_t operation) const {
    const auto [thread, step] = step_of(operation);
    return progress_.block(thread).steps[step].place;
  }

  /// The place of a chunk of a buffer; nothing, with a wrong thing, where the buffer ends before.
  std::optional<std::size_t> place(std::size_t gpu, Buffer buffer, std::int64_t offset, const Access& access) {
    const GpuLayout& layout = layouts_[gpu];
    const std::array sizes{layout.inputs, layout.outputs, layout.scratch};
    const std::array starts{layout.input_at, layout.output_at, layout.scratch_at};
    const auto which = static_cast<std::size_t>(buffer);
    if (offset < 0 || static_cast<std::size_t>(offset) >= sizes[which]) {
      add_wrong(schedule_, Wrong::malformed, place_of(access.operation),
                fmt::format("{} takes chunk {} of buffer {}, which has {}", say(access.operation), offset,
                            std::string_view("ios")[which], sizes[which]));
      return std::nullopt;
    }
    return bases_[gpu] + starts[which] + static_cast<std::size_t>(offset);
  }

  void take(std::size_t thread, std::size_t index) {
    const auto& step = progress_.block(thread).steps[index];
    const auto& rule = rule_of(step.type);
    const auto gpu = progress_.seats()[thread].gpu;
    VectorClock& clock = clocks_[thread];
    if (step.depends_on >= 0 && step.depends_step >= 0) {  // no step is numbered below 0: such a wait ends at once
      const auto& list = published_[progress_.number_of(gpu, static_cast<std::size_t>(step.depends_on))];
      const auto found = std::ranges::lower_bound(list, step.depends_step, {}, &Published::step);
      if (found != list.end()) join(clock, *found->clock);
    }
    InFlight incoming;
    if (rule.receives) {
      auto& queue = in_flight_[static_cast<std::size_t>(progress_.receive_connection(thread))];
      incoming = std::move(queue.front());
      queue.pop_front();
      join(clock, *incoming.clock);
      arrived_[thread].push_back({static_cast<std::uint32_t>(index) + 1, incoming.transfers});
    }
    const Access access{static_cast<std::uint32_t>(first_step_[thread] + index), static_cast<std::uint32_t>(thread),
                        static_cast<std::uint32_t>(index) + 1, &clock};
    auto moved = step.type == StepType::nop ? std::vector<ValueId>() : compute(step, gpu, access, incoming);
    clock[thread] = access.epoch;
    std::shared_ptr<const VectorClock> known;
    if (rule.sends || step.publishes) known = std::make_shared<const VectorClock>(clock);
    if (rule.sends) send(thread, access, std::move(moved), known);
    if (step.publishes) published_[thread].push_back({static_cast<std::int64_t>(index), std::move(known)});
  }

  /// What the step does to its chunks; returns what it sends.
  std::vector<ValueId> compute(const MscclangStep& step, std::size_t gpu, const Access& access,
                               const InFlight& incoming) {
    const auto& rule = rule_of(step.type);
    if (rule.receives && static_cast<std::int64_t>(incoming.values.size()) != step.count)
      add_wrong(schedule_, Wrong::malformed, step.place,
                fmt::format("{} receives {} chunks where {} were sent", say(access.operation), step.count,
                            incoming.values.size()));
    std::vector<ValueId> moved;
    for (std::int64_t i = 0; i < step.count; ++i) {
      ValueId value = kNothing;
      const bool came = rule.receives && static_cast<std::size_t>(i) < incoming.values.size();
      if (came) value = incoming.values[static_cast<std::size_t>(i)];
      if (rule.reads) {
        const auto at = place(gpu, step.source, step.source_offset + i, access);
        if (!at) return moved;
        const auto own = values_.read(memory_.read(*at, access), access.operation);
        value = rule.receives ? values_.sum(value, own, access.operation) : own;
      }
      if (rule.writes) {
        const auto at = place(gpu, step.target, step.target_offset + i, access);
        if (!at) return moved;
        if (step.type == StepType::re) value = values_.sum(memory_.read(*at, access), value, access.operation);
        memory_.write(*at, value, access);
      }
      if (rule.sends) moved.push_back(value);
    }
    return moved;
  }

  void send(std::size_t thread, const Access& access, std::vector<ValueId> moved,
            std::shared_ptr<const VectorClock> known) {
    const auto connection = static_cast<std::size_t>(progress_.send_connection(thread));
    const auto gpu = progress_.seats()[thread].gpu;
    ForeignTransfer transfer;
    transfer.source = NpuId(gpu);
    transfer.destination =
        NpuId::at(progress_.seats()[static_cast<std::size_t>(progress_.connections()[connection].receiver)].gpu);
    transfer.place = place_of(access.operation);
    transfer.name = say(access.operation);
    const auto first = progress_.number_of(gpu, 0);
    for (std::size_t other = first; other < first + file_.gpus[gpu].blocks.size(); ++other) {
      // The last receive that is known. Those before it came over the same connection, or are known by it.
      const auto until = other == thread ? access.epoch : (*known)[other];
      const auto next = std::ranges::upper_bound(arrived_[other], until, {}, &Arrived::epoch);
      if (next == arrived_[other].begin()) continue;
      const auto& transfers = std::prev(next)->transfers;
      transfer.after.insert(transfer.after.end(), transfers.begin(), transfers.end());
    }
    auto numbers = outcome_.move(values_, moved, transfer);
    in_flight_[connection].push_back({std::move(moved), std::move(known), std::move(numbers)});
  }

  void tell_deadlock() {
    const auto chain = progress_.blocked();
    std::string all;
    for (const auto& each : chain) {
      if (all.size() > 600) {
        all += fmt::format("; and so on, {} tbs in all", chain.size());
        break;
      }
      all += fmt::format("{}{}, step {} waits {}", all.empty() ? "" : "; ", progress_.say(each.block),
                         stopped_at(each.block), each.what);
    }
    const auto& block = progress_.block(chain.front().block);
    add_wrong(schedule_, Wrong::deadlock, block.steps[stopped_at(chain.front().block)].place,
              chain.size() > 1 ? "tbs wait for each other: " + all : all + ", which never comes");
  }
  /// The step at which a threadblock stopped: its clock counts those that ended.
  [[nodiscard]] std::size_t stopped_at(std::size_t thread) const { return clocks_[thread][thread]; }

  void tell_race(const Race& race) {
    add_wrong(
        schedule_, Wrong::race, place_of(race.second),
        fmt::format("{} {} what {} {}, and nothing orders them", say(race.second),
                    race.second_writes ? "writes" : "reads", say(race.first), race.first_writes ? "writes" : "reads"));
  }

  void check_outputs() {
    for (std::size_t gpu = 0; gpu < file_.gpus.size(); ++gpu) {
      const auto base = bases_[gpu] + layouts_[gpu].output_at;
      outcome_.check_output(
          schedule_, values_, gpu,
          {[&](std::size_t i) { return memory_.value(base + i); },
           [&](std::size_t i) { return memory_.writer(base + i); },
           [&](std::uint32_t operation) { return say(operation); },
           [&](std::uint32_t operation) { return place_of(operation); }, file_.gpus[gpu].place, "gpu"});
      if (!schedule_.valid()) return;
    }
  }

  struct Published {
    std::int64_t step = 0;
    std::shared_ptr<const VectorClock> clock;
  };
  /// A receive of a threadblock.
  struct Arrived {
    std::uint32_t epoch = 0;
    std::vector<std::uint32_t> transfers;
  };

  const MscclangFile& file_;
  MscclangProgress& progress_;
  ForeignSchedule& schedule_;
  Outcome outcome_;
  ValueTable values_;
  SymbolicMemory memory_;
  std::vector<GpuLayout> layouts_;
  std::vector<std::size_t> bases_;
  std::vector<std::size_t> first_step_;
  std::vector<VectorClock> clocks_;
  std::vector<std::vector<Published>> published_;
  std::vector<std::vector<Arrived>> arrived_;  ///< by threadblock, in order
  std::vector<std::deque<InFlight>> in_flight_;
};

/// Refuses what would take too much memory or time.
Status check_sizes(const MscclangFile& file, const MscclangProgress& progress) {
  std::size_t kept = progress.seats().size();  // clocks
  std::size_t moved = 0;
  std::size_t places = 0;
  for (std::size_t number = 0; number < progress.seats().size(); ++number)
    for (const auto& step : progress.block(number).steps) {
      if (step.publishes || rule_of(step.type).sends) ++kept;
      moved += static_cast<std::size_t>(std::min<std::int64_t>(step.count, 72));
    }
  for (const auto& gpu : file.gpus)
    places += static_cast<std::size_t>(gpu.scratch) + 2 * static_cast<std::size_t>(file.chunks);
  if (kept * progress.seats().size() * sizeof(std::uint32_t) > kMostClockBytes || moved > kMostMoved ||
      places > kMostMoved)
    return resource_error(
        "the schedule is too large to interpret",
        fmt::format("{} threadblocks, {} chunks moved, {} chunks in buffers", progress.seats().size(), moved, places));
  return success();
}

/// The least size at which a FIFO fills for ever. O(71 * steps).
void find_hang(const MscclangFile& file, MscclangProgress& progress, ForeignSchedule& schedule) {
  std::int64_t most = 1;
  for (std::size_t number = 0; number < progress.seats().size(); ++number)
    for (const auto& step : progress.block(number).steps)
      if (rule_of(step.type).sends || rule_of(step.type).receives) most = std::max(most, step.count);
  const auto [protocol, slot_bytes, slots] = *file.protocol;
  for (std::int64_t piece = most; piece >= 1; --piece) {
    if (progress.run(slots, piece, {})) continue;
    // A slot holds `piece` chunks or fewer where a chunk has more than slot / (piece + 1) bytes.
    const auto size = piece == most ? 1 : file.chunks * (slot_bytes / (piece + 1)) + 1;
    schedule.hangs_from = Bytes::of(size);
    const auto chain = progress.blocked();
    if (file.most_bytes && *file.most_bytes < size) return;
    std::string all;
    for (std::size_t i = 0; i < std::min<std::size_t>(chain.size(), 4); ++i)
      all += fmt::format("{}{} waits {}", all.empty() ? "" : "; ", progress.say(chain[i].block), chain[i].what);
    add_wrong(schedule, Wrong::hang, file.place,
              fmt::format("from {} bytes on it hangs: a {} FIFO has {} slots of {} bytes, and {}{}; maxBytes is {}",
                          size, protocol, slots, slot_bytes, all, chain.size() > 4 ? "; and so on" : "",
                          file.most_bytes ? std::to_string(*file.most_bytes) : std::string("not given")));
    return;
  }
}

}  // namespace

Result<ForeignSchedule> interpret_mscclang(const XmlDocument& document) {
  const auto file = read_mscclang(document);
  if (!file) return file.errors();
  ForeignSchedule schedule;
  schedule.format = "MSCCLang XML";
  schedule.name = file->name;
  schedule.kind = file->kind;
  schedule.npus = file->gpus.size();
  schedule.notes = file->refusals;
  schedule.least = Bytes::of(file->least_bytes);
  if (file->most_bytes) schedule.most = Bytes::of(*file->most_bytes);
  MscclangProgress progress(*file);
  if (auto status = check_sizes(*file, progress); !status) return status.errors();
  progress.check(schedule);
  if (!schedule.valid()) return schedule;
  if (!file->in_place && !file->out_of_place)
    schedule.notes.emplace_back("inplace and outofplace are both 0, so no executor chooses it");
  const bool out_of_place = file->out_of_place || !file->in_place;
  if (auto status = SymbolicRun(*file, progress, !out_of_place, schedule).run(true); !status) return status.errors();
  if (schedule.valid() && out_of_place && file->in_place)
    if (auto status = SymbolicRun(*file, progress, true, schedule).run(false); !status) return status.errors();
  if (schedule.valid()) find_hang(*file, progress, schedule);
  return schedule;
}

}  // namespace tenex::exchange
