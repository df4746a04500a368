// A choice of sends, and the hash of a sample of them: both read a schedule from chosen times on.
#include "files/send_choice.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "tenex/base/hash.hpp"
#include "tenex/schedule/storage/list_builder.hpp"

namespace tenex {
namespace {

/// "0-7,12".
template <class Id>
std::string ranges_of(const std::vector<Id>& sorted) {
  std::string text;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t last = i;
    while (last + 1 < sorted.size() && sorted[last + 1].value() <= sorted[last].value() + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", sorted[i].value());
    if (sorted[last] != sorted[i]) text += fmt::format("-{}", sorted[last].value());
    i = last + 1;
  }
  return text;
}

bool in_order(const Send& a, const Send& b) { return std::tie(a.start, a.link) < std::tie(b.start, b.link); }

/// The start of the last send of `segment` or of the next one that has sends, before `end`; that segment. nullopt:
/// none.
std::optional<std::pair<std::size_t, SimTime>> last_start_from(const Schedule& schedule, std::size_t segment,
                                                               std::size_t end, SendBuffer& buffer) {
  for (; segment < end; ++segment) {
    schedule.read(segment, buffer);
    if (buffer.batch.size() > 0) return std::pair(segment, buffer.batch.start_of(buffer.batch.size() - 1));
  }
  return std::nullopt;
}

/// Appends up to `count` sends that start at `from` or later, which the schedule has from `segment` on.
void append_run(const Schedule& schedule, std::size_t segment, SimTime from, std::uint64_t count, ListBuilder& run) {
  SendBuffer buffer;
  for (; segment < schedule.segments() && count > 0; ++segment) {
    schedule.read(segment, buffer);
    const SendBatch& all = buffer.batch;
    std::size_t first = 0;
    while (first < all.size() && all.start_of(first) < from) ++first;
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(count, all.size() - first));
    const auto part = [&](auto column) { return column.empty() ? column : column.subspan(first, size); };
    run.append({part(all.link), part(all.chunk), part(all.start), part(all.stage), part(all.message),
                part(all.destination), all.at, all.uniform_stage});
    count -= size;
  }
}

}  // namespace

std::string SendChoice::text() const {
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
  if (!npus.empty()) add("from or to " + ranges_of(npus));
  if (!chunks.empty()) add("of chunks " + ranges_of(chunks));
  if (from) add(fmt::format("from {} ps on", from->count()));
  if (before) add(fmt::format("before {} ps", before->count()));
  return text;
}

SegmentSearch::SegmentSearch(const Schedule& schedule) : schedule_(schedule) {
  SendBuffer buffer;
  const auto first = last_start_from(schedule, 0, schedule.segments(), buffer);
  if (!first) return;
  first_start_ = buffer.batch.start_of(0);
  last_start_.insert(*first);
  for (auto segment = schedule.segments(); segment-- > first->first + 1;)
    if (const auto last = last_start_from(schedule, segment, segment + 1, buffer)) {
      last_start_.insert(*last);
      return;
    }
}

std::size_t SegmentSearch::first_from(SimTime time) {
  constexpr int kGuesses = 6;
  SendBuffer buffer;
  std::size_t low = 0;  // segments before it end before `time`
  std::size_t high = schedule_.segments();
  std::optional<SimTime> low_time;  // the last start before `low`
  std::optional<SimTime> high_time;
  for (const auto& [segment, last] : last_start_) {
    if (last >= time) {
      high = segment;
      high_time = last;
      break;
    }
    low = segment + 1;
    low_time = last;
  }
  for (int step = 0; low < high; ++step) {
    auto middle = low + (high - low) / 2;
    if (low_time && high_time && step < kGuesses) {
      const auto share = static_cast<double>((time - *low_time).count()) /
                         static_cast<double>(std::max<std::int64_t>(1, (*high_time - *low_time).count()));
      middle = low + std::min(high - low - 1, static_cast<std::size_t>(share * static_cast<double>(high - low)));
    }
    const auto found = last_start_from(schedule_, middle, high, buffer);
    if (found) last_start_[found->first] = found->second;
    if (found && found->second < time) {
      low = found->first + 1;
      low_time = found->second;
    } else {
      high = middle;
      if (found) high_time = found->second;
    }
  }
  return low;
}

