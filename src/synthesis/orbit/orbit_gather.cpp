// The event loop on the quotient.
#include "synthesis/orbit/orbit_gather.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "tenex/base/diagnostic.hpp"
#include "tenex/schedule/storage/raw_array.hpp"

namespace tenex {

OrbitGather::OrbitGather(const OrbitSetup& setup) : setup_(setup), order_(setup.ports.size()) {
  received_.reserve(setup.required + setup.chunks);
}

void OrbitGather::reset() {
  const std::size_t items = std::size_t{setup_.chunks} << setup_.offsets.bits();
  claimed_ = held_ = Bitset(items);
  opened_.assign(ranking_->own_fields.size(), {});
  for (std::size_t rank = 1; rank < opened_.size(); ++rank) opened_[rank] = Bitset(items);
  flights_.assign(lanes_.size(), {});
  if (flights_.size() == 1) flights_[0].sends.reserve(setup_.required);
  walks_.assign(setup_.ports.size(), {});
  for (std::size_t port = 0; port < walks_.size(); ++port)
    if (setup_.ports.all[port].directions > 1) walks_[port].lines = Bitset(items);
  received_.clear();
  sends_.clear();
  sends_.reserve(setup_.required);
  advise_large_pages(sends_.data(), setup_.required * sizeof(ItemSend));
  std::iota(order_.begin(), order_.end(), 0U);
  missing_ = setup_.required;
  now_ = finish_ = 0;
  turn_ = 0;
  insisting_ = false;
  for (std::uint32_t k = 0; k < setup_.chunks; ++k) {
    received_.push_back(setup_.offsets.own(k));
    held_.set(setup_.offsets.own(k));
    claim(setup_.offsets.own(k));
  }
  if (random_) random_->shuffle(std::span(order_));
  for (std::size_t i = 0; i < order_.size(); ++i)
    walks_[order_[i]].first_own = static_cast<std::uint32_t>(i * setup_.chunks / order_.size());
}

std::int64_t OrbitGather::run(OrbitStyle style, std::optional<Random> random) {
  ranking_ = &setup_.rankings[style.ranking];
  latest_ = style.latest;
  lanes_ = setup_.lanes;
  if (style.lockstep)
    for (auto& lane : lanes_) lane.busy = lane.latency;
  random_ = random;
  reset();
  match();
  while (missing_ > 0) {
    if (!advance()) {
      // No event is left: slow ports wait for faster ones that have nothing to send. Lets them take what they
      // deferred.
      ensure(!insisting_, "a symmetric synthesis came to rest with deliveries missing");
      insisting_ = true;
    }
    match();
  }
  if (style.lockstep) move_early();
  return finish_;
}

/// Moves to the next instant at which something arrives or a port becomes free. Returns false if there is none.
bool OrbitGather::advance() {
  constexpr auto never = std::numeric_limits<std::int64_t>::max();
  std::int64_t next = never;
  for (std::size_t lane = 0; lane < flights_.size(); ++lane) {
    const auto& [sends, arrived, freed] = flights_[lane];
    if (arrived < sends.size()) next = std::min(next, sends_[sends[arrived]].start + lanes_[lane].latency);
    if (freed < sends.size()) next = std::min(next, sends_[sends[freed]].start + lanes_[lane].busy);
  }
  if (next == never) return false;
  now_ = next;
  for (std::size_t lane = 0; lane < flights_.size(); ++lane) {
    auto& [sends, arrived, freed] = flights_[lane];
    for (; freed < sends.size() && sends_[sends[freed]].start + lanes_[lane].busy <= now_; ++freed) {
    }
    for (; arrived < sends.size() && sends_[sends[arrived]].start + lanes_[lane].latency <= now_; ++arrived) {
      received_.push_back(sends_[sends[arrived]].item);
      held_.set(received_.back());
      insisting_ = false;
    }
  }
  return true;
}

/// Gives every free port something to send.
void OrbitGather::match() {
  if (random_)
    random_->shuffle(std::span(order_));
  else
    turn_ = turn_ + 1 < order_.size() ? turn_ + 1 : 0;
  for (std::size_t i = 0, at = turn_; i < order_.size(); ++i, at = at + 1 < order_.size() ? at + 1 : 0) {
    const std::uint32_t port = order_[at];
    if (walks_[port].free_at > now_ || missing_ == 0) continue;
    if (const auto find = choose(port))
      send(port, *find);
    else
      rematch(port);
  }
}

/// Takes over the item of another port of the same lane that started at this instant, if that one can send another
/// item.
bool OrbitGather::rematch(std::uint32_t port) {
  const std::uint32_t lane = setup_.lane_of[port];
  for (std::uint32_t other = 0; other < walks_.size(); ++other) {
    if (setup_.lane_of[other] != lane || walks_[other].free_at != now_ + lanes_[lane].busy)
      continue;  // not started now
    const auto theirs = deliverable(port, sends_[walks_[other].last_send].item);
    if (!theirs) continue;
    const auto instead = choose(other);
    if (!instead) continue;
    sends_[walks_[other].last_send].item = instead->item;
    sends_[walks_[other].last_send].direction = instead->direction;
    claim(instead->item);
    send(port, *theirs);
    return true;
  }
  return false;
}

/// The item with the first direction of a port whose source has received it.
std::optional<OrbitGather::Find> OrbitGather::deliverable(std::uint32_t port, PackedItem item) const {
  const OrbitPort& own = setup_.ports.all[port];
  for (std::uint32_t i = 0; i < own.directions; ++i) {
    const std::uint32_t direction = own.first_direction + i;
    if (held_.test(setup_.steps[direction].origin(item))) return Find{item, direction};
  }
  return std::nullopt;
}

std::optional<OrbitGather::Find> OrbitGather::choose(std::uint32_t port) {
  const std::uint32_t rank = ranking_->rank_of[port];
  if (rank == 0 && !insisting_ && !worth_it(port)) return std::nullopt;
  if (latest_ && rank > 0 && setup_.lane_of[port] > 0) return choose_latest(port);
  if (const auto find = look_further(port, false)) return find;
  return rank == 0 ? std::nullopt : choose_deferred(port);
}

/// The first item that no lower direction can reach. `all`: keeps these items for choose_latest() instead.
std::optional<OrbitGather::Find> OrbitGather::look_further(std::uint32_t port, bool all) {
  Walk& walk = walks_[port];
  const auto put_off = [&](PackedItem item) {
    if (!out_of_reach(port, item))
      walk.deferred.push_back(item);
    else if (all)
      walk.found.push_back(item);
    else
      return false;
    return true;
  };
  const OrbitPort& own = setup_.ports.all[port];
  if (own.directions > 1) {
    while (const auto find = next_in_turn(port))
      if (!claimed_.test(find->item) && !put_off(find->item)) return find;
    return std::nullopt;
  }
  const PackedStep step = setup_.steps[own.first_direction];
  while (walk.cursor < received_.size()) {
    const PackedItem item = step.apply(received_[position_at(walk)]);
    ++walk.cursor;
    if (!claimed_.test(item) && !put_off(item)) return Find{item, own.first_direction};
  }
  return std::nullopt;
}

/// Whether no port of a lower rank can reach the item.
bool OrbitGather::out_of_reach(std::uint32_t port, PackedItem item) const {
  const std::uint32_t rank = ranking_->rank_of[port];
  return rank == 0 || !opened_[rank].test(item & ranking_->own_fields[rank]);
}

std::optional<OrbitGather::Find> OrbitGather::choose_latest(std::uint32_t port) {
  look_further(port, true);
  Walk& walk = walks_[port];
  while (!walk.found.empty()) {
    const PackedItem item = walk.found.back();
    walk.found.pop_back();
    if (claimed_.test(item)) continue;
    if (out_of_reach(port, item)) return deliverable(port, item);
    walk.deferred.push_back(item);
  }
  return choose_deferred(port);
}

/// What a port of several directions looks at next; nullopt: it has looked at all that was received.
std::optional<OrbitGather::Find> OrbitGather::next_in_turn(std::uint32_t port) {
  Walk& walk = walks_[port];
  const OrbitPort& own = setup_.ports.all[port];
  while (walk.cursor < received_.size()) {
    const PackedItem from = received_[position_at(walk)];
    if (walk.turn == 0 && !walk.lines.insert(setup_.steps[own.first_direction].line_of(from))) {
      ++walk.cursor;
      continue;
    }
    const std::uint32_t direction = own.first_direction + walk.turn;
    if (++walk.turn == own.directions) {
      walk.turn = 0;
      ++walk.cursor;
    }
    return Find{setup_.steps[direction].apply(from), direction};
  }
  return std::nullopt;
}

std::optional<OrbitGather::Find> OrbitGather::choose_deferred(std::uint32_t port) {
  auto& deferred = walks_[port].deferred;
  while (!deferred.empty() && claimed_.test(deferred.back())) deferred.pop_back();
  if (deferred.empty() || (!insisting_ && !worth_it(port))) return std::nullopt;
  const PackedItem item = deferred.back();
  deferred.pop_back();
  return deliverable(port, item);
}

/// Whether all ports together cannot deliver all missing items before a send of this one arrives.
bool OrbitGather::worth_it(std::uint32_t port) const {
  const std::uint32_t lane = setup_.lane_of[port];
  if (lane == 0) return true;
  const std::int64_t end = now_ + lanes_[lane].latency - 1;
  std::uint64_t delivered = 0;
  for (std::size_t other = 0; other < walks_.size() && delivered < missing_; ++other) {
    const auto& [busy, latency] = lanes_[setup_.lane_of[other]];
    const std::int64_t first = std::max(now_, walks_[other].free_at) + latency;
    if (first <= end) delivered += static_cast<std::uint64_t>((end - first) / busy) + 1;
  }
  return delivered < missing_;
}

void OrbitGather::send(std::uint32_t port, Find find) {
  const std::uint32_t lane = setup_.lane_of[port];
  flights_[lane].sends.push_back(static_cast<std::uint32_t>(sends_.size()));
  walks_[port].last_send = static_cast<std::uint32_t>(sends_.size());
  sends_.push_back({now_, find.item, find.direction});
  walks_[port].free_at = now_ + lanes_[lane].busy;
  finish_ = std::max(finish_, now_ + lanes_[lane].latency);
  claim(find.item);
  --missing_;
}

void OrbitGather::claim(PackedItem item) {
  claimed_.set(item);
  for (std::size_t rank = 1; rank < opened_.size(); ++rank) opened_[rank].set(item & ranking_->own_fields[rank]);
}

/// Starts every send as early as possible, keeping each port's order, and sorts by start again.
void OrbitGather::move_early() {
  std::vector<std::int64_t> arrival(claimed_.size(), 0);
  std::vector<std::int64_t> free(walks_.size(), 0);
  finish_ = 0;
  for (auto& send : sends_) {
    const std::uint32_t port = setup_.ports.port_of[send.direction];
    const auto& [busy, latency] = setup_.lanes[setup_.lane_of[port]];
    send.start = std::max(free[port], arrival[setup_.steps[send.direction].origin(send.item)]);
    free[port] = send.start + busy;
    arrival[send.item] = send.start + latency;
    finish_ = std::max(finish_, arrival[send.item]);
  }
  std::stable_sort(sends_.begin(), sends_.end(),
                   [](const ItemSend& a, const ItemSend& b) { return a.start < b.start; });
}

}  // namespace tenex
