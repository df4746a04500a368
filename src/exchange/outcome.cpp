// Symbolic values as transfers of a collective's chunks, and outputs against what the collective asks for.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "exchange/foreign_formats.hpp"

namespace tenex::exchange {

void add_wrong(ForeignSchedule& schedule, Wrong wrong, const Place& place, std::string message) {
  const auto same = std::ranges::count(schedule.wrong, wrong, &WrongThing::wrong);
  if (static_cast<std::size_t>(same) < kMostWrong) schedule.wrong.push_back({wrong, place, std::move(message)});
}

Status expect_valid(const Result<ForeignSchedule>& exported) {
  if (!exported) return exported.errors();
  if (exported->valid()) return success();
  return unsupported_error(exported->wrong.front().place, "the exported schedule is not valid",
                           exported->wrong.front().message, "this is a defect: please report it");
}

Outcome::Outcome(CollectiveKind kind, std::size_t npus, std::size_t units)
    : kind_(kind), npus_(npus), units_(units), inputs_(units), outputs_(units), sums_(reduces(kind)) {
  if (kind == CollectiveKind::all_gather) inputs_ = units / npus;
  if (kind == CollectiveKind::reduce_scatter) outputs_ = units / npus;
}

std::vector<std::uint32_t> Outcome::move(const ValueTable& values, const std::vector<ValueId>& moved,
                                         const ForeignTransfer& transfer) {
  std::vector<std::uint32_t> added;
  std::unordered_map<std::uint32_t, std::uint32_t> by_set;  // of this operation
  for (const ValueId id : moved) {
    const Value& value = values[id];
    const auto index = value.items.empty() ? 0 : value.items.front() % inputs_;
    const bool like_a_chunk =
        value.taint == Taint::none && !value.items.empty() && (sums_ || value.items.size() == 1) &&
        std::ranges::all_of(value.items, [&](std::uint32_t item) { return item % inputs_ == index; });
    if (!like_a_chunk) {
      expressible_ = false;
      continue;
    }
    Contributors set;
    std::string key;
    const bool partial = sums_ && value.items.size() < npus_;
    if (partial)
      for (const auto item : value.items) {
        set.push_back(static_cast<std::uint32_t>(item / inputs_));
        key.append(reinterpret_cast<const char*>(&set.back()), sizeof(set.back()));
      }
    const auto [known, first] = number_of_set_.try_emplace(key, static_cast<std::uint32_t>(sets_.size()));
    if (first) sets_.push_back(std::move(set));
    const auto number = partial ? known->second : 0;
    const auto [place, fresh] = by_set.try_emplace(number, static_cast<std::uint32_t>(transfers_.size()));
    if (fresh) {
      added.push_back(place->second);
      transfers_.push_back(transfer);
      transfers_.back().stage = partial ? Stage::reduce : Stage::copy;
      transfers_.back().contributors = number;
    }
    const auto chunk = sums_ ? index : value.items.front();
    transfers_[place->second].chunks.push_back(ChunkId::at(chunk));
  }
  return added;
}

std::vector<std::uint32_t> Outcome::wanted(std::size_t npu, std::size_t index) const {
  std::vector<std::uint32_t> items;
  const auto share = units_ / npus_;
  switch (kind_) {
    case CollectiveKind::all_gather:
      return {contribution(index / share, index % share)};
    case CollectiveKind::all_to_all:
      return {contribution(index / share, npu * share + index % share)};
    case CollectiveKind::reduce_scatter:
      index += npu * share;
      [[fallthrough]];
    default:
      for (std::size_t rank = 0; rank < npus_; ++rank) items.push_back(contribution(rank, index));
      return items;
  }
}

std::string Outcome::name_of(std::uint32_t contribution, std::string_view rank) const {
  return fmt::format("chunk {} of {} {}'s input", contribution % inputs_, rank, contribution / inputs_);
}

void Outcome::check_output(ForeignSchedule& schedule, const ValueTable& values, std::size_t npu,
                           const OutputView& view) const {
  for (std::size_t index = 0; index < outputs_; ++index) {
    const Value& value = values[view.value_at(index)];
    const auto target = wanted(npu, index);
    if (value.taint == Taint::none && value.items == target) continue;
    const auto head = fmt::format("chunk {} of {} {}'s output", index, view.rank, npu);
    const auto writer = view.writer(index);
    const auto place = writer ? view.place_of(*writer) : view.otherwise;
    if (value.taint == Taint::unwritten)
      return add_wrong(
          schedule, Wrong::read_before_written, view.place_of(value.origin),
          fmt::format("{} reads a place that nobody has written, and {} is made of it", view.say(value.origin), head));
    if (value.taint == Taint::twice)
      return add_wrong(schedule, Wrong::twice, view.place_of(value.origin),
                       fmt::format("{} adds {} for the second time, and {} is made of it", view.say(value.origin),
                                   name_of(value.detail, view.rank), head));
    std::vector<std::uint32_t> missing;
    std::ranges::set_difference(target, value.items, std::back_inserter(missing));
    const auto by = writer ? fmt::format(" (last written by {})", view.say(*writer)) : std::string(" (never written)");
    if (value.items.empty() || (sums_ && std::ranges::includes(target, value.items)))
      return add_wrong(schedule, Wrong::missing, place,
                       fmt::format("{} lacks {}{}{}", head, name_of(missing.front(), view.rank),
                                   missing.size() > 1 ? fmt::format(" and {} more", missing.size() - 1) : "", by));
    return add_wrong(schedule, Wrong::wrong_value, place,
                     fmt::format("{} holds {}{} where {} belongs{}", head, name_of(value.items.front(), view.rank),
                                 value.items.size() > 1 ? fmt::format(" and {} more", value.items.size() - 1) : "",
                                 name_of(missing.empty() ? target.front() : missing.front(), view.rank), by));
  }
}

void Outcome::finish(ForeignSchedule& schedule) && {
  schedule.kind = kind_;
  schedule.npus = npus_;
  if (!expressible_) {
    if (schedule.valid())
      schedule.notes.emplace_back("it moves values that are no chunks of the collective, so no time is told");
    transfers_.clear();
  }
  const auto parts = static_cast<std::int64_t>(npus_ / std::gcd(npus_, units_));
  schedule.transfers = std::move(transfers_);
  schedule.contributors = std::move(sets_);
  schedule.chunks_per_npu = static_cast<std::int64_t>(units_ / npus_);
  if (parts > 1) {
    cut_chunks(schedule, parts);
    schedule.chunks_per_npu = static_cast<std::int64_t>(units_) * parts / static_cast<std::int64_t>(npus_);
  }
  for (auto& transfer : schedule.transfers) {
    std::ranges::sort(transfer.chunks);
    transfer.chunks.erase(std::unique(transfer.chunks.begin(), transfer.chunks.end()), transfer.chunks.end());
  }
  make_distinct(schedule);
}

namespace {

/// What a transfer brings: where, whose contributions, and of which chunks.
using Brought = std::tuple<NpuId, std::uint32_t, std::vector<ChunkId>>;

}  // namespace

void cut_chunks(ForeignSchedule& schedule, std::int64_t parts) {
  for (auto& transfer : schedule.transfers) {
    std::vector<ChunkId> cut;
    cut.reserve(transfer.chunks.size() * static_cast<std::size_t>(parts));
    for (const ChunkId chunk : transfer.chunks)
      for (std::int64_t part = 0; part < parts; ++part)
        cut.push_back(ChunkId::at(chunk.index() * static_cast<std::size_t>(parts) + static_cast<std::size_t>(part)));
    transfer.chunks = std::move(cut);
  }
  schedule.chunks_per_npu *= parts;
}

void make_distinct(ForeignSchedule& schedule) {
  std::set<std::tuple<NpuId, NpuId, ChunkId, Stage>> seen;
  for (const auto& transfer : schedule.transfers) {
    if (transfer.chunks.size() != 1) continue;
    if (seen.emplace(transfer.source, transfer.destination, transfer.chunks.front(), transfer.stage).second) continue;
    cut_chunks(schedule, 2);
    return;
  }
}

}  // namespace tenex::exchange

