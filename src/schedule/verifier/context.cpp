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
    for (std::size_t i = 0; i < payloads_->size(); ++i) add_payload(payloads_->of(i));
    times_ = StartedHops(instance.topology, sizes_, instance.occupancy);
  }
  if (taken_along == TakenAlong::whole || !tenex::any_passes_on_early(topology_)) return;
  hand_overs_.emplace(topology_, sizes_);
  passes_on_at_once_ = tenex::passes_on_at_once(topology_);
}

bool Context::fits(std::span<const ChunkId> payload) const {
  if (payload.empty() || payload.back().index() >= collective_.chunks()) return false;
  const bool increasing = std::adjacent_find(payload.begin(), payload.end(),
                                             [](ChunkId a, ChunkId b) { return !(a < b); }) == payload.end();
  if (!increasing || collective_.group_of(payload.front()) != collective_.group_of(payload.back())) return false;
  const Bytes widest = std::ranges::max(collective_.chunk_sizes());
  return widest.count() <= std::numeric_limits<Bytes::Rep>::max() / static_cast<Bytes::Rep>(payload.size());
}

void Context::add_payload(std::span<const ChunkId> payload) {
  if (!fits(payload)) return size_of_payload_.push_back(kUnfit);
  Bytes size;
  for (const ChunkId chunk : payload) size += collective_.chunk_bytes(chunk);
  const auto known = std::find(sizes_.begin(), sizes_.end(), size);
  size_of_payload_.push_back(static_cast<std::uint32_t>(known - sizes_.begin()));
  if (known == sizes_.end()) sizes_.push_back(size);
}

}  // namespace tenex::verifier
