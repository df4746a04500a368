#include "exchange/mscclpp_run.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenex::exchange {
namespace {

constexpr std::size_t kMostItems = std::size_t{1} << 24;
/// Of clocks, half of them those of threads, half those that signals, semaphores and packets carry.
constexpr std::size_t kMostClockBytes = std::size_t{512} << 20;
constexpr std::size_t kBytesOfClocks = 2 * sizeof(std::uint32_t);  ///< of a thread: visible and order
/// Of threads times operations: each operation may join clocks. A minute at most.
constexpr std::size_t kMostSteps = std::size_t{1} << 32;

}  // namespace

PlanRun::PlanRun(const ExecutionPlan& plan, const PlanShape& shape, ForeignSchedule& schedule)
    : plan_(plan),
      shape_(shape),
      schedule_(schedule),
      outcome_(shape.kind, plan.gpus.size(), shape.units * shape.parts),
      values_(kMostItems),
      memory_(0),
      arrivals_(plan.gpus.size()) {
  std::uint32_t operations = 0;
  for (std::size_t gpu = 0; gpu < plan.gpus.size(); ++gpu) {
    first_block_.push_back(blocks_.size());
    for (std::size_t b = 0; b < plan.gpus[gpu].blocks.size(); ++b) {
      Block block;
      block.gpu = gpu;
      block.block = b;
      block.first_operation = operations;
      first_operation_.push_back(operations);
      operations += static_cast<std::uint32_t>(plan.gpus[gpu].blocks[b].operations.size());
      blocks_.push_back(std::move(block));
    }
  }
  first_block_.push_back(blocks_.size());
  threads_ = blocks_.size();
  for (std::size_t gpu = 0; gpu < plan.gpus.size(); ++gpu)
    for (const auto& channel : plan.gpus[gpu].channels) {
      if (channel.type != ChannelType::port) continue;
      proxy_index_.emplace(std::tuple(gpu, channel.type, channel.peer, channel.number), proxies_.size());
      Proxy proxy;
      proxy.thread = static_cast<std::uint32_t>(threads_++);
      proxies_.push_back(std::move(proxy));
    }
}

void PlanRun::lay_out() {
  std::size_t places = 0;
  std::size_t packets = 0;
  for (std::size_t rank = 0; rank < plan_.gpus.size(); ++rank) {
    const auto& gpu = plan_.gpus[rank];
    Layout layout;
    layout.base = places;
    layout.packets_at = packets;
    layout.inputs = shape_.known ? outcome_.inputs() : gpu.inputs * shape_.parts;
    layout.outputs = shape_.known ? outcome_.outputs() : gpu.outputs * shape_.parts;
    layout.scratch = gpu.scratch * shape_.parts;
    if (!plan_.in_place)
      layout.output_at = layout.inputs;
    else if (shape_.known && shape_.kind == CollectiveKind::all_gather)
      layout.input_at = rank * layout.inputs;
    else if (shape_.known && shape_.kind == CollectiveKind::reduce_scatter)
      layout.output_at = rank * layout.outputs;
    layout.scratch_at = plan_.in_place ? std::max(layout.inputs, layout.outputs) : layout.inputs + layout.outputs;
    places += layout.scratch_at + layout.scratch;
    packets += layout.scratch;
    layouts_.push_back(layout);
  }
  memory_ = SymbolicMemory(places);
  packets_.resize(packets);
  for (std::size_t rank = 0; rank < layouts_.size(); ++rank)
    for (std::size_t i = 0; i < layouts_[rank].inputs; ++i)
      memory_.set(layouts_[rank].base + layouts_[rank].input_at + i, values_.of(outcome_.contribution(rank, i)));
  for (std::size_t t = 0; t < blocks_.size(); ++t) {
    blocks_[t].known = {VectorClock(threads_, 0), VectorClock(threads_, 0)};
    blocks_[t].known.visible[t] = blocks_[t].known.order[t] = 1;  // it has begun
  }
  for (const auto& gpu : plan_.gpus) {
    semaphores_.emplace_back();
    for (const auto value : gpu.semaphores)
      semaphores_.back().emplace_back(static_cast<std::size_t>(std::clamp<std::int64_t>(value, 0, 1024)));
  }
}