namespace tenex {

void join_relays(ForeignSchedule& schedule) {
  const auto count = schedule.transfers.size();
  std::vector<std::uint32_t> head(count);  // of each transfer's message
  std::vector<bool> goes_on(count, false);
  std::multimap<exchange::Brought, std::uint32_t> brought;  // by which transfers
  for (std::uint32_t t = 0; t < count; ++t) {
    head[t] = t;
    const ForeignTransfer& transfer = schedule.transfers[t];
    if (transfer.stage != Stage::reduce) continue;
    // The same sum came: had the NPU formed it, it would not have come, too.
    if (const auto found = brought.find({transfer.source, transfer.contributors, transfer.chunks});
        found != brought.end()) {
      goes_on[found->second] = true;
      head[t] = head[found->second];
      brought.erase(found);
    }
    brought.emplace(exchange::Brought(transfer.destination, transfer.contributors, transfer.chunks), t);
  }
  std::vector<std::uint32_t> number(count);  // of the message that brings what the transfer brought
  std::vector<ForeignTransfer> joined;
  for (std::uint32_t t = 0; t < count; ++t) {
    ForeignTransfer& transfer = schedule.transfers[t];
    if (head[t] == t) {
      number[t] = static_cast<std::uint32_t>(joined.size());
      std::erase_if(transfer.after, [&](std::uint32_t before) { return goes_on[before]; });
      for (auto& before : transfer.after) before = number[before];
      joined.push_back(std::move(transfer));
    } else {
      number[t] = number[head[t]];
      joined[number[t]].destination = transfer.destination;
    }
  }
  schedule.transfers = std::move(joined);
  exchange::make_distinct(schedule);
}

}  // namespace tenex
