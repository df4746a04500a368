#include "simulation/record.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "tenex/base/hash.hpp"

namespace tenex {
namespace {

/// Payloads, with equal ones stored once.
class PayloadTable {
 public:
  /// The index of the payload with these chunks and contributors.
  std::size_t intern(const std::vector<ChunkId>& chunks, const std::vector<std::uint32_t>& contributors) {
    std::uint64_t hash = chunks.size();
    const auto mix = [&](std::uint32_t value) { hash = hash * 0x9e3779b97f4a7c15ULL + value + (hash >> 29); };
    for (const auto chunk : chunks) mix(chunk.value());
    for (const auto rank : contributors) mix(rank);
    const auto [first, last] = by_hash_.equal_range(hash);
    for (auto known = first; known != last; ++known)
      if (std::ranges::equal(payloads_.of(known->second), chunks) &&
          std::ranges::equal(payloads_.contributors_of(known->second), contributors))
        return known->second;
    by_hash_.emplace(hash, payloads_.size());
    payloads_.add(chunks, contributors);
    return payloads_.size() - 1;
  }
  [[nodiscard]] Payloads take() { return std::move(payloads_); }

 private:
  Payloads payloads_;
  std::unordered_multimap<std::uint64_t, std::size_t> by_hash_;
};

/// Sorts by (start, link), in buckets of equal spans of time with a few sends each. No two sends have both in common:
/// a link is busy for some time.
void sort_sends(std::vector<Send>& sends) {
  const auto before = [](const Send& a, const Send& b) {
    return a.start != b.start ? a.start < b.start : a.link < b.link;
  };
  if (std::ranges::is_sorted(sends, before)) return;
  constexpr std::size_t kPerBucket = 16;
  const auto [first, last] = std::ranges::minmax(sends, {}, &Send::start);
  const auto begin = first.start.count();
  const auto width = (last.start.count() - begin) / static_cast<std::int64_t>(1 + sends.size() / kPerBucket) + 1;
  const auto bucket_of = [&](const Send& send) {
    return static_cast<std::size_t>((send.start.count() - begin) / width);
  };
  std::vector<std::size_t> end(bucket_of(last) + 2, 0);  // of each bucket, while it is filled
  for (const Send& send : sends) ++end[bucket_of(send) + 1];
  std::partial_sum(end.begin(), end.end(), end.begin());
  std::vector<Send> sorted(sends.size());
  for (const Send& send : sends) sorted[end[bucket_of(send)]++] = send;
  for (std::size_t i = 0, from = 0; i + 1 < end.size(); from = end[i], ++i)
    std::sort(sorted.begin() + static_cast<std::ptrdiff_t>(from), sorted.begin() + static_cast<std::ptrdiff_t>(end[i]),
              before);
  sends = std::move(sorted);
}

}  // namespace

Result<Schedule> make_record(std::vector<Send> sends, const std::vector<Injection>& injections,
                             const Collective& collective, const Program& program) {
  const bool single_hops = sends.size() == injections.size();
  const bool states = program.states_contributors();
  if (single_hops && !states && program.message_sizes() == std::vector<std::uint32_t>{1}) {  // nothing is numbered
    for (auto& send : sends) {
      send.chunk = injections[send.message.index()].message.chunk;
      send.message = MessageId::none();
      send.destination = NpuId::none();
    }
    sort_sends(sends);
    return make_list_schedule(std::move(sends), {});
  }
  std::vector<std::uint32_t> order(injections.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto& left = injections[a];
    const auto& right = injections[b];
    return left.time != right.time ? left.time < right.time : left.message.source < right.message.source;
  });
  PayloadTable table;
  std::vector<MessageId> number(order.size());
  std::vector<ChunkId> chunk_of(order.size());
  std::vector<ChunkId> carried;
  std::vector<std::uint32_t> contributors;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& message = injections[order[i]].message;
    const bool stated = states && message.stage == Stage::reduce;
    number[order[i]] = MessageId::at(i);
    chunk_of[order[i]] = message.chunk;
    if (message.chunks == 1 && !stated) continue;
    carried.clear();
    program.chunks_of(message, carried);
    ensure(carried.size() == message.chunks, "a program lists other chunks of a message than it counts");
    contributors.clear();
    if (stated) program.contributors_of(message, contributors);
    const auto id = collective.chunks() + table.intern(carried, contributors);
    if (id >= ChunkId::none().index())
      return resource_error("cannot record the chunks that messages carry", "a chunk id has 32 bits",
                            "simulate without recording the schedule");
    chunk_of[order[i]] = ChunkId::at(id);
  }
  for (auto& send : sends) {
    const auto injected = send.message.index();
    send.chunk = chunk_of[injected];
    send.message = single_hops ? MessageId::none() : number[injected];
    if (single_hops) send.destination = NpuId::none();
  }
  sort_sends(sends);
  return make_list_schedule(std::move(sends), table.take());
}

std::vector<Delivery> make_arrivals(std::vector<DeliveredMessage> messages, const Program& program) {
  std::stable_sort(messages.begin(), messages.end(), [](const DeliveredMessage& a, const DeliveredMessage& b) {
    return a.time != b.time ? a.time < b.time : a.message.destination < b.message.destination;
  });
  std::size_t total = 0;
  for (const auto& delivered : messages) total += delivered.message.chunks;
  std::vector<Delivery> arrivals;
  arrivals.reserve(total);
  std::vector<ChunkId> carried;
  for (const auto& [time, message] : messages) {
    carried.clear();
    if (message.chunks == 1)
      carried.push_back(message.chunk);
    else
      program.chunks_of(message, carried);
    for (const auto chunk : carried) arrivals.push_back({time, message.destination, chunk});
  }
  return arrivals;
}

UtilizationBins::UtilizationBins(SimTime finish, std::uint32_t bins) {
  if (bins == 0) return;
  utilization_.bin = picoseconds(std::max<std::int64_t>(1, ceil_div(finish.count(), std::int64_t{bins})));
  utilization_.busy_ps.assign(bins, 0);
}

void UtilizationBins::add(SimTime start, SimTime busy, std::uint64_t links) {
  const auto width = utilization_.bin.count();
  auto from = start.count();
  const auto until = from + busy.count();
  for (auto bin = from / width; from < until; ++bin) {
    const auto next = std::min(until, (bin + 1) * width);
    utilization_.busy_ps[static_cast<std::size_t>(bin)] += static_cast<std::uint64_t>(next - from) * links;
    from = next;
  }
}

void UtilizationBins::add(const UtilizationBins& other) {
  for (std::size_t bin = 0; bin < utilization_.busy_ps.size(); ++bin)
    utilization_.busy_ps[bin] += other.utilization_.busy_ps[bin];
}

}  // namespace tenex
