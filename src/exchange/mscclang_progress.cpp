#include "exchange/mscclang_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "exchange/foreign_formats.hpp"

namespace tenex::exchange {

MscclangProgress::MscclangProgress(const MscclangFile& file) : file_(file) {
  for (std::size_t gpu = 0; gpu < file.gpus.size(); ++gpu) {
    first_.push_back(seats_.size());
    for (std::size_t b = 0; b < file.gpus[gpu].blocks.size(); ++b)
      seats_.push_back({static_cast<std::uint32_t>(gpu), static_cast<std::uint32_t>(b)});
  }
  add_connections();
}

std::string MscclangProgress::say(std::size_t number) const {
  return fmt::format("gpu {}, tb {}", seats_[number].gpu, seats_[number].block);
}

void MscclangProgress::add_connections() {
  sends_on_.assign(seats_.size(), -1);
  receives_on_.assign(seats_.size(), -1);
  const auto end = [&](std::int64_t from, std::int64_t to, std::int64_t channel, std::size_t number, bool sends) {
    const auto [known, fresh] = connection_at_.try_emplace({from, to, channel}, connections_.size());
    if (fresh) connections_.emplace_back();
    auto& connection = connections_[known->second];
    auto& place = sends ? connection.sender : connection.receiver;
    if (place >= 0)
      twice_.emplace_back(number,
                          fmt::format("{} is an end of the connection from gpu {} to gpu {} on channel {}, as "
                                      "tb {} is: one tb {} on it",
                                      say(number), from, to, channel, seats_[static_cast<std::size_t>(place)].block,
                                      sends ? "sends" : "receives"));
    place = static_cast<std::int64_t>(number);
    (sends ? sends_on_ : receives_on_)[number] = static_cast<std::int64_t>(known->second);
  };
  for (std::size_t number = 0; number < seats_.size(); ++number) {
    const auto& tb = block(number);
    const auto gpu = static_cast<std::int64_t>(seats_[number].gpu);
    if (tb.send_to >= 0) end(gpu, tb.send_to, tb.channel, number, true);
    if (tb.receive_from >= 0) end(tb.receive_from, gpu, tb.channel, number, false);
  }
}

void MscclangProgress::check(ForeignSchedule& schedule) const {
  for (const auto& [number, message] : twice_) add_wrong(schedule, Wrong::malformed, block(number).place, message);
  for (const auto& [key, index] : connection_at_) {
    const auto& [from, to, channel] = key;
    const auto& connection = connections_[index];
    if (connection.sender >= 0 && connection.receiver >= 0) continue;
    const auto number = static_cast<std::size_t>(std::max(connection.sender, connection.receiver));
    const bool sends = connection.sender >= 0;
    add_wrong(schedule, Wrong::deadlock, block(number).place,
              fmt::format("{} {} gpu {} on channel {}, and no tb of gpu {} {}: the connection is never set up",
                          say(number), sends ? "sends to" : "receives from", sends ? to : from, channel,
                          sends ? to : from, sends ? "receives there" : "sends there"));
  }
  for (std::size_t number = 0; number < seats_.size(); ++number)
    for (std::size_t step = 0; step < block(number).steps.size(); ++step) check_step(schedule, number, step);
}

void MscclangProgress::check_step(ForeignSchedule& schedule, std::size_t number, std::size_t index) const {
  const auto& tb = block(number);
  const auto& step = tb.steps[index];
  const auto& rule = rule_of(step.type);
  const auto& gpu = file_.gpus[seats_[number].gpu];
  const auto refuse = [&](std::string_view what) {
    add_wrong(schedule, Wrong::malformed, step.place,
              fmt::format("{}, step {} ({}) {}", say(number), index, rule.name, what));
  };
  if (rule.sends && tb.send_to < 0) refuse("sends, and its tb has no peer to send to");
  if (rule.receives && tb.receive_from < 0) refuse("receives, and its tb has no peer to receive from");
  if (step.type != StepType::nop && step.count < 1) refuse("moves no chunk");
  if (step.count >= 72) refuse(fmt::format("moves {} chunks, at most 71 go at once", step.count));
  const auto own = static_cast<std::int64_t>(gpu.blocks.size());
  if (step.depends_on >= own) refuse(fmt::format("waits for tb {}, and the gpu has {}", step.depends_on, own));
  if (step.type == StepType::nop && step.depends_on >= 0 &&
      (index + 1 == tb.steps.size() || tb.steps[index + 1].depends_on < 0))
    refuse("carries a dependency for the step behind it, which has none of its own: nobody waits for it");
}

std::int64_t MscclangProgress::open_dependency(std::size_t number) const {
  const auto& step = block(number).steps[states_[number].step];
  if (step.depends_on < 0) return -1;
  const auto other = number_of(seats_[number].gpu, static_cast<std::size_t>(step.depends_on));
  return states_[other].published >= step.depends_step ? -1 : static_cast<std::int64_t>(other);
}

void MscclangProgress::advance(std::size_t number, const std::function<void(std::size_t, std::size_t)>& done) {
  const auto& tb = block(number);
  auto& state = states_[number];
  while (state.step < tb.steps.size()) {
    const auto& step = tb.steps[state.step];
    const auto& rule = rule_of(step.type);
    if (const auto other = open_dependency(number); other >= 0) {
      states_[static_cast<std::size_t>(other)].waiters.push_back(number);
      return;
    }
    const bool moves = rule.receives || rule.sends;
    const auto pieces = !moves ? 0 : piece_ == 0 ? 1 : (step.count + piece_ - 1) / piece_;
    while (state.pieces < pieces) {
      if (rule.receives && !state.received) {
        const auto connection = static_cast<std::size_t>(receives_on_[number]);
        auto& fifo = fifos_[connection];
        if (fifo.received == fifo.sent) return;  // its sender wakes it
        ++fifo.received;
        state.received = true;
        if (slots_ > 0) ready_.push_back(static_cast<std::size_t>(connections_[connection].sender));
      }
      if (rule.sends) {
        const auto connection = static_cast<std::size_t>(sends_on_[number]);
        auto& fifo = fifos_[connection];
        if (slots_ > 0 && fifo.sent - fifo.received >= slots_) return;  // its receiver wakes it
        ++fifo.sent;
        ready_.push_back(static_cast<std::size_t>(connections_[connection].receiver));
      }
      state.received = false;
      ++state.pieces;
    }
    if (done) done(number, state.step);
    if (step.publishes) {
      state.published = static_cast<std::int64_t>(state.step);
      for (const auto waiter : std::exchange(state.waiters, {})) ready_.push_back(waiter);
    }
    ++state.step;
    state.pieces = 0;
  }
}

bool MscclangProgress::run(std::int64_t slots, std::int64_t piece,
                           const std::function<void(std::size_t, std::size_t)>& done) {
  slots_ = slots;
  piece_ = piece;
  states_.assign(seats_.size(), {});
  fifos_.assign(connections_.size(), {});
  ready_.clear();
  for (std::size_t number = 0; number < seats_.size(); ++number) {
    advance(number, done);
    while (!ready_.empty()) {
      const auto next = ready_.back();
      ready_.pop_back();
      advance(next, done);
    }
  }
  for (std::size_t number = 0; number < seats_.size(); ++number)
    if (states_[number].step < block(number).steps.size()) return false;
  return true;
}

Blocked MscclangProgress::reason(std::size_t number) const {
  const auto& step = block(number).steps[states_[number].step];
  const auto& rule = rule_of(step.type);
  if (const auto other = open_dependency(number); other >= 0)
    return {number, other,
            fmt::format("for tb {} to publish step {} or a later one", step.depends_on, step.depends_step)};
  if (rule.receives && !states_[number].received) {
    const auto sender = connections_[static_cast<std::size_t>(receives_on_[number])].sender;
    return {number, sender, fmt::format("for a send of {}", say(static_cast<std::size_t>(sender)))};
  }
  const auto receiver = connections_[static_cast<std::size_t>(sends_on_[number])].receiver;
  return {number, receiver, fmt::format("for room in the FIFO to {}", say(static_cast<std::size_t>(receiver)))};
}

std::vector<Blocked> MscclangProgress::blocked() const {
  const auto ended = [&](std::size_t number) { return states_[number].step >= block(number).steps.size(); };
  std::vector<std::size_t> order(seats_.size(), 0);  // of visits, from 1
  std::vector<Blocked> chain;
  for (std::size_t start = 0; start < seats_.size(); ++start) {
    if (ended(start)) continue;
    for (std::size_t at = start;;) {
      if (order[at] > 0) {  // a circle
        chain.erase(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(order[at] - 1));
        return chain;
      }
      chain.push_back(reason(at));
      order[at] = chain.size();
      const auto next = chain.back().waits_for;
      if (next < 0 || ended(static_cast<std::size_t>(next))) return {chain.back()};
      at = static_cast<std::size_t>(next);
    }
  }
  return chain;
}

}  // namespace tenex::exchange
