// Contents of schedule files in tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/topologies.hpp"
#include "tenex/files/schedule_file.hpp"

namespace tenex::samples {

template <class T>
std::string message_of(const Result<T>& result) {
  return result.ok() ? "(no error)" : to_string(result.errors());
}

/// RI(3)_SW(2): 6 NPUs, 3 switches; All-Reduce in two groups.
inline ScheduleFile sample(std::vector<Send> sends) {
  const Shape shape{{support::block("RI", 3), support::block("SW", 2)}};
  auto topology = build_topology(
      shape, {{nanoseconds(500), nanoseconds(700)}, {gigabytes_per_second(50), gigabytes_per_second(25)}, false});
  CollectiveRequest request;
  request.kind = CollectiveKind::all_reduce;
  request.npus = 6;
  request.groups = {{{NpuId(2), NpuId(0)}}, {{NpuId(1), NpuId(3), NpuId(5)}}};
  request.chunks = 2;
  request.size = mebibytes(1);
  auto collective = Collective::make(request);
  return {std::move(topology).value(),
          std::move(collective).value(),
          Occupancy::transfer,
          make_list_schedule(std::move(sends)),
          "tacos",
          "physics=1\nsize=1048576\n"};
}

inline std::vector<Send> copies(std::size_t count) {
  std::vector<Send> sends;
  for (std::size_t i = 0; i < count; ++i)
    sends.push_back({picoseconds(static_cast<std::int64_t>(i / 3) * 1000), LinkId(static_cast<std::uint32_t>(i % 3)),
                     ChunkId(static_cast<std::uint32_t>(i % 10))});
  return sends;
}

/// Sends that use every column.
inline std::vector<Send> mixed() {
  auto sends = copies(30);
  for (std::size_t i = 0; i < sends.size(); ++i) {
    if (i % 2 == 0) sends[i].stage = Stage::reduce;
    sends[i].message = MessageId(static_cast<std::uint32_t>(i / 2));
    sends[i].destination = NpuId(static_cast<std::uint32_t>(i % 6));
  }
  return sends;
}

inline ScheduleRecipe recipe() {
  return {.canonical = "algorithm=tacos\nphysics=1",
          .machine = "schema = 1\n",
          .version = "0.0.7",
          .sends = std::uint64_t{1} << 40,
          .time = picoseconds(12'345),
          .hash = 0x0123'4567'89ab'cdef,
          .memory_bytes = 77,
          .memory_limit_bytes = 78};
}

/// Bruck's messages carry several chunks: payload 0 has chunks 0 and 2, payload 1 chunks 1 to 3; chunks of group 0.
inline ScheduleFile with_payloads(Payloads payloads) {
  auto file = sample({});
  file.schedule = make_list_schedule({{picoseconds(0), LinkId(0), ChunkId(10), Stage::reduce, MessageId(0), NpuId(2)},
                                      {picoseconds(9), LinkId(1), ChunkId(11), Stage::copy},
                                      {picoseconds(9), LinkId(2), ChunkId(3), Stage::copy}},
                                     std::move(payloads));
  return file;
}

}  // namespace tenex::samples
