// The event loop and the matching.
#include "synthesis/tacos/event_driven/gather_engine.hpp"

#include <algorithm>
#include <numeric>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

namespace {

constexpr std::uint32_t kNone = kSuperseded;
constexpr std::uint32_t kRareChunks = 16;  ///< chunks among which rarity decides

}  // namespace

GatherEngine::GatherEngine(const GatherSetup& setup) : setup_(setup) {
  held_.resize(setup.list_begin.back());
  queues_.resize(setup.delays.size());
  if (setup.has_levels()) rivals_.emplace(setup);
}

void GatherEngine::reset(Reach reach) {
  const auto& topology = setup_.topology;
  now_ = finish_ = 0;
  served_ = setup_.served;
  arrived_ = BitMatrix(topology.vertices(), setup_.collective.chunks());
  unserved_ = setup_.wanted;
  missing_ = setup_.required;
  unclaimed_ = std::accumulate(unserved_.begin(), unserved_.end(), std::uint64_t{0});
  held_count_.assign(topology.vertices(), 0);
  own_count_.assign(topology.vertices(), 0);
  copies_.assign(setup_.collective.chunks(), 1);
  cursor_.assign(topology.links(), 0);
  first_own_.assign(topology.links(), 0);
  last_send_.assign(topology.links(), kNone);
  state_.assign(topology.links(), LinkState::idle);
  active_.clear();
  sends_.clear();
  sends_.reserve(setup_.required);
  for (auto& queue : queues_) queue = {};
  next_ = {};
  insisting_ = false;
  if (rivals_) {
    rivals_->reset(reach);
    deferred_.assign(topology.links(), {});
  }
  for (std::size_t vertex = 0; vertex < topology.vertices(); ++vertex)
    if (!setup_.held_at_start.row(vertex).empty()) start_with(vertex);
}

void GatherEngine::start_with(std::size_t vertex) {
  const auto own = setup_.held_at_start.row(vertex);
  const std::span list(held_.data() + setup_.list_begin[vertex], own.size());
  std::copy(own.begin(), own.end(), list.begin());
  random_.shuffle(list);
  held_count_[vertex] = own_count_[vertex] = static_cast<std::uint32_t>(own.size());
  for (const std::uint32_t chunk : own) {
    arrived_.set(vertex, chunk);
    if (rivals_) rivals_->supply(vertex, chunk);
  }
  const auto out = setup_.topology.out_links(VertexId::at(vertex));
  for (std::size_t port = 0; port < out.size(); ++port) {
    first_own_[out[port].index()] = static_cast<std::uint32_t>(port * own.size() / out.size());
    activate(out[port].value());
  }
}

SimTime GatherEngine::run(Random random, Reach reach, bool rare_first) {
  random_ = random;
  rare_first_ = rare_first;
  reset(reach);
  match();
  while (missing_ > 0) {
    // With equal costs nothing improves once every delivery is under way; with relays only some deliveries count.
    if (setup_.ranks == 1 && !setup_.relays && unclaimed_ == 0) return picoseconds(finish_);
    if (next_.empty())
      insist();
    else
      advance();
    match();
  }
  return picoseconds(now_);
}

/// Moves to the next instant with an event, and handles its events.
void GatherEngine::advance() {
  now_ = next_.top().first;
  while (!next_.empty() && next_.top().first == now_) {
    const std::uint32_t delay = next_.top().second;
    next_.pop();
    drain(delay);
  }
}

/// No event is left: slow links wait for faster ones that have nothing to send. Lets them take what they deferred.
void GatherEngine::insist() {
  ensure(rivals_ && !insisting_, "a synthesis came to rest with deliveries missing");
  insisting_ = true;
  for (std::uint32_t link = 0; link < setup_.topology.links(); ++link)
    if (unserved_[target_of(link)] > 0) activate(link);
}

void GatherEngine::drain(std::uint32_t delay) {
  auto& [waiting, head] = queues_[delay];
  const Delay& kind = setup_.delays[delay];
  while (head < waiting.size() && sends_[waiting[head]].start + kind.after <= now_) {
    const std::uint32_t number = waiting[head++];
    if (kind.frees) {
      state_[sends_[number].link] = LinkState::idle;
      activate(sends_[number].link);
    }
    if (kind.arrives && sends_[number].chunk != kSuperseded) deliver(number);
  }
  if (head > waiting.size() / 2) {
    waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(head));
    head = 0;
  }
  if (head < waiting.size()) next_.emplace(sends_[waiting[head]].start + kind.after, delay);
}

void GatherEngine::deliver(std::uint32_t number) {
  const auto [start, link, chunk] = sends_[number];
  const std::size_t vertex = target_of(link);
  held_[setup_.list_begin[vertex] + held_count_[vertex]++] = chunk;
  arrived_.set(vertex, chunk);
  if (rivals_) rivals_->forget(vertex, number);
  insisting_ = false;
  if (!setup_.relays || setup_.collective.must_hold(NpuId::at(vertex), ChunkId(chunk))) --missing_;
  for (const LinkId out : setup_.topology.out_links(VertexId::at(vertex))) activate(out.value());
}

void GatherEngine::activate(std::uint32_t link) {
  if (state_[link] != LinkState::idle) return;
  state_[link] = LinkState::queued;
  active_.push_back(link);
}

void GatherEngine::match() {
  matching_.swap(active_);
  active_.clear();
  random_.shuffle(std::span(matching_));
  if (setup_.ranks > 1)
    std::stable_sort(matching_.begin(), matching_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return setup_.rank_of[a] < setup_.rank_of[b]; });
  for (const std::uint32_t link : matching_) match_link(link);
}

