#include "schedule/verifier/context.hpp"

#include <algorithm>
#include <limits>

#include "schedule/instant_order.hpp"

namespace tenex::verifier {

Context::Context(const Instance& instance, const Payloads* payloads, TakenAlong taken_along)
    : topology_(instance.topology),
      collective_(instance.collective),
      occupancy_(instance.occupancy),
      payloads_(payloads),
      sizes_(instance.collective.chunk_sizes()),
      times_(instance.topology, sizes_, instance.occupancy),
      taken_along_(taken_along) {
  if (payloads_ != nullptr) {
    for (std::size_t i = 0; i < payloads_->size(); ++i) add_payload(payloads_->of(i), payloads_->contributors_of(i));
    times_ = StartedHops(instance.topology, sizes_, instance.occupancy);
  }
  if (taken_along == TakenAlong::whole || !tenex::any_passes_on_early(topology_)) return;
  hand_overs_.emplace(topology_, sizes_);
  passes_on_at_once_ = tenex::passes_on_at_once(topology_);
}

bool Context::fits(std::span<const ChunkId> payload, std::span<const std::uint32_t> contributors) const {
  if (payload.empty() || payload.back().index() >= collective_.chunks()) return false;
  const auto increasing = [](const auto& list) {
    return std::ranges::adjacent_find(list, [](auto a, auto b) { return !(a < b); }) == list.end();
  };
  const GroupId group = collective_.group_of(payload.back());
  if (!increasing(payload) || collective_.group_of(payload.front()) != group) return false;
  if (!contributors.empty() &&
      (!increasing(contributors) || contributors.back() >= collective_.groups()[group.index()].members.size()))
    return false;
  const Bytes widest = std::ranges::max(collective_.chunk_sizes());
  return widest.count() <= std::numeric_limits<Bytes::Rep>::max() / static_cast<Bytes::Rep>(payload.size());
}

void Context::add_payload(std::span<const ChunkId> payload, std::span<const std::uint32_t> contributors) {
  if (!fits(payload, contributors)) return size_of_payload_.push_back(kUnfit);
  Bytes size;
  for (const ChunkId chunk : payload) size += collective_.chunk_bytes(chunk);
  const auto known = std::find(sizes_.begin(), sizes_.end(), size);
  size_of_payload_.push_back(static_cast<std::uint32_t>(known - sizes_.begin()));
  if (known == sizes_.end()) sizes_.push_back(size);
}

}  // namespace tenex::verifier
