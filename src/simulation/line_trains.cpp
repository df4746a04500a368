#include "simulation/line_trains.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tenex {

LineTrains::LineTrains(std::vector<Entry> entries, bool closed)
    : entries_(std::move(entries)),
      closed_(closed),
      by_distance_(entries_.size()),
      left_(entries_.size(), 0),
      trains_(entries_.size()),
      free_(entries_.size()),
      finish_(entries_.size()),
      messages_(entries_.size(), 0) {
  for (const auto& entry : entries_)
    for (const auto distance : entry.distances) farthest_ = std::max(farthest_, distance);
}

/// Sorts positions by distance; distances that never decrease are in order already.
void LineTrains::sort_leavers() {
  for (std::size_t list = 0; list < entries_.size(); ++list) {
    const auto& distances = entries_[list].distances;
    auto& places = by_distance_[list];
    places.resize(distances.size());
    std::iota(places.begin(), places.end(), 0U);
    if (!std::is_sorted(distances.begin(), distances.end()))
      std::stable_sort(places.begin(), places.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return distances[a] < distances[b]; });
  }
}

void LineTrains::run() {
  sort_leavers();
  for (std::size_t list = 0; list < entries_.size(); ++list)
    if (const auto count = entries_[list].distances.size(); count > 0)
      trains_[list] = {{SimTime::zero(), SimTime::zero(), 0, static_cast<std::uint32_t>(count)}};
  for (std::uint32_t generation = 0; generation < farthest_; ++generation)
    for (std::size_t list = 0; list < entries_.size(); ++list) {
      auto& trains = trains_[list];
      if (trains.empty()) continue;
      auto link = list + generation;
      if (link >= entries_.size()) link = closed_ ? link % entries_.size() : entries_.size();
      ensure(link < entries_.size(), "a message on a line goes beyond its end");
      pass(trains, link, passed_);
      trains.swap(passed_);
      drop_leavers(list, generation, link, trains);
    }
}

void LineTrains::pass(const std::vector<Train>& in, std::size_t link, std::vector<Train>& out) {
  out.clear();
  for (const auto& train : in) pass_one(train, link, out);
}

void LineTrains::pass_one(Train train, std::size_t link, std::vector<Train>& out) {
  const SimTime busy = entries_[link].hop.busy;
  const SimTime latency = entries_[link].hop.latency;
  auto& free = free_[link];
  messages_[link] += train.count;
  const auto emit = [&](SimTime start, SimTime gap, std::uint32_t begin, std::uint32_t count) {
    out.push_back({start + latency, gap, begin, count});
    free = start + std::int64_t{count - 1} * gap + busy;
  };
  if (train.gap <= busy || train.count == 1) return emit(std::max(train.first, free), busy, train.begin, train.count);
  std::uint32_t late = 0;  // how many messages find the link taken
  if (free > train.first) {
    const auto catching_up = ceil_div((free - train.first).count(), (train.gap - busy).count());
    late = static_cast<std::uint32_t>(std::min<std::int64_t>(catching_up, train.count));
    emit(free, busy, train.begin, late);
  }
  if (late < train.count)
    emit(train.first + std::int64_t{late} * train.gap, train.gap, train.begin + late, train.count - late);
}

/// Removes the messages that end here: their arrivals count, and the trains are cut at their positions.
void LineTrains::drop_leavers(std::size_t list, std::uint32_t generation, std::size_t link,
                              std::vector<Train>& trains) {
  const auto& places = by_distance_[list];
  const auto& distances = entries_[list].distances;
  auto& left = left_[list];
  const auto leaves_here = [&] { return left < places.size() && distances[places[left]] == generation + 1; };
  if (!leaves_here()) return;
  passed_.clear();
  for (auto train : trains) {
    while (leaves_here() && places[left] < train.begin + train.count) {
      const auto before = places[left] - train.begin;
      finish_[link] = std::max(finish_[link], train.first + std::int64_t{before} * train.gap);
      if (before > 0) passed_.push_back({train.first, train.gap, train.begin, before});
      train.first += std::int64_t{before + 1} * train.gap;
      train.begin += before + 1;
      train.count -= before + 1;
      ++left;
    }
    if (train.count > 0) passed_.push_back(train);
  }
  trains.swap(passed_);
}

}  // namespace tenex
