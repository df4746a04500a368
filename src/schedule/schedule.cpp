// What can be asked of any schedule by walking its stream once: the list, the last arrival, the hash.
//
// The hash runs over fixed records of 28 bytes (little-endian on every machine) in blocks of a fixed number of sends,
// each block's digest seeding the next, so that it depends on the sends and not on how a storage cuts them into
// windows.
#include "tenex/schedule/schedule.hpp"

#include <algorithm>
#include <string>

#include "schedule/for_each_send.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/hash.hpp"

namespace tenex {
namespace {

constexpr std::size_t kHashBlockSends = 1024;

/// Appends the low `width` bytes of `value`, lowest first.
void put(std::string& record, std::uint64_t value, unsigned width) {
  for (unsigned byte = 0; byte < width; ++byte) record.push_back(static_cast<char>((value >> (8 * byte)) & 0xFFU));
}

}  // namespace

std::vector<Send> list_sends(const Schedule& schedule) {
  std::vector<Send> sends;
  sends.reserve(schedule.sends());
  for_each_send(schedule, [&](const Send& send) { sends.push_back(send); });
  return sends;
}

SimTime last_arrival(const Topology& topology, const Collective& collective, Occupancy occupancy,
                     const Schedule& schedule) {
  const HopTimes times(topology, collective.chunk_sizes(), occupancy);
  SimTime last;
  for_each_send(schedule, [&](const Send& send) {
    ensure(send.link.index() < topology.links() && send.chunk.index() < collective.chunks(),
           "last_arrival: the schedule is not of this topology and collective");
    last =
        std::max(last, send.start + times.at(topology.class_of(send.link), collective.size_class(send.chunk)).latency);
  });
  return last;
}

std::uint64_t schedule_hash(const Schedule& schedule) {
  std::uint64_t digest = 0;
  std::string block;
  std::size_t in_block = 0;
  for_each_send(schedule, [&](const Send& send) {
    put(block, static_cast<std::uint64_t>(send.start.count()), 8);
    put(block, send.link.value(), 4);
    put(block, send.chunk.value(), 4);
    put(block, static_cast<std::uint64_t>(send.stage), 4);
    put(block, send.message.value(), 4);
    put(block, send.destination.value(), 4);
    if (++in_block == kHashBlockSends) {
      digest = digest64(block, digest);
      block.clear();
      in_block = 0;
    }
  });
  return digest64(block, digest);
}

}  // namespace tenex