std::size_t PlanRun::block_of(std::uint32_t number) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(first_operation_, number) - first_operation_.begin()) - 1;
}
const PlanOperation& PlanRun::operation_of(std::uint32_t number) const {
  const auto& block = blocks_[block_of(number)];
  return plan_.gpus[block.gpu].blocks[block.block].operations[number - block.first_operation];
}
std::string PlanRun::say_block(const Block& block) const {
  return fmt::format("gpu {}, threadblock {}", block.gpu, block.block);
}
std::string PlanRun::say(std::uint32_t number) const {
  const auto& block = blocks_[block_of(number)];
  const auto& operation = operation_of(number);
  return fmt::format("{}, op {} ({}{})", say_block(block), number - block.first_operation, operation.rule->name,
                     operation.in);
}

bool PlanRun::check_ranges() {
  for (const auto& block : blocks_) {
    const auto& operations = plan_.gpus[block.gpu].blocks[block.block].operations;
    for (std::size_t n = 0; n < operations.size(); ++n) {
      const auto& operation = operations[n];
      const auto refuse = [&](const std::string& what) {
        add_wrong(schedule_, Wrong::malformed, operation.place,
                  fmt::format("{} {}", say(block.first_operation + static_cast<std::uint32_t>(n)), what));
      };
      for (const auto* const list : {&operation.sources, &operation.targets})
        for (const auto& range : *list) {
          const auto& group = range.multicast < 0
                                  ? PlanGroup{}
                                  : plan_.gpus[block.gpu].groups[static_cast<std::size_t>(range.multicast)];
          const char buffer = range.multicast < 0 ? range.buffer : group.buffer;
          const auto& layout = layouts_[range.rank];
          const auto chunks = (buffer == 'i'   ? layout.inputs
                               : buffer == 'o' ? layout.outputs
                                               : layout.scratch) /
                              shape_.parts;
          if (range.index + range.size > chunks)
            refuse(fmt::format("takes chunks {} to {} of buffer {} of gpu {}, which has {}", range.index,
                               range.index + range.size - 1, buffer, range.rank, chunks));
        }
      const auto action = operation.rule->action;
      const bool pairs = action == PlanAction::move;
      if (pairs && operation.type == ChannelType::port && operation.channels.size() > 1 &&
          operation.channels.size() != operation.targets.size())
        refuse(fmt::format("has {} channels for {} destinations", operation.channels.size(), operation.targets.size()));
      if ((pairs || action == PlanAction::reduce || action == PlanAction::multicast) &&
          (operation.sources.empty() || operation.targets.empty()))
        refuse("has no source or no destination");
      else if (pairs && operation.sources.size() != operation.targets.size() && operation.sources.size() != 1)
        refuse("has other numbers of sources and of destinations");
      else if (pairs || action == PlanAction::reduce || action == PlanAction::multicast)
        for (const auto* const list : {&operation.sources, &operation.targets})
          for (std::size_t k = 0; k < list->size(); ++k)
            if ((*list)[k].size != operation.sources[pairs && operation.sources.size() > 1 ? k : 0].size)
              refuse("has ranges of different sizes");
      for (std::size_t s = 0; s < operation.sources.size(); ++s)
        if (operation.rule->packets_in && (action == PlanAction::move || s > 0) &&
            (operation.sources[s].buffer != 's' || operation.sources[s].rank != block.gpu))
          refuse("takes packets that are not in its own scratch");
      if (operation.rule->packets_out >= 0)
        for (auto t = static_cast<std::size_t>(operation.rule->packets_out); t < operation.targets.size(); ++t)
          if (operation.targets[t].buffer != 's') refuse("writes packets outside scratch");
      if ((operation.rule->packets_in || operation.rule->packets_out >= 0) && !plan_.packets)
        refuse("uses packets in a plan whose protocol is Simple");
    }
  }
  return schedule_.valid();
}

Status PlanRun::run() {
  std::size_t operations = 0;
  for (const auto& gpu : plan_.gpus)
    for (const auto& block : gpu.blocks) operations += block.operations.size();
  std::size_t places = 0;
  for (const auto& gpu : plan_.gpus) places += (gpu.inputs + gpu.outputs + gpu.scratch + shape_.units) * shape_.parts;
  const auto too_large = [&] {
    return resource_error(
        "the plan is too large to interpret",
        fmt::format("{} threadblocks and port channels, {} ops, {} places", threads_, operations, places));
  };
  if (2 * threads_ * threads_ * kBytesOfClocks > kMostClockBytes || places > (std::size_t{1} << 22) ||
      threads_ * operations > kMostSteps)
    return too_large();
  lay_out();
  if (!check_ranges()) return success();
  const auto clocks_fit = [&] { return kept_clocks_ * threads_ * kBytesOfClocks <= kMostClockBytes / 2; };
  for (bool progress = true; progress && !values_.full() && clocks_fit();) {
    progress = false;
    for (std::size_t t = 0; t < blocks_.size() && clocks_fit(); ++t)
      while (clocks_fit() && step(t)) progress = true;
  }
  if (!clocks_fit()) return too_large();
  if (values_.full())
    return resource_error("the plan's values are too many to follow",
                          fmt::format("at most {} contributions are kept", kMostItems));
  check_end();
  std::move(outcome_).finish(schedule_);
  return success();
}

