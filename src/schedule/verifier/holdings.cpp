#include "schedule/verifier/holdings.hpp"

#include <algorithm>

#include "schedule/vertex_roles.hpp"

namespace tenex::verifier {

CopyHoldings::CopyHoldings(const Context& context)
    : context_(context), final_(context.topology().vertices(), context.collective().chunks()) {
  const auto& collective = context.collective();
  for (std::size_t c = 0; c < collective.chunks(); ++c) {  // only sources hold anything at first
    const auto chunk = ChunkId::at(c);
    const NpuId source = collective.source(chunk);
    if (collective.holds_at_start(source, chunk)) final_.set(source.index(), c);
  }
}

Take CopyHoldings::take(VertexId vertex, ChunkId chunk) {
  if (keeps_copies(context_.topology(), vertex)) {
    if (!holds(vertex, chunk)) return Take::nothing;
    if (relayed_.empty()) return Take::held;
    if (const auto relayed = relayed_.find(holding_key(vertex, chunk)); relayed != relayed_.end()) {
      use(relayed->second);
      relayed_.erase(relayed);
    }
    return Take::held;
  }
  const auto arrival = once_only_.pop(holding_key(vertex, chunk));
  if (!arrival) return holds(vertex, chunk) ? Take::spent : Take::nothing;
  use(*arrival);
  return Take::held;
}

void CopyHoldings::deliver(VertexId vertex, ChunkId chunk, SimTime time) {
  const bool first = final_.insert(vertex.index(), chunk.index());
  if (!keeps_copies(context_.topology(), vertex)) {
    once_only_.push(holding_key(vertex, chunk), time);
  } else if (!first) {
    ++duplicates_;
  } else if (must_hold(context_.topology(), context_.collective(), vertex, chunk)) {
    ++satisfied_;
    use(time);
  } else {
    relayed_.emplace(holding_key(vertex, chunk), time);
  }
}

void CopyHoldings::complete(VertexId vertex, ChunkId chunk) {
  if (!keeps_copies(context_.topology(), vertex)) return;
  if (final_.insert(vertex.index(), chunk.index()) &&
      must_hold(context_.topology(), context_.collective(), vertex, chunk))
    ++satisfied_;
}

std::vector<std::pair<NpuId, ChunkId>> CopyHoldings::missing() const {
  std::vector<std::pair<NpuId, ChunkId>> pairs;
  if (all_satisfied()) return pairs;
  const auto& collective = context_.collective();
  for (std::size_t c = 0; c < collective.chunks(); ++c) {
    const auto chunk = ChunkId::at(c);
    collective.for_each_destination(chunk, [&](NpuId npu) {
      if (!holds(vertex_of(npu), chunk)) pairs.emplace_back(npu, chunk);
    });
  }
  return pairs;
}

std::uint64_t CopyHoldings::waste() const { return duplicates_ + relayed_.size() + once_only_.size(); }

void PartialSums::deliver(VertexId vertex, ChunkId chunk, SimTime time) {
  ++arrivals_;
  const auto key = holding_key(vertex, chunk);
  if (sum_role(context_.topology(), vertex) != SumRole::queues)
    if (Waiting* const waiting = waiting_.back(key)) {
      waiting->last = time;  // arrivals come in the order of time
      ++waiting->arrivals;
      return;
    }
  waiting_.push(key, {time});
}

void PartialSums::take(VertexId vertex, ChunkId chunk) {
  if (const auto waiting = waiting_.pop(holding_key(vertex, chunk))) use(*waiting);
}

void PartialSums::complete(VertexId vertex, ChunkId chunk) {
  if (must_hold(context_.topology(), context_.collective(), vertex, chunk)) take(vertex, chunk);
}

}  // namespace tenex::verifier