ChosenSends::ChosenSends(const ScheduleFile& file, const SendChoice& choice, const FactsOfSends& facts)
    : file_(file), choice_(choice), facts_(facts) {
  if (choice.npus.empty()) return;
  const Topology& topology = file.topology;
  const auto wanted = [&](VertexId vertex) {
    return std::ranges::binary_search(choice.npus, vertex.value(), {}, &NpuId::value);
  };
  link_wanted_.resize(topology.links());
  for (std::size_t i = 0; i < topology.links(); ++i) {
    link_wanted_[i] = wanted(topology.source(LinkId::at(i))) || wanted(topology.target(LinkId::at(i)));
    if (link_wanted_[i]) links_.push_back(LinkId::at(i));
  }
}

bool ChosenSends::wants(const Send& send) const {
  if (choice_.from && send.start < *choice_.from) return false;
  if (choice_.before && send.start >= *choice_.before) return false;
  if (!link_wanted_.empty() && (!facts_.knows(send) || !link_wanted_[send.link.index()])) return false;
  if (choice_.chunks.empty()) return true;
  return facts_.knows(send) && std::ranges::any_of(facts_.carried(send.chunk), [&](ChunkId chunk) {
           return std::ranges::binary_search(choice_.chunks, chunk);
         });
}

void ChosenSends::visit(const std::function<bool(const Send&)>& take) const {
  const Schedule& schedule = file_.schedule;
  if (!link_wanted_.empty() && schedule.tiles() > 0) return visit_links(take);
  SendBuffer buffer;
  for (auto segment = choice_.from ? SegmentSearch(schedule).first_from(*choice_.from) : 0;
       segment < schedule.segments(); ++segment) {
    schedule.read(segment, buffer);
    const SendBatch& batch = buffer.batch;
    if (batch.size() > 0 && choice_.before && batch.start_of(0) >= *choice_.before) return;
    for (std::size_t i = 0; i < batch.size(); ++i)
      if (const Send send = batch[i]; wants(send) && !take(send)) return;
  }
}

// Tiles cover disjoint, increasing intervals of time, so the sends of one tile are all that must be sorted.
void ChosenSends::visit_links(const std::function<bool(const Send&)>& take) const {
  const Schedule& schedule = file_.schedule;
  SendBuffer buffer;
  std::vector<Send> sends;
  for (std::size_t tile = 0; tile < schedule.tiles(); ++tile) {
    sends.clear();
    for (const LinkId link : links_) {
      schedule.read_link(tile, link, buffer);
      for (std::size_t i = 0; i < buffer.batch.size(); ++i)
        if (const Send send = buffer.batch[i]; wants(send)) sends.push_back(send);
    }
    std::ranges::sort(sends, in_order);
    for (const Send& send : sends)
      if (!take(send)) return;
  }
}

void visit_sends(const ScheduleFile& file, const SendChoice& choice,
                 const std::function<bool(const ListedSend&)>& take) {
  const FactsOfSends facts(file, file.schedule.payloads());
  ChosenSends(file, choice, facts).visit([&](const Send& send) {
    if (!facts.knows(send))
      return take({.send = send, .known = false, .arrival = {}, .source = {}, .target = {}, .bytes = {}});
    const auto [arrival, source, target, bytes] = facts.of(send);
    return take({send, true, arrival, source, target, bytes, facts.carried(send.chunk)});
  });
}

std::uint64_t recipe_hash(const Schedule& schedule, std::uint64_t most, std::uint64_t run) {
  constexpr std::int64_t kRuns = 64;
  if (schedule.sends() <= most) return schedule_hash(schedule);
  SegmentSearch search(schedule);
  const SimTime begin = search.first_start();
  const SimTime end = search.last_start();
  DigestText text;
  text.add(static_cast<std::int64_t>(schedule.sends()));
  text.add(end.count());
  for (std::int64_t i = 0; i < kRuns; ++i) {
    const SimTime from = begin + (end - begin) / kRuns * i;
    ListBuilder sends(run);
    append_run(schedule, search.first_from(from), from, run, sends);
    text.add(static_cast<std::int64_t>(schedule_hash(sends.finish())));
  }
  return text.digest().low;
}

}  // namespace tenex
