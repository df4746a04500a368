// What an mscclpp plan ends with, and its verdict.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "exchange/collective_words.hpp"
#include "exchange/mscclpp_run.hpp"

namespace tenex::exchange {

std::string PlanRun::reason(const Block& block) const {
  const auto& operation = plan_.gpus[block.gpu].blocks[block.block].operations[block.next];
  const auto head = say(block.first_operation + static_cast<std::uint32_t>(block.next));
  if (operation.barrier >= 0) {
    const auto found = at_barrier_.find({block.gpu, operation.barrier});
    return fmt::format("{} waits at barrier {} with {} of {} threadblocks", head, operation.barrier,
                       found == at_barrier_.end() ? 0 : found->second.size(), operation.barrier_blocks);
  }
  for (const auto& channel : operation.channels) {
    const auto found = signals_.find({channel.type, channel.peer, block.gpu, channel.number});
    if (found == signals_.end() || found->second.empty())
      return fmt::format("{} waits for a signal of gpu {} on their {} channel {}", head, channel.peer,
                         kChannelTypes[static_cast<std::size_t>(channel.type)], channel.number);
  }
  if (operation.rule->packets_in) return head + " waits for packets in its scratch";
  return head + " waits for a semaphore";
}

void PlanRun::check_end() {
  std::string stuck;
  std::optional<Place> where;
  std::size_t count = 0;
  for (const auto& block : blocks_) {
    const auto& operations = plan_.gpus[block.gpu].blocks[block.block].operations;
    if (block.next >= operations.size()) continue;
    if (!where) where = operations[block.next].place;
    if (++count <= 6) stuck += fmt::format("{}{}", stuck.empty() ? "" : "; ", reason(block));
  }
  if (where)
    add_wrong(
        schedule_, Wrong::deadlock, *where,
        fmt::format("{} threadblocks wait for what never comes: {}{}", count, stuck, count > 6 ? "; and so on" : ""));
  for (const auto& race : memory_.races())
    add_wrong(
        schedule_, Wrong::race, place_of(race.second),
        fmt::format("{} {} what {} {}, and nothing orders them", say(race.second),
                    race.second_writes ? "writes" : "reads", say(race.first), race.first_writes ? "writes" : "reads"));
  if (!schedule_.valid()) return;
  for (const auto& [key, queue] : signals_)
    if (!queue.empty())
      add_wrong(schedule_, Wrong::malformed, place_of(queue.front().operation),
                fmt::format("{} signals gpu {}, which never waits for it: the next launch would take it for its own",
                            say(queue.front().operation), std::get<2>(key)));
  for (std::size_t gpu = 0; gpu < plan_.gpus.size(); ++gpu)
    for (std::size_t s = 0; s < semaphores_[gpu].size(); ++s)
      if (static_cast<std::int64_t>(semaphores_[gpu][s].size()) != plan_.gpus[gpu].semaphores[s])
        add_wrong(schedule_, Wrong::malformed, plan_.gpus[gpu].place,
                  fmt::format("semaphore {} of gpu {} ends at {}, and began at {}", s, gpu, semaphores_[gpu][s].size(),
                              plan_.gpus[gpu].semaphores[s]));
  for (std::size_t gpu = 0; gpu < plan_.gpus.size(); ++gpu) check_visible_at_end(gpu);
  if (flushes_puts_) schedule_.notes.emplace_back("pwsf reads its source at a wrong offset in mscclpp 0.9.0");
  if (flushes_) schedule_.notes.emplace_back("flush does nothing in mscclpp 0.9.0");
  if (multicast_)
    schedule_.notes.emplace_back("loads and stores over a switch channel are counted as transfers from and to each");
  if (shape_.known && schedule_.valid()) check_outputs();
}

void PlanRun::check_visible_at_end(std::size_t gpu) {
  Clocks all;
  for (std::size_t t = first_block_[gpu]; t < first_block_[gpu + 1]; ++t) {
    for (auto* const known : {&blocks_[t].known, &blocks_[t].pending}) {
      join(all.visible, known->visible);
      join(all.order, known->order);
    }
    all.visible.resize(threads_, 0);
    all.order.resize(threads_, 0);
    all.visible[t] = all.order[t] = blocks_[t].epoch;  // a launch ends with all its threadblocks
  }
  all.visible.resize(threads_, 0);
  all.order.resize(threads_, 0);
  const auto& layout = layouts_[gpu];
  bool relaxed = false;
  for (std::size_t at = layout.base; at < layout.base + layout.scratch_at; ++at) {
    if (const auto* const write = memory_.last_write(at);
        write != nullptr && all.visible[write->thread] < write->epoch) {
      relaxed = relaxed || all.order[write->thread] >= write->epoch;
      if (all.order[write->thread] < write->epoch)
        return add_wrong(schedule_, Wrong::race, place_of(write->operation),
                         fmt::format("{} writes buffers of gpu {}, whose launch may end before: nothing tells it",
                                     say(write->operation), gpu));
    }
    for (const auto& read : memory_.last_reads(at)) {
      if (all.order[read.thread] >= read.epoch) continue;
      const bool own_proxy = read.thread >= blocks_.size() && blocks_[block_of(read.operation)].gpu == gpu;
      if (own_proxy)
        note_once("the launch can end while a port channel still reads its source: nothing tells that its put is done");
      else
        return add_wrong(schedule_, Wrong::race, place_of(read.operation),
                         fmt::format("{} reads buffers of gpu {}, whose launch may end before: nothing tells it",
                                     say(read.operation), gpu));
    }
  }
  if (relaxed) note_once("results written by other GPUs are ordered before the launch's end by relaxed signals only");
}

void PlanRun::note_once(const std::string& note) {
  if (std::ranges::find(schedule_.notes, note) == schedule_.notes.end()) schedule_.notes.push_back(note);
}

void PlanRun::check_outputs() {
  for (std::size_t gpu = 0; gpu < plan_.gpus.size() && schedule_.valid(); ++gpu) {
    const auto first = layouts_[gpu].base + layouts_[gpu].output_at;
    outcome_.check_output(
        schedule_, values_, gpu,
        {[&](std::size_t i) { return memory_.value(first + i); },
         [&](std::size_t i) { return memory_.writer(first + i); }, [&](std::uint32_t number) { return say(number); },
         [&](std::uint32_t number) { return place_of(number); }, plan_.gpus[gpu].place, "gpu"});
  }
}

namespace {

/// What the plan's chunks are to its collective. Errors (input): numbers of chunks that do not fit it.
Result<PlanShape> shape_of(const ExecutionPlan& plan) {
  PlanShape shape;
  for (const auto& gpu : plan.gpus)
    for (const auto& block : gpu.blocks)
      for (const auto& operation : block.operations) shape.parts = std::lcm(shape.parts, operation.parts);
  if (shape.parts > 1024)
    return resource_error("the plan's threadblock groups are too many to follow", "their sizes have no small multiple");
  const auto known = unrooted_collective(plan.collective);
  const auto n = plan.gpus.size();
  const auto& first = plan.gpus.front();
  if (!known || n < 2) {
    shape.known = false;
    shape.units = std::max({first.inputs, first.outputs, n}) * n;
    return shape;
  }
  shape.kind = *known;
  const bool gather = shape.kind == CollectiveKind::all_gather;
  const bool scatter = shape.kind == CollectiveKind::reduce_scatter;
  shape.units = gather ? first.outputs : first.inputs;
  for (const auto& gpu : plan.gpus) {
    const auto inputs = gather ? shape.units / n : shape.units;
    const auto outputs = scatter ? shape.units / n : shape.units;
    const bool shares = shape.kind == CollectiveKind::all_reduce || shape.units % n == 0;
    if (shape.units == 0 || !shares || (gpu.inputs != inputs && gpu.inputs != 0) ||
        (gpu.outputs != outputs && gpu.outputs != 0))
      return input_error(gpu.place,
                         fmt::format("input_chunks {} and output_chunks {} of {} gpus", gpu.inputs, gpu.outputs, n),
                         fmt::format("they are no {}", plan.collective));
  }
  return shape;
}

}  // namespace

Result<ForeignSchedule> interpret_mscclpp(const TreeValue& file, std::size_t /*npus*/) {
  const auto plan = read_plan(file);
  if (!plan) return plan.errors();
  const auto shape = shape_of(*plan);
  if (!shape) return shape.errors();
  ForeignSchedule schedule;
  schedule.format = "mscclpp plan";
  schedule.name = plan->name;
  schedule.kind = shape->kind;
  schedule.npus = plan->gpus.size();
  schedule.least = Bytes::of(plan->least_bytes);
  if (plan->most_bytes) schedule.most = Bytes::of(*plan->most_bytes);
  for (std::size_t i = 0; i < plan->limits.size(); ++i)
    add_wrong(schedule, Wrong::malformed, plan->limit_places[i], "mscclpp refuses it: " + plan->limits[i]);
  if (!schedule.valid()) return schedule;
  if (!shape->known)
    schedule.notes.push_back(
        fmt::format("its outputs are not checked: {} is none of the collectives that are compared", plan->collective));
  if (auto status = PlanRun(*plan, *shape, schedule).run(); !status) return status.errors();
  return schedule;
}

}  // namespace tenex::exchange