void PlanRun::sync(Block& block) {
  const auto self = static_cast<std::size_t>(&block - blocks_.data());
  join(block.known.visible, block.pending.visible);
  join(block.known.order, block.pending.order);
  block.pending = {};
  ++block.epoch;
  block.known.visible[self] = block.known.order[self] = block.epoch - 1;
}

bool PlanRun::arrive_at_barrier(Block& block, const PlanOperation& operation) {
  const auto self = static_cast<std::size_t>(&block - blocks_.data());
  if (block.at_barrier) return false;
  auto& waiting = at_barrier_[{block.gpu, operation.barrier}];
  block.at_barrier = true;
  waiting.push_back(self);
  if (waiting.size() < operation.barrier_blocks) return false;
  Clocks all;
  for (const auto t : waiting) {
    sync(blocks_[t]);
    join(all.visible, blocks_[t].known.visible);
    join(all.order, blocks_[t].known.order);
  }
  for (const auto t : waiting) {
    blocks_[t].known = all;
    blocks_[t].at_barrier = false;
    ++blocks_[t].next;
  }
  waiting.clear();
  return true;
}

bool PlanRun::signals_there(const Block& block, const PlanOperation& operation) const {
  return std::ranges::all_of(operation.channels, [&](const PlanChannel& channel) {
    const auto found = signals_.find({channel.type, channel.peer, block.gpu, channel.number});
    return found != signals_.end() && !found->second.empty();
  });
}

void PlanRun::take_signals(Block& block, const PlanOperation& operation, bool relaxed) {
  for (const auto& channel : operation.channels) {
    auto& queue = signals_[{channel.type, channel.peer, block.gpu, channel.number}];
    if (queue.empty()) return;
    if (!relaxed && !queue.front().relaxed) join(block.pending.visible, queue.front().known.visible);
    join(block.pending.order, queue.front().known.order);
    queue.pop_front();
    --kept_clocks_;
  }
}

std::pair<std::size_t, std::size_t> PlanRun::part_of(const PlanOperation& operation, std::size_t size) const {
  const auto all = size * shape_.parts;
  return {all * operation.part / operation.parts, all * (operation.part + 1) / operation.parts};
}

std::size_t PlanRun::place(const PlanRange& range, std::size_t offset) const {
  const auto& layout = layouts_[range.rank];
  const auto start = range.buffer == 'i' ? layout.input_at : range.buffer == 'o' ? layout.output_at : layout.scratch_at;
  return layout.base + start + range.index * shape_.parts + offset;
}

PlanRun::Packet& PlanRun::packet(const PlanRange& range, std::size_t offset) {
  return packets_[layouts_[range.rank].packets_at + range.index * shape_.parts + offset];
}

bool PlanRun::packets_there(const Block&, const PlanOperation& operation) const {
  if (!operation.rule->packets_in) return true;
  for (std::size_t s = operation.rule->action == PlanAction::move ? 0 : 1; s < operation.sources.size(); ++s) {
    const auto& range = operation.sources[s];
    const auto [from, to] = part_of(operation, range.size);
    for (auto offset = from; offset < to; ++offset)
      if (!packets_[layouts_[range.rank].packets_at + range.index * shape_.parts + offset].written) return false;
  }
  return true;
}

void PlanRun::check_begun(Current& now, std::size_t rank, char buffer) {
  if (rank == now.block.gpu || buffer == 's') return;
  const VectorClock& order = *now.access.order;
  for (std::size_t t = first_block_[rank]; t < first_block_[rank + 1]; ++t)
    if (order[t] >= 1) return;
  add_wrong(schedule_, Wrong::race, now.operation.place,
            fmt::format("{} touches buffer {} of gpu {} before anything says that its launch has begun",
                        say(now.number), buffer, rank));
}

