// Events of a schedule for Perfetto and Chrome's tracing (google/perfetto, docs/getting-started/other-formats.md).
//
// Process 0 has a track for each link that carries something, with a slice for each send; process 1 a track for each
// vertex, with an instant for each delivery. An arrow leads from a delivery to each send that takes what it brought.
// Slices of a track do not overlap, since a link carries one send at a time (until it is free again: `busy`).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "tenex/exchange/machine_text.hpp"
#include "tenex/exchange/schedule_export.hpp"
#include "tenex/schedule/storage/carried_chunks.hpp"

namespace tenex {
namespace {

constexpr std::uint64_t kMostSends = 1'000'000;

/// Picoseconds as microseconds, exactly.
std::string microseconds_text(SimTime time) {
  return fmt::format("{}.{:06d}", time.count() / 1'000'000, time.count() % 1'000'000);
}

std::string vertex_name(const Topology& topology, VertexId vertex) {
  return topology.is_npu(vertex) ? fmt::format("NPU {}", vertex.value()) : fmt::format("switch {}", vertex.value());
}

}  // namespace

Result<std::string> to_perfetto(const ScheduleFile& file) {
  if (file.schedule.sends() > kMostSends)
    return unsupported_error({}, fmt::format("the schedule has {} sends", file.schedule.sends()),
                             fmt::format("traces of at most {} are written", kMostSends),
                             "export a part: --npus, --chunks, --from, --to with --format list, then its trace");
  const Topology& topology = file.topology;
  const CarriedChunks carried({topology, file.collective, file.occupancy}, file.schedule);
  std::string events;
  std::map<LinkId, bool> links;
  std::map<VertexId, bool> vertices;
  const auto add = [&](const std::string& event) { events += (events.empty() ? " " : ",\n ") + event; };
  /// What came to a vertex of a chunk: when, and by which send.
  std::map<std::pair<VertexId, ChunkId>, std::vector<std::pair<SimTime, std::uint64_t>>> came;
  std::uint64_t number = 0;
  std::uint64_t arrows = 0;
  visit_sends(file, {}, [&](const ListedSend& each) {
    if (!each.known) return true;
    const auto link = each.send.link;
    links[link] = true;
    vertices[each.target] = true;
    std::string chunks;
    for (std::size_t c = 0; c < std::min<std::size_t>(each.chunks.size(), 8); ++c)
      chunks += fmt::format("{}{}", c == 0 ? "" : ",", each.chunks[c].value());
    if (each.chunks.size() > 8) chunks += ",...";
    const auto busy = carried.hop(link, each.send.chunk, each.send.start).busy;
    const std::string_view stage = each.send.stage == Stage::reduce ? "reduce" : "copy";
    add(
        fmt::format("{{\"ph\": \"X\", \"pid\": 0, \"tid\": {}, \"ts\": {}, \"dur\": {}, \"name\": \"{} {}\", \"cat\": "
                    "\"{}\", \"args\": {{\"bytes\": {}, \"arrival_us\": {}}}}}",
                    link.value(), microseconds_text(each.send.start), microseconds_text(busy), stage, chunks, stage,
                    each.bytes.count(), microseconds_text(each.arrival)));
    add(fmt::format("{{\"ph\": \"i\", \"s\": \"t\", \"pid\": 1, \"tid\": {}, \"ts\": {}, \"name\": \"{} {}\"}}",
                    each.target.value(), microseconds_text(each.arrival), stage, chunks));
    const auto known = came.find({each.source, each.chunks.empty() ? ChunkId::none() : each.chunks.front()});
    if (known != came.end()) {
      const std::pair<SimTime, std::uint64_t>* last = nullptr;
      for (const auto& arrival : known->second)
        if (arrival.first <= each.send.start && (last == nullptr || arrival.first > last->first)) last = &arrival;
      if (last != nullptr) {
        add(
            fmt::format("{{\"ph\": \"s\", \"id\": {}, \"pid\": 1, \"tid\": {}, \"ts\": {}, \"name\": \"needs\", "
                        "\"cat\": \"order\"}}",
                        arrows, each.source.value(), microseconds_text(last->first)));
        add(
            fmt::format("{{\"ph\": \"f\", \"bp\": \"e\", \"id\": {}, \"pid\": 0, \"tid\": {}, \"ts\": {}, \"name\": "
                        "\"needs\", \"cat\": \"order\"}}",
                        arrows++, link.value(), microseconds_text(each.send.start)));
      }
    }
    for (const ChunkId chunk : each.chunks) came[{each.target, chunk}].emplace_back(each.arrival, number);
    ++number;
    return true;
  });
  const auto name = [&](int process, std::size_t thread, const std::string& text) {
    add(
        fmt::format("{{\"ph\": \"M\", \"pid\": {}, \"tid\": {}, \"name\": \"thread_name\", \"args\": {{\"name\": "
                    "\"{}\"}}}}",
                    process, thread, text));
    add(
        fmt::format("{{\"ph\": \"M\", \"pid\": {}, \"tid\": {}, \"name\": \"thread_sort_index\", \"args\": "
                    "{{\"sort_index\": {}}}}}",
                    process, thread, thread));
  };
  add(R"({"ph": "M", "pid": 0, "name": "process_name", "args": {"name": "links"}})");
  add(R"({"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "deliveries"}})");
  for (const auto& [link, used] : links)
    name(0, link.index(),
         fmt::format("link {}: {} to {}", link.value(), vertex_name(topology, topology.source(link)),
                     vertex_name(topology, topology.target(link))));
  for (const auto& [vertex, used] : vertices) name(1, vertex.index(), vertex_name(topology, vertex));
  return fmt::format(
      "{{\"displayTimeUnit\": \"ns\", \"otherData\": {{\"algorithm\": \"{}\"}}, \"traceEvents\": [\n{}\n]}}\n",
      exchange::plain(file.algorithm), events);
}

}  // namespace tenex
