// Concatenation of two streams, and the busy time of all links over a stream.
#include "execution/concatenate.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tenex/schedule/storage/carried_chunks.hpp"

namespace tenex {
namespace {

Diagnostic too_many(std::uint64_t count, std::string_view what, std::uint64_t most) {
  return resource_error(fmt::format("an All-Reduce without overlap of {} {}", count, what),
                        fmt::format("at most {} can be numbered", most), "use fewer chunks, or overlap = true");
}

/// Both lists, the second after the first.
Payloads joined(const Payloads* first, const Payloads* second) {
  Payloads all = first != nullptr ? *first : Payloads{};
  if (second == nullptr) return all;
  for (std::size_t i = 0; i < second->size(); ++i) all.add(second->of(i), second->contributors_of(i));
  return all;
}

}  // namespace

Result<Schedule> concatenate(const Collective& collective, const Simulation& reduction, const Simulation& gather) {
  auto sends = list_sends(reduction.sends);
  auto later = list_sends(gather.sends);
  // A half whose messages are all single hops has no ids, also if the other half has some.
  const bool numbered = reduction.messages > 0 && !sends.empty() && sends.front().message.exists();
  const std::uint64_t first = numbered ? reduction.messages : 0;
  constexpr std::uint64_t most = MessageId::none().value();
  if (numbered && first + gather.messages > most) return too_many(first + gather.messages, "messages", most);

  const auto* reduced = reduction.sends.payloads();
  const std::uint64_t shift = reduced != nullptr ? reduced->size() : 0;
  auto payloads = joined(reduced, gather.sends.payloads());
  constexpr std::uint64_t most_ids = ChunkId::none().value();
  if (collective.chunks() + payloads.size() > most_ids) return too_many(payloads.size(), "payloads", most_ids);
  sends.reserve(sends.size() + later.size());
  for (auto& send : later) {
    send.start += reduction.finish;
    if (send.message.exists()) send.message = MessageId(static_cast<std::uint32_t>(send.message.value() + first));
    if (send.chunk.index() >= collective.chunks()) send.chunk = ChunkId::at(send.chunk.index() + shift);
    sends.push_back(send);
  }
  return make_list_schedule(std::move(sends), std::move(payloads));
}

Utilization utilization_of(const Instance& instance, const Schedule& schedule, SimTime finish, std::uint32_t bins) {
  const CarriedChunks carried(instance, schedule);
  Utilization result;
  result.bin = picoseconds(std::max<std::int64_t>(1, ceil_div(finish.count(), std::int64_t{bins})));
  result.busy_ps.assign(bins, 0);
  const auto width = result.bin.count();
  SendBuffer buffer;
  for (std::size_t segment = 0; segment < schedule.segments(); ++segment) {
    schedule.read(segment, buffer);
    for (std::size_t i = 0; i < buffer.batch.size(); ++i) {
      auto from = buffer.batch.start_of(i).count();
      const auto busy = carried.hop(buffer.batch.link[i], buffer.batch.chunk[i], buffer.batch.start_of(i)).busy;
      const auto until = from + busy.count();
      for (auto bin = from / width; from < until; ++bin) {
        const auto next = std::min(until, (bin + 1) * width);
        result.busy_ps[static_cast<std::size_t>(bin)] += static_cast<std::uint64_t>(next - from);
        from = next;
      }
    }
  }
  return result;
}

}  // namespace tenex