ValueId PlanRun::load(Current& now, const PlanRange& range, std::size_t offset, bool is_packet) {
  if (is_packet) {
    const Packet& from = packet(range, offset);
    if (!from.written) return values_.read(kNothing, now.number);  // a port does not wait for what it forwards
    join(now.block.known.visible, from.known->visible);
    join(now.block.known.order, from.known->order);
    return from.value;
  }
  check_begun(now, range.rank, range.buffer);
  const auto value = values_.read(memory_.read(place(range, offset), now.access), now.number);
  if (range.rank != now.block.gpu) now.pulled[{range.rank, now.block.gpu}].push_back(value);
  return value;
}

void PlanRun::store(Current& now, const PlanRange& range, std::size_t offset, bool is_packet, ValueId value) {
  if (range.rank != now.block.gpu) now.pushed[{now.block.gpu, range.rank}].push_back(value);
  if (!is_packet) {
    check_begun(now, range.rank, range.buffer);
    memory_.write(place(range, offset), value, now.access);
    return;
  }
  Packet& target = packet(range, offset);
  kept_clocks_ += target.written ? 0 : 1;
  if (target.written)
    add_wrong(schedule_, Wrong::race, now.operation.place,
              fmt::format("{} writes a packet that {} has written: a reader may take either", say(now.number),
                          say(target.operation)));
  auto known = std::make_shared<Clocks>(Clocks{*now.access.clock, *now.access.order});
  known->visible[now.access.thread] = std::max(known->visible[now.access.thread], now.access.epoch);
  known->order[now.access.thread] = std::max(known->order[now.access.thread], now.access.epoch);
  target = {value, true, now.number, std::move(known)};
}

void PlanRun::move(Block& block, const PlanOperation& operation, std::uint32_t number) {
  const auto self = static_cast<std::uint32_t>(&block - blocks_.data());
  Current now{block, operation, number, {number, self, block.epoch, &block.known.visible, &block.known.order}};
  const bool by_proxy = operation.type == ChannelType::port && !operation.channels.empty();
  const auto& rule = *operation.rule;
  if (rule.signals && !by_proxy)
    add_wrong(schedule_, Wrong::malformed, operation.place, say(number) + " is for port channels only");
  if (rule.flushes) flushes_puts_ = true;
  for (std::size_t k = 0; k < operation.targets.size(); ++k) {
    if (by_proxy) {
      move_by_proxy(now, k);
      continue;
    }
    const auto& source = operation.sources[operation.sources.size() == 1 ? 0 : k];
    const auto [from, to] = part_of(operation, source.size);
    for (auto offset = from; offset < to; ++offset)
      store(now, operation.targets[k], offset, rule.packets_out >= 0, load(now, source, offset, rule.packets_in));
  }
  add_transfers(now);
}

void PlanRun::reduce(Current& now) {
  const auto& operation = now.operation;
  const auto [from, to] = part_of(operation, operation.sources.front().size);
  for (auto offset = from; offset < to; ++offset) {
    ValueId value = kNothing;
    for (std::size_t s = 0; s < operation.sources.size(); ++s) {
      const auto next = load(now, operation.sources[s], offset, operation.rule->packets_in && s > 0);
      value = s == 0 ? next : values_.sum(value, next, now.number);
    }
    for (std::size_t t = 0; t < operation.targets.size(); ++t)
      store(now, operation.targets[t], offset,
            operation.rule->packets_out >= 0 && t >= static_cast<std::size_t>(operation.rule->packets_out), value);
  }
}

void PlanRun::multicast(Current& now) {
  const auto& operation = now.operation;
  multicast_ = true;
  const auto& source = operation.sources.front();
  const auto& groups = plan_.gpus[now.block.gpu].groups;
  const auto at_rank = [&](const PlanRange& range, std::size_t rank) {
    PlanRange one = range;
    one.rank = rank;
    one.buffer = groups[static_cast<std::size_t>(range.multicast)].buffer;
    return one;
  };
  const auto [from, to] = part_of(operation, source.size);
  for (auto offset = from; offset < to; ++offset) {
    ValueId value = kNothing;
    if (source.multicast >= 0) {
      bool first = true;
      for (const auto rank : groups[static_cast<std::size_t>(source.multicast)].ranks) {
        const auto next = load(now, at_rank(source, rank), offset, false);
        value = first ? next : values_.sum(value, next, now.number);
        first = false;
      }
    } else {
      value = load(now, source, offset, false);
    }
    for (const auto& target : operation.targets) {
      if (target.multicast < 0) {
        store(now, target, offset, false, value);
        continue;
      }
      for (const auto rank : groups[static_cast<std::size_t>(target.multicast)].ranks)
        store(now, at_rank(target, rank), offset, false, value);
    }
  }
}