void GatherEngine::match_link(std::uint32_t link) {
  state_[link] = LinkState::idle;
  const std::size_t target = target_of(link);
  if (unserved_[target] > 0) {
    const std::uint32_t chunk = choose(link);
    if (chunk != kNone) return send(link, chunk);
    if (setup_.ranks == 1 && setup_.sizes == 1 && unserved_[target] > 0 && rematch(link)) return;
  }
  if (rivals_ && rivals_->has_slower(link))
    take_over(link);
  else if (unserved_[target] == 0)
    state_[link] = LinkState::retired;
}

/// The chunk at a position of the source's list as the link sees it: the source's own chunks are rotated.
std::uint32_t GatherEngine::listed(std::uint32_t link, std::uint32_t position) const {
  const std::size_t source = source_of(link);
  const std::uint32_t own = own_count_[source];
  if (position < own) {
    position += first_own_[link];
    if (position >= own) position -= own;
  }
  return held_[setup_.list_begin[source] + position];
}

std::uint32_t GatherEngine::choose(std::uint32_t link) {
  const std::size_t target = target_of(link);
  const std::uint32_t count = held_count_[source_of(link)];
  const bool slow = rivals_ && rivals_->slow(link);
  if (rare_first_ && !slow) return choose_rare(link);
  std::uint32_t& cursor = cursor_[link];
  while (cursor < count) {
    const std::uint32_t chunk = listed(link, cursor++);
    if (served_.test(target, chunk)) continue;
    if (!slow || !rivals_->covered(link, target, chunk)) return chunk;
    deferred_[link].chunks.push_back(chunk);
  }
  return slow ? choose_deferred(link) : kNone;
}

/// Among the first chunks in its source's list that the target lacks, the one with the fewest copies.
std::uint32_t GatherEngine::choose_rare(std::uint32_t link) {
  const std::size_t target = target_of(link);
  const std::uint32_t count = held_count_[source_of(link)];
  std::uint32_t& cursor = cursor_[link];
  while (cursor < count && served_.test(target, listed(link, cursor))) ++cursor;
  std::uint32_t rarest = kNone;
  for (std::uint32_t at = cursor, seen = 0; at < count && seen < kRareChunks; ++at) {
    const std::uint32_t chunk = listed(link, at);
    if (served_.test(target, chunk)) continue;
    if (rarest == kNone || copies_[chunk] < copies_[rarest]) rarest = chunk;
    ++seen;
  }
  return rarest;
}

std::uint32_t GatherEngine::choose_deferred(std::uint32_t link) {
  const std::size_t target = target_of(link);
  auto& [chunks, head] = deferred_[link];
  while (head < chunks.size() && served_.test(target, chunks[head])) ++head;
  if (head == chunks.size()) return kNone;
  if (!insisting_ && !rivals_->worth_it(link, chunks[head], unserved_[target], now_)) return kNone;
  return chunks[head++];
}

/// Takes the chunk of another link into the same target that was matched at this instant, if that one can send another
/// chunk. Only for links that are alike.
bool GatherEngine::rematch(std::uint32_t link) {
  const std::size_t target = target_of(link);
  for (const LinkId other : setup_.topology.in_links(VertexId::at(target))) {
    const std::uint32_t number = last_send_[other.index()];
    if (number == kNone || sends_[number].start != now_ || !arrived_.test(source_of(link), sends_[number].chunk))
      continue;
    const std::uint32_t instead = choose(other.value());
    if (instead == kNone) continue;
    served_.set(target, instead);
    if (rivals_) rivals_->supply(target, instead);
    send(link, std::exchange(sends_[number].chunk, instead));
    return true;
  }
  return false;
}

/// Sends the chunk that would arrive last at the target, if the source has it and this link is faster.
bool GatherEngine::take_over(std::uint32_t link) {
  const std::size_t target = target_of(link);
  const Rivals::Flight* latest = nullptr;
  for (const auto& flight : rivals_->flights_to(target)) {
    if (flight.arrival <= now_ + setup_.hop(link, flight.chunk).latency) continue;
    if (latest != nullptr && flight.arrival <= latest->arrival) continue;
    if (arrived_.test(source_of(link), flight.chunk)) latest = &flight;
  }
  if (latest == nullptr) return false;
  const std::uint32_t chunk = latest->chunk;
  sends_[latest->send].chunk = kSuperseded;
  rivals_->forget(target, latest->send);
  ++unserved_[target];
  ++unclaimed_;
  send(link, chunk);
  return true;
}

void GatherEngine::send(std::uint32_t link, std::uint32_t chunk) {
  const std::size_t target = target_of(link);
  const auto& hop = setup_.hop(link, chunk);
  const auto number = static_cast<std::uint32_t>(sends_.size());
  sends_.push_back({now_, link, chunk});
  served_.set(target, chunk);
  ++copies_[chunk];
  --unserved_[target];
  --unclaimed_;
  state_[link] = LinkState::busy;
  last_send_[link] = number;
  finish_ = std::max(finish_, now_ + hop.latency);
  enqueue(hop.free_delay, number);
  if (hop.arrival_delay != hop.free_delay) enqueue(hop.arrival_delay, number);
  if (rivals_) rivals_->depart(link, target, {number, chunk, now_ + hop.latency}, now_ + hop.busy);
}

void GatherEngine::enqueue(std::uint32_t delay, std::uint32_t number) {
  auto& queue = queues_[delay];
  queue.sends.push_back(number);
  if (queue.sends.size() - queue.head == 1) next_.emplace(sends_[number].start + setup_.delays[delay].after, delay);
}

}  // namespace tenex
