// Replays sends in order of start, so that the sends that a send waits for have been replayed before it.
#include "synthesis/tacos/event_driven/replay_sends.hpp"

#include <algorithm>

namespace tenex {

SimTime replay_sends(const GatherSetup& setup, std::vector<TentativeSend>& sends) {
  const std::size_t chunks = setup.collective.chunks();
  std::vector<std::int64_t> held_from(setup.topology.vertices() * chunks, 0);
  std::vector<std::int64_t> free_from(setup.topology.links(), 0);
  std::int64_t last = 0;
  std::erase_if(sends, [](const TentativeSend& send) { return send.chunk == kSuperseded; });
  for (auto& [start, link, chunk] : sends) {
    const auto& hop = setup.hop(link, chunk);
    start = std::max(free_from[link], held_from[setup.topology.source(LinkId(link)).index() * chunks + chunk]);
    free_from[link] = start + hop.busy;
    held_from[setup.topology.target(LinkId(link)).index() * chunks + chunk] = start + hop.latency;
    last = std::max(last, start + hop.latency);
  }
  std::stable_sort(sends.begin(), sends.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  return picoseconds(last);
}

std::vector<Send> to_sends(std::vector<TentativeSend> planned) {
  std::erase_if(planned, [](const TentativeSend& send) { return send.chunk == kSuperseded; });
  for (auto begin = planned.begin(); begin != planned.end();) {
    const auto end = std::find_if(begin, planned.end(), [&](const auto& send) { return send.start != begin->start; });
    std::sort(begin, end, [](const auto& a, const auto& b) { return a.link < b.link; });
    begin = end;
  }
  std::vector<Send> sends;
  sends.reserve(planned.size());
  for (const auto& send : planned)
    sends.push_back({.start = picoseconds(send.start), .link = LinkId(send.link), .chunk = ChunkId(send.chunk)});
  return sends;
}

}  // namespace tenex
