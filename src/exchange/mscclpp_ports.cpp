// What goes over port channels of an mscclpp plan: puts that a proxy works off, and the signals that follow them.
//
// The k-th thread of a threadblock pushes the k-th range of a put, or signals on the k-th channel of an operation; a
// proxy works off what is pushed in that order. Threads do not wait for each other before the next nop, so a signal
// surely follows the puts of its own thread, and those before the nop.
#include "exchange/mscclpp_run.hpp"

namespace tenex::exchange {

PlanRun::Proxy& PlanRun::proxy_of(std::size_t gpu, const PlanChannel& channel) {
  return proxies_[proxy_index_.at({gpu, channel.type, channel.peer, channel.number})];
}

void PlanRun::push(const Block& block, Proxy& proxy, std::size_t thread) {
  if (proxy.pushed_in != block.epoch) {
    proxy.pushed_in = block.epoch;
    proxy.settled = proxy.epoch;
    proxy.thread_index = thread;
    proxy.several = false;
  }
  proxy.several = proxy.several || proxy.thread_index != thread;
  ++proxy.epoch;
}

void PlanRun::give_signal(Block& block, const PlanChannel& channel, std::size_t thread, bool relaxed,
                          std::uint32_t number) {
  Signal signal{block.known, relaxed, number};
  if (channel.type == ChannelType::port) {
    const Proxy& proxy = proxy_of(block.gpu, channel);
    Clocks known = proxy.known;
    if (proxy.pushed_in == block.epoch && (proxy.several || proxy.thread_index != thread))
      for (auto* const clock : {&known.visible, &known.order})
        if (!clock->empty()) (*clock)[proxy.thread] = proxy.settled;
    join(signal.known.visible, known.visible);
    join(signal.known.order, known.order);
  }
  signals_[{channel.type, block.gpu, channel.peer, channel.number}].push_back(std::move(signal));
  ++kept_clocks_;
}

void PlanRun::give_signals(Block& block, const PlanOperation& operation, std::uint32_t number) {
  for (std::size_t thread = 0; thread < operation.channels.size(); ++thread)
    give_signal(block, operation.channels[thread], thread, operation.rule->relaxed, number);
}

void PlanRun::move_by_proxy(Current& now, std::size_t k) {
  const auto& operation = now.operation;
  const auto& rule = *operation.rule;
  const auto& source = operation.sources[operation.sources.size() == 1 ? 0 : k];
  const auto& channel = operation.channels[operation.channels.size() == 1 ? 0 : k];
  // The proxy reads and writes, after what the threadblock knows; the k-th thread pushes the k-th range.
  Proxy& proxy = proxy_of(now.block.gpu, channel);
  push(now.block, proxy, k);
  join(proxy.known.visible, now.block.known.visible);
  join(proxy.known.order, now.block.known.order);
  proxy.known.visible.resize(threads_, 0);
  proxy.known.order.resize(threads_, 0);
  now.access = {now.number, proxy.thread, proxy.epoch, &proxy.known.visible, &proxy.known.order};
  // A port forwards packets as they are, from own scratch to the peer's.
  const bool packets_in = rule.packets_in || (rule.packets_out >= 0 && source.buffer == 's');
  const auto [from, to] = part_of(operation, source.size);
  for (auto offset = from; offset < to; ++offset)
    store(now, operation.targets[k], offset, rule.packets_out >= 0, load(now, source, offset, packets_in));
  add_transfers(now);
  proxy.known.visible[proxy.thread] = proxy.known.order[proxy.thread] = proxy.epoch;
  if (rule.signals) give_signal(now.block, channel, k, false, now.number);
  if (rule.flushes) {
    join(now.block.pending.visible, proxy.known.visible);
    join(now.block.pending.order, proxy.known.order);
  }
}

}  // namespace tenex::exchange
