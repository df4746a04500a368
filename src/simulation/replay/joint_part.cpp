// One communication of a joint replay: what its sends wait for, and what they deliver.
#include "simulation/replay/joint_part.hpp"

#include <algorithm>
#include <utility>

namespace tenex {

PlayingPart::PlayingPart(const Topology& topology, Occupancy occupancy, const JointPart& part, SimTime begin)
    : topology_(topology),
      collective_(*part.collective),
      plan_(part.schedule),
      carried_(topology, collective_, occupancy, plan_),
      begin_(begin),
      end_(begin),
      slots_(collective_),
      required_(collective_.required_deliveries()) {
  load(plan_);
}

/// Counts the sends of each link, then puts them there: both passes go in planned order, which so becomes each link's.
void PlayingPart::load(const Schedule& schedule) {
  first_.assign(topology_.links() + 1, 0);
  bool messages = false;
  SendBuffer buffer;
  for (std::size_t window = 0; window < schedule.windows(); ++window) {
    schedule.read(window, buffer);
    for (const auto link : buffer.batch.link) ++first_[link.index() + 1];
    messages = messages || !buffer.batch.message.empty();
  }
  for (std::size_t link = 0; link < topology_.links(); ++link) first_[link + 1] += first_[link];
  const auto sends = first_.back();
  start_.resize(sends);
  chunk_.resize(sends);
  stage_.resize(sends);
  if (messages) message_.resize(sends);
  if (messages) destination_.resize(sends);
  next_.assign(first_.begin(), first_.end() - 1);
  for (std::size_t window = 0; window < schedule.windows(); ++window) {
    schedule.read(window, buffer);
    for (std::size_t i = 0; i < buffer.batch.size(); ++i) note(next_[buffer.batch.link[i].index()]++, buffer.batch[i]);
  }
  next_.assign(first_.begin(), first_.end() - 1);
  landing_ = next_;
  next_waiting_.assign(topology_.links(), LinkId::none());
}

void PlayingPart::note(std::size_t position, const Send& send) {
  start_[position] = send.start;
  chunk_[position] = send.chunk;
  stage_[position] = send.stage;
  const auto source = topology_.source(send.link);
  auto target = topology_.target(send.link);
  bool sets_out = true;
  if (!message_.empty()) {
    message_[position] = send.message;
    destination_[position] = send.destination;
    if (send.message.exists()) {
      if (send.message.index() >= messages_.size()) messages_.resize(send.message.index() + 1);
      auto& message = messages_[send.message.index()];
      sets_out = !message.origin.exists();
      if (sets_out) message.origin = source;
      if (target != vertex_of(send.destination)) target = VertexId::none();
    }
  }
  if ((sets_out && !topology_.is_npu(source)) || (target.exists() && !topology_.is_npu(target)))
    problem_ = "a switch takes part in it";
  if (send.stage != Stage::reduce || !problem_.empty()) return;
  for (const auto chunk : carried_.of(send.chunk)) {
    if (sets_out) {
      auto& word = slots_.word(slots_.index(npu_of(source), chunk));
      if ((word & JointSlots::kSendsSum) != 0) problem_ = "its sums do not travel in trees";
      word |= JointSlots::kSendsSum;
    }
    if (target.exists()) ++slots_.word(slots_.index(npu_of(target), chunk));
  }
}

bool PlayingPart::has_chunk(std::size_t position, LinkId link, ChunkId chunk) {
  const auto npu = npu_of(topology_.source(link));
  const auto slot = slots_.index(npu, chunk);
  auto& word = slots_.word(slot);
  const bool here = stage_[position] == Stage::reduce
                        ? (word & JointSlots::kToCome) == 0
                        : (word & JointSlots::kHeld) != 0 || collective_.holds_at_start(npu, chunk);
  if (here) return true;
  wait(waiting_.try_emplace(slot, LinkId::none()).first->second, link);
  word |= JointSlots::kAwaited;
  return false;
}

bool PlayingPart::is_ready(LinkId link) {
  const auto position = next_[link.index()];
  const auto source = topology_.source(link);
  if (!message_.empty() && message_[position].exists() && is_later_hop(position, source)) {
    auto& message = messages_[message_[position].index()];
    if (message.at == source) return true;
    wait(message.first_waiting, link);
    return false;
  }
  const auto chunks = carried_.of(chunk_[position]);
  return std::ranges::all_of(chunks, [&](ChunkId chunk) { return has_chunk(position, link, chunk); });
}

HopTime PlayingPart::take(LinkId link, SimTime now) {
  const auto position = next_[link.index()]++;
  start_[position] = now - begin_;
  return carried_.hop(link, chunk_[position]);
}

void PlayingPart::arrive(LinkId link, SimTime now) {
  const auto position = landing_[link.index()]++;
  ++arrived_;
  const auto target = topology_.target(link);
  if (!message_.empty() && message_[position].exists() && vertex_of(destination_[position]) != target) {
    auto& message = messages_[message_[position].index()];
    message.at = target;
    return wake(message.first_waiting);
  }
  unpack(position, npu_of(target), now);
}

void PlayingPart::unpack(std::size_t position, NpuId npu, SimTime now) {
  for (const auto chunk : carried_.of(chunk_[position])) {
    const auto slot = slots_.index(npu, chunk);
    auto& word = slots_.word(slot);
    if (stage_[position] == Stage::reduce) {
      --word;
      if ((word & JointSlots::kToCome) != 0) continue;
      if ((word & JointSlots::kSendsSum) == 0) hold(npu, chunk, word, now);
    } else {
      hold(npu, chunk, word, now);
    }
    if ((word & JointSlots::kAwaited) != 0) wake_at(slot);
  }
}

void PlayingPart::hold(NpuId npu, ChunkId chunk, std::uint32_t& word, SimTime now) {
  if ((word & JointSlots::kHeld) != 0) return;
  word |= JointSlots::kHeld;
  if (!collective_.must_hold(npu, chunk) || collective_.holds_at_start(npu, chunk)) return;
  --required_;
  end_ = now;
}

void PlayingPart::wait(LinkId& first, LinkId link) {
  next_waiting_[link.index()] = first;
  first = link;
}

void PlayingPart::wake(LinkId& first) {
  while (first.exists()) {
    woken_.push_back(first);
    first = std::exchange(next_waiting_[first.index()], LinkId::none());
  }
}

void PlayingPart::wake_at(std::size_t slot) {
  slots_.word(slot) &= ~JointSlots::kAwaited;
  const auto found = waiting_.find(slot);
  wake(found->second);
  waiting_.erase(found);
}

Schedule PlayingPart::played() const {
  std::vector<Send> sends;
  sends.reserve(chunk_.size());
  for (std::size_t link = 0; link < topology_.links(); ++link)
    for (auto at = first_[link]; at < first_[link + 1]; ++at) {
      auto& send = sends.emplace_back(Send{start_[at], LinkId::at(link), chunk_[at], stage_[at]});
      if (message_.empty()) continue;
      send.message = message_[at];
      send.destination = destination_[at];
    }
  const auto* payloads = plan_.payloads();
  return make_list_schedule(std::move(sends), payloads != nullptr ? *payloads : Payloads{});
}

}  // namespace tenex