void PlanRun::add_transfer(Current& now, std::size_t source, std::size_t target, const std::vector<ValueId>& values,
                           const std::vector<std::uint32_t>& also_after, std::vector<std::uint32_t>* numbers) {
  if (!shape_.known) return;
  ForeignTransfer transfer;
  transfer.source = NpuId::at(source);
  transfer.destination = NpuId::at(target);
  transfer.place = now.operation.place;
  transfer.name = say(now.number);
  for (const auto& [key, list] : arrivals_[source]) {
    const auto thread = key.first;
    const auto known = thread == now.access.thread ? std::max((*now.access.order)[thread], now.access.epoch - 1)
                                                   : (*now.access.order)[thread];
    const auto end = std::ranges::upper_bound(list, known, {}, &Arrival::epoch);
    for (auto each = end; each != list.begin() && (each - 1)->epoch == (end - 1)->epoch; --each)
      transfer.after.push_back((each - 1)->number);
  }
  transfer.after.insert(transfer.after.end(), also_after.begin(), also_after.end());
  std::ranges::sort(transfer.after);
  transfer.after.erase(std::unique(transfer.after.begin(), transfer.after.end()), transfer.after.end());
  for (const auto number : outcome_.move(values_, values, transfer)) {
    arrivals_[target][{now.access.thread, source}].push_back({now.access.epoch, number});
    if (numbers != nullptr) numbers->push_back(number);
  }
}

void PlanRun::add_transfers(Current& now) {
  std::vector<std::uint32_t> pulled;
  for (const auto& [ends, values] : now.pulled) add_transfer(now, ends.first, ends.second, values, {}, &pulled);
  for (const auto& [ends, values] : now.pushed) add_transfer(now, ends.first, ends.second, values, pulled, nullptr);
  now.pulled.clear();
  now.pushed.clear();
}

bool PlanRun::step(std::size_t index) {
  Block& block = blocks_[index];
  const auto& operations = plan_.gpus[block.gpu].blocks[block.block].operations;
  if (block.next >= operations.size()) return false;
  const auto& operation = operations[block.next];
  const auto number = block.first_operation + static_cast<std::uint32_t>(block.next);
  Current now{block,
              operation,
              number,
              {number, static_cast<std::uint32_t>(index), block.epoch, &block.known.visible, &block.known.order}};
  switch (operation.rule->action) {
    case PlanAction::sync:
      if (operation.barrier >= 0) return arrive_at_barrier(block, operation);
      sync(block);
      break;
    case PlanAction::signal:
      give_signals(block, operation, number);
      break;
    case PlanAction::wait:
      if (!signals_there(block, operation)) return false;
      take_signals(block, operation, operation.rule->relaxed);
      break;
    case PlanAction::flush:
      flushes_ = true;
      break;
    case PlanAction::move:
      if (!packets_there(block, operation)) return false;
      move(block, operation, number);
      break;
    case PlanAction::reduce:
      if (!packets_there(block, operation)) return false;
      reduce(now);
      add_transfers(now);
      break;
    case PlanAction::multicast:
      multicast(now);
      add_transfers(now);
      break;
    case PlanAction::acquire:
      for (const auto semaphore : operation.semaphores)
        if (semaphores_[block.gpu][semaphore].empty()) return false;
      for (const auto semaphore : operation.semaphores) {
        auto& queue = semaphores_[block.gpu][semaphore];
        if (queue.empty()) break;
        join(block.pending.visible, queue.front().visible);
        join(block.pending.order, queue.front().order);
        kept_clocks_ -= queue.front().order.empty() ? 0 : 1;
        queue.pop_front();
      }
      break;
    case PlanAction::release:
      for (const auto semaphore : operation.semaphores) semaphores_[block.gpu][semaphore].push_back(block.known);
      kept_clocks_ += operation.semaphores.size();
      break;
    case PlanAction::pipeline:
      break;  // its operations stand in its place
  }
  ++block.next;
  return true;
}

}  // namespace tenex::exchange
