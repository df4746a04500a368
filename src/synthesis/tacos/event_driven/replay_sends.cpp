// Replays sends in order of start, so that the sends that a send waits for have been replayed before it.
#include "synthesis/tacos/event_driven/replay_sends.hpp"

#include <algorithm>

#include "tenex/schedule/timing/player.hpp"

namespace tenex {

SimTime replay_sends(const GatherSetup& setup, std::vector<TentativeSend>& sends) {
  const std::size_t chunks = setup.collective.chunks();
  SendPlayer<std::int64_t> player(setup.topology.links(), setup.topology.vertices() * chunks);
  player.begin_held(0, setup.topology.vertices() * chunks);
  std::int64_t last = 0;
  std::erase_if(sends, [](const TentativeSend& send) { return send.chunk == kSuperseded; });
  for (auto& [start, link, chunk] : sends) {
    const auto& hop = setup.hop(link, chunk);
    const std::size_t from = setup.topology.source(LinkId(link)).index() * chunks + chunk;
    const std::size_t to = setup.topology.target(LinkId(link)).index() * chunks + chunk;
    const auto times = player.send(link, from, to, hop.busy, hop.latency, Stage::copy);
    start = times.start;
    last = std::max(last, times.arrival);
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
