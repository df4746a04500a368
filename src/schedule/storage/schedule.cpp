// Functions that read the sends of any schedule once: the list, the last arrival, the hash.
//
// The hash covers fixed records of 28 bytes (little-endian on every machine) in blocks of a fixed number of sends. The
// digest of each block is the seed of the next, so the hash depends on the sends and not on how a storage cuts them
// into segments.
#include "tenex/schedule/schedule.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "schedule/segments.hpp"
#include "schedule/storage/periodic_link.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/topology/slow_windows.hpp"

namespace tenex {
namespace {

constexpr std::size_t kHashBlockSends = 1024;

/// The records of a block, one after the other.
class RecordBlock {
 public:
  void put(const Send& send) {
    put(static_cast<std::uint64_t>(send.start.count()));
    put(send.link.value());
    put(send.chunk.value());
    put(static_cast<std::uint32_t>(send.stage));
    put(send.message.value());
    put(send.destination.value());
  }
  [[nodiscard]] bool full() const { return size_ == bytes_.size(); }
  [[nodiscard]] std::uint64_t digest(std::uint64_t seed) const { return digest64({bytes_.data(), size_}, seed); }
  void clear() { size_ = 0; }

 private:
  /// Lowest byte first; compiles to one store on a little-endian machine.
  template <class Unsigned>
  void put(Unsigned value) {
    for (std::size_t byte = 0; byte < sizeof(value); ++byte)
      bytes_[size_ + byte] = static_cast<char>((value >> (8 * byte)) & 0xFFU);
    size_ += sizeof(value);
  }

  static constexpr std::size_t kRecordBytes = 28;
  std::array<char, kHashBlockSends * kRecordBytes> bytes_{};
  std::size_t size_ = 0;
};

/// The digest of the lists of chunks, each preceded by its length, and where contributors are stated of theirs.
std::uint64_t digest_of(const Payloads& payloads, std::uint64_t digest) {
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    const auto chunks = payloads.of(i);
    std::string record;
    const auto put = [&](std::uint32_t value) {
      for (int byte = 0; byte < 4; ++byte) record.push_back(static_cast<char>((value >> (8 * byte)) & 0xFFU));
    };
    put(static_cast<std::uint32_t>(chunks.size()));
    for (const ChunkId chunk : chunks) put(chunk.value());
    if (payloads.states_contributors()) {
      const auto contributors = payloads.contributors_of(i);
      put(static_cast<std::uint32_t>(contributors.size()));
      for (const std::uint32_t rank : contributors) put(rank);
    }
    digest = digest64(record, digest);
  }
  return digest;
}

/// The last arrival where hops depend on their start.
SimTime last_started_arrival(const Instance& instance, const Schedule& schedule) {
  ensure(schedule.payloads() == nullptr, "last_arrival: sends of several chunks over links whose bandwidth varies");
  const StartedHops times(instance.topology, instance.collective.chunk_sizes(), instance.occupancy);
  SimTime last;
  for_each_send(schedule, [&](const Send& send) {
    const auto size_class = instance.collective.size_class(send.chunk);
    last = std::max(last, send.start + times.at(instance.topology.class_of(send.link), size_class, send.start).latency);
  });
  return last;
}

}  // namespace

void Payloads::add(std::span<const ChunkId> carried, std::span<const std::uint32_t> stated) {
  if (!stated.empty() && first_contributor.empty()) first_contributor.assign(first.size(), 0);
  chunks.insert(chunks.end(), carried.begin(), carried.end());
  first.push_back(chunks.size());
  contributors.insert(contributors.end(), stated.begin(), stated.end());
  if (!first_contributor.empty()) first_contributor.push_back(contributors.size());
}

void ScheduleStorage::read_uses(LinkId /*link*/, std::vector<LinkUse>& uses) const { uses.clear(); }

std::vector<Send> list_sends(const Schedule& schedule) {
  std::vector<Send> sends;
  sends.reserve(schedule.sends());
  for_each_send(schedule, [&](const Send& send) { sends.push_back(send); });
  return sends;
}

SimTime last_arrival(const Instance& instance, const Schedule& schedule) {
  const Payloads* payloads = schedule.payloads();
  if (instance.topology.varies()) return last_started_arrival(instance, schedule);
  if (const auto latency = uniform_latency(instance); latency && payloads == nullptr) {
    const auto start = last_start(schedule);
    return start ? *start + *latency : SimTime::zero();
  }
  const HopTimes times(instance.topology, instance.collective.chunk_sizes(), instance.occupancy);
  SimTime last;
  for_each_send(schedule, [&](const Send& send) {
    if (payloads != nullptr && send.chunk.index() >= instance.collective.chunks()) {
      const auto chunks = payloads->of(send.chunk.index() - instance.collective.chunks());
      const Bytes size = instance.collective.chunk_bytes(chunks.front()) * static_cast<Bytes::Rep>(chunks.size());
      last = std::max(last, send.start + hop_time(instance.topology.classes()[instance.topology.class_of(send.link)],
                                                  size, instance.occupancy)
                                             .latency);
      return;
    }
    ensure(send.link.index() < instance.topology.links() && send.chunk.index() < instance.collective.chunks(),
           "last_arrival: the schedule is not of this topology and collective");
    last = std::max(
        last, send.start +
                  times.at(instance.topology.class_of(send.link), instance.collective.size_class(send.chunk)).latency);
  });
  return last;
}

std::uint64_t schedule_hash(const Schedule& schedule) {
  std::uint64_t digest = 0;
  RecordBlock block;
  for_each_send(schedule, [&](const Send& send) {
    block.put(send);
    if (!block.full()) return;
    digest = block.digest(digest);
    block.clear();
  });
  digest = block.digest(digest);
  // The payloads are part of the schedule, so they are hashed too.
  const Payloads* payloads = schedule.payloads();
  return payloads == nullptr ? digest : digest_of(*payloads, digest);
}

}  // namespace tenex
