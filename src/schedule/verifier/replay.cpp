#include "schedule/verifier/replay.hpp"

#include <algorithm>
#include <tuple>

namespace tenex::verifier {

void Arrivals::Lane::drop_head() {
  if (++popped * 2 < items.size()) return;
  items.erase(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(popped));
  popped = 0;
}

bool Arrivals::later(std::uint32_t a, std::uint32_t b) const {
  const auto& first = lanes_[a].head();
  const auto& second = lanes_[b].head();
  return std::tie(first.time, first.send.stage, first.sequence) >
         std::tie(second.time, second.send.stage, second.sequence);
}

void Arrivals::push(std::size_t lane, const Arrival& arrival) {
  const bool was_empty = lanes_[lane].empty();
  lanes_[lane].items.push_back(arrival);
  ++size_;
  if (!was_empty) return;
  heap_.push_back(static_cast<std::uint32_t>(lane));
  std::push_heap(heap_.begin(), heap_.end(), [this](auto a, auto b) { return later(a, b); });
}

Arrival Arrivals::pop() {
  const auto compare = [this](auto a, auto b) { return later(a, b); };
  std::pop_heap(heap_.begin(), heap_.end(), compare);
  auto& lane = lanes_[heap_.back()];
  const Arrival arrival = lane.head();
  lane.drop_head();
  --size_;
  if (lane.empty())
    heap_.pop_back();
  else
    std::push_heap(heap_.begin(), heap_.end(), compare);
  return arrival;
}

std::optional<SimTime> Arrivals::find_copy(const Context& context, VertexId vertex, ChunkId chunk) const {
  std::optional<SimTime> earliest;
  for (const auto& lane : lanes_)
    for (auto i = lane.popped; i < lane.items.size(); ++i) {
      const auto& [time, sequence, send, payload] = lane.items[i];
      if (send.stage != Stage::copy || context.target(send) != vertex) continue;
      const auto chunks = context.chunks(send);
      if (std::find(chunks.begin(), chunks.end(), chunk) != chunks.end())
        earliest = std::min(earliest.value_or(time), time);
    }
  return earliest;
}

}  // namespace tenex::verifier
