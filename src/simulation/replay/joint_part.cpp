// One communication of a joint replay: what its sends wait for, and what they deliver.
#include "simulation/replay/joint_part.hpp"

#include <algorithm>
#include <utility>

#include "tenex/topology/hand_over.hpp"

namespace tenex {

PlayingPart::PlayingPart(const Topology& topology, Occupancy occupancy, const JointPart& part, SimTime begin)
    : topology_(topology),
      collective_(*part.collective),
      given_(part.schedule),
      carried_({topology, collective_, occupancy}, given_),
      begin_(begin),
      end_(begin),
      links_(topology.links()),
      slots_(collective_),
      required_(collective_.required_deliveries()) {
  if (topology.links() > JointSlots::kMostLinks) {
    problem_ = "the network has too many links";
    return;
  }
  sends_.load(given_, topology.links());
  const bool sums = !sends_.stage.empty() || sends_.uniform_stage == Stage::reduce;
  if (sends_.message.empty() && topology.switches() == 0 && !sums) return;  // nothing to note
  std::size_t messages = 0;
  for (const auto message : sends_.message)
    if (message.exists()) messages = std::max(messages, message.index() + 1);
  messages_.resize(messages);
  if (any_passes_on_early(topology)) hops_in_.resize(messages);
  SendBuffer buffer;
  for (std::size_t segment = 0; segment < given_.segments(); ++segment) {
    given_.read(segment, buffer);
    for (std::size_t i = 0; i < buffer.batch.size(); ++i) note(buffer.batch[i]);
  }
}

/// Whether the send is not a later hop of a message. To be asked in planned order, in which a hop out of a switch may
/// come before the one into it where both start at one instant.
bool PlayingPart::sets_out(const Send& send, VertexId source) {
  if (!send.message.exists()) return true;
  if (!topology_.is_npu(source)) return false;
  auto& message = messages_[send.message.index()];
  if (message.origin.exists()) return false;
  message.origin = source;
  return true;
}

/// Whether a sum is stated to be the contribution of its source alone, which waits for nothing. Other sums wait for all
/// that their source receives.
bool PlayingPart::is_own_input(ChunkId chunk, VertexId source) const {
  const auto* payloads = given_.payloads();
  if (payloads == nullptr || chunk.index() < collective_.chunks() || !topology_.is_npu(source)) return false;
  const auto payload = chunk.index() - collective_.chunks();
  const auto contributors = payloads->contributors_of(payload);
  if (contributors.size() != 1) return false;
  const auto group = collective_.group_of(payloads->of(payload).front());
  return collective_.groups()[group.index()].members[contributors.front()] == npu_of(source);
}

void PlayingPart::note(const Send& send) {
  const auto source = topology_.source(send.link);
  const auto target = topology_.target(send.link);
  const bool unpacked = !send.message.exists() || target == vertex_of(send.destination);
  const bool taken = sets_out(send, source);
  if ((taken && !topology_.is_npu(source)) || (unpacked && !topology_.is_npu(target)))
    problem_ = "a switch takes part in it";
  if (send.stage != Stage::reduce || !problem_.empty()) return;
  const bool own = is_own_input(send.chunk, source);
  for (const auto chunk : carried_.of(send.chunk)) {
    if (taken && !own) {
      auto& word = slots_.word(npu_of(source), chunk);
      if ((word & JointSlots::kSendsSum) != 0) problem_ = "its sums do not travel in trees";
      word |= JointSlots::kSendsSum;
    }
    if (unpacked) ++slots_.word(npu_of(target), chunk);
  }
}

bool PlayingPart::has_chunk(Stage stage, LinkId link, ChunkId chunk) {
  const auto npu = npu_of(topology_.source(link));
  if (slots_.is_source(npu, chunk)) return true;
  auto& word = slots_.word(npu, chunk);
  const bool awaited = (word & JointSlots::kAwaited) != 0;
  const auto last = LinkId(word & JointSlots::kRest);
  const auto contents = awaited ? links_[last.index()].kept_word : word;
  if (stage == Stage::reduce ? (contents & JointSlots::kRest) == 0 : (contents & JointSlots::kHeld) != 0) return true;
  auto& waiting = links_[link.index()];
  waiting.next_waiting = awaited ? last : LinkId::none();
  waiting.kept_word = contents;
  word = JointSlots::kAwaited | link.value();
  return false;
}

/// When the message that is at the link's source may leave over the link.
SimTime PlayingPart::passed_on(MessageId message, LinkId link, Bytes size) const {
  const auto source = topology_.source(link);
  if (hops_in_.empty() || !passes_on_early(topology_, source)) return begin_;
  const auto& [whole, in] = hops_in_[message.index()];
  return whole - hand_over_lead(topology_, in, link, size);
}

std::optional<SimTime> PlayingPart::ready(LinkId link) {
  const auto position = next(link);
  if (!sends_.message.empty() && sends_.message[position].exists()) {
    const auto source = topology_.source(link);
    auto& message = messages_[sends_.message[position].index()];
    if (message.origin != source) {
      if (message.at == source)
        return passed_on(sends_.message[position], link, carried_.bytes(sends_.chunk[position]));
      links_[link.index()].next_waiting = std::exchange(message.waiting, link);
      return std::nullopt;
    }
  }
  const auto stage = sends_.stage_of(position);
  if (stage == Stage::reduce && is_own_input(sends_.chunk[position], topology_.source(link))) return begin_;
  const auto chunks = carried_.of(sends_.chunk[position]);
  const bool there = std::ranges::all_of(chunks, [&](ChunkId chunk) { return has_chunk(stage, link, chunk); });
  return there ? std::optional(begin_) : std::nullopt;
}

HopTime PlayingPart::start(LinkId link, SimTime now) {
  const auto position = next(link);
  ++links_[link.index()].started;
  sends_.note_start(position, link, now - begin_);
  const auto hop = carried_.hop(link, sends_.chunk[position], now - begin_);
  const auto target = topology_.target(link);
  if (!hops_in_.empty() && passes_on_early(topology_, target)) {
    const auto message = sends_.message[position];
    hops_in_[message.index()] = {saturating_sum(now, hop.latency), link};
    bring(message, target);
  }
  return hop;
}

/// The message may leave this vertex, perhaps later.
void PlayingPart::bring(MessageId message, VertexId at) {
  auto& brought = messages_[message.index()];
  brought.at = at;
  wake(std::exchange(brought.waiting, LinkId::none()));
}

void PlayingPart::arrive(LinkId link, SimTime now) {
  const auto position = arriving(link);
  ++links_[link.index()].arrived;
  ++arrived_;
  const auto target = topology_.target(link);
  if (!sends_.message.empty() && sends_.message[position].exists() &&
      vertex_of(sends_.destination[position]) != target) {
    if (hops_in_.empty() || !passes_on_early(topology_, target)) bring(sends_.message[position], target);
    return;
  }
  for (const auto chunk : carried_.of(sends_.chunk[position]))
    unpack(sends_.stage_of(position), chunk, npu_of(target), now);
}

void PlayingPart::unpack(Stage stage, ChunkId chunk, NpuId npu, SimTime now) {
  auto& word = slots_.word(npu, chunk);
  const bool awaited = (word & JointSlots::kAwaited) != 0;
  const auto last = LinkId(word & JointSlots::kRest);
  auto& contents = awaited ? links_[last.index()].kept_word : word;
  if (stage == Stage::reduce && (--contents & JointSlots::kRest) != 0) return;
  if (stage == Stage::copy || (contents & JointSlots::kSendsSum) == 0) hold(npu, chunk, contents, now);
  if (!awaited) return;
  word = contents;
  wake(last);
}

void PlayingPart::hold(NpuId npu, ChunkId chunk, std::uint32_t& contents, SimTime now) {
  if ((contents & JointSlots::kHeld) != 0) return;
  contents |= JointSlots::kHeld;
  if (!collective_.must_hold(npu, chunk) || collective_.holds_at_start(npu, chunk)) return;
  --required_;
  end_ = now;
}

/// All links of the list that ends with `last` may go on.
void PlayingPart::wake(LinkId last) {
  for (; last.exists(); last = links_[last.index()].next_waiting) woken_.push_back(last);
}

}  // namespace tenex
