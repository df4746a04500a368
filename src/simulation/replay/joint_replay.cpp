// The joint replay, event by event.
//
// Events in order of time; at one time arrivals, then beginnings of communications, then links that may take a send.
// Among equals by link. A link's queue of one stream has a time from which its next send could start, or none while
// that waits for a delivery; whoever changes this, or frees the link, notes an event for the link.
#include "tenex/simulation/joint_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <queue>
#include <utility>

#include "simulation/replay/joint_part.hpp"
#include "tenex/topology/time_range.hpp"

namespace tenex {
namespace {

constexpr std::size_t kStreams = 2;
constexpr SimTime kNever = SimTime::max();

class Replayer {
 public:
  Replayer(const Topology& topology, Occupancy occupancy, const std::array<const JointStream*, kStreams>& streams)
      : topology_(topology), occupancy_(occupancy), streams_(streams), free_(topology.links()) {
    for (auto& able : able_) able.assign(topology.links(), kNever);
    for (auto& own : own_until_) own.assign(topology.links(), SimTime::zero());
  }

  Result<JointReplay> run() {
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
      ends_[stream] = streams_[stream]->begin;
      note(streams_[stream]->begin, Kind::begin, stream);
    }
    while (!events_.empty() && problem_.empty()) {
      const auto event = events_.top();
      events_.pop();
      if (event.time > kLongestTime) return too_long();
      handle(event);
    }
    for (const auto& part : playing_)
      if (problem_.empty() && part) problem_ = "some of its sends wait for one another";
    if (!problem_.empty())
      return unsupported_error({}, "a schedule cannot be replayed beside another", problem_,
                               "choose another algorithm, or contention = \"none\"");
    return JointReplay{ends_, std::move(played_[0]), std::move(played_[1])};
  }

 private:
  enum class Kind : std::uint8_t { arrival, begin, decision };
  struct Event {
    SimTime time;
    std::uint64_t key;  // kind, then link, then stream
    bool operator>(const Event& other) const { return time != other.time ? time > other.time : key > other.key; }
  };

  void note(SimTime time, Kind kind, std::size_t stream, LinkId link = LinkId(0)) {
    events_.push({time, static_cast<std::uint64_t>(kind) << 40 | std::uint64_t{link.value()} << 1 | stream});
  }

  void handle(const Event& event) {
    const auto stream = static_cast<std::size_t>(event.key & 1);
    const auto link = LinkId(static_cast<std::uint32_t>(event.key >> 1));
    switch (static_cast<Kind>(event.key >> 40)) {
      case Kind::arrival:
        return arrive(stream, link, event.time);
      case Kind::begin:
        return begin(stream, event.time);
      case Kind::decision:
        return decide(link, event.time);
    }
  }

  void begin(std::size_t stream, SimTime now) {
    const auto& parts = streams_[stream]->parts;
    const auto index = played_[stream].size();
    if (index == parts.size()) return;
    const auto& part = parts[index];
    if (!part.collective) {
      ends_[stream] = saturating_sum(now, part.pause);
      played_[stream].push_back({now, ends_[stream], {}});
      return note(ends_[stream], Kind::begin, stream);
    }
    auto& playing = playing_[stream];
    playing.emplace(topology_, occupancy_, part, now);
    problem_ = playing->problem();
    if (!problem_.empty()) return;
    for (std::size_t link = 0; link < topology_.links(); ++link)
      if (playing->has_next(LinkId::at(link))) look_at(stream, LinkId::at(link), now);
  }

  /// From when the next send of a link could start if the stream had the network to itself from now on.
  void look_at(std::size_t stream, LinkId link, SimTime now) {
    auto& playing = *playing_[stream];
    auto& able = able_[stream][link.index()];
    able = kNever;
    if (!playing.has_next(link) || !playing.is_ready(link)) return;
    able = std::max({now, playing.release(link), own_until_[stream][link.index()]});
    note(std::max(able, free_[link.index()]), Kind::decision, 0, link);
  }

  void decide(LinkId link, SimTime now) {
    if (free_[link.index()] > now) return;  // taken meanwhile; asked again when it is free
    const auto first = able_[0][link.index()];
    const auto second = able_[1][link.index()];
    if (std::min(first, second) > now) return;
    const std::size_t stream = first <= second ? 0 : 1;
    const auto hop = playing_[stream]->take(link, now);
    const auto free = saturating_sum(now, hop.busy);
    free_[link.index()] = free;
    own_until_[stream][link.index()] = free;
    note(saturating_sum(now, hop.latency), Kind::arrival, stream, link);
    look_at(stream, link, now);
    if (able_[1 - stream][link.index()] != kNever) note(free, Kind::decision, 0, link);
  }

  void arrive(std::size_t stream, LinkId link, SimTime now) {
    auto& playing = *playing_[stream];
    playing.deliver(link, now, [&](LinkId waiting) { look_at(stream, waiting, now); });
    if (!playing.done()) return;
    if (!playing.complete()) problem_ = "it does not deliver everything";
    ends_[stream] = playing.end();
    played_[stream].push_back({playing.begin(), playing.end(), playing.played()});
    playing_[stream].reset();
    note(now, Kind::begin, stream);
  }

  static Diagnostic too_long() {
    return resource_error("communications side by side take more than 26 days", "times up to that are computed",
                          "use smaller messages or faster links");
  }

  const Topology& topology_;
  Occupancy occupancy_;
  std::array<const JointStream*, kStreams> streams_;
  std::array<std::optional<PlayingPart>, kStreams> playing_;
  std::array<std::vector<PlayedPart>, kStreams> played_;
  std::array<SimTime, kStreams> ends_;
  std::vector<SimTime> free_;                             // per link
  std::array<std::vector<SimTime>, kStreams> own_until_;  // per link: the end of a stream's last send
  std::array<std::vector<SimTime>, kStreams> able_;       // per link: when its next send could start
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::string problem_;
};

/// Of a send: columns while it is played, a list while that is sorted, the list that is kept.
constexpr std::size_t kBytesPlaying = sizeof(SimTime) + sizeof(ChunkId) + sizeof(Stage);
constexpr std::size_t kBytesOfHop = sizeof(MessageId) + sizeof(NpuId);
constexpr std::size_t kBytesOfMessage = 3 * sizeof(VertexId);
constexpr std::size_t kBytesKept = sizeof(SimTime) + sizeof(LinkId) + sizeof(ChunkId) + sizeof(Stage);
constexpr std::size_t kBytesOfOtherSlot = 64;  // outside the table: a node of the map and its share of buckets
constexpr std::size_t kBytesOfLink = 140;      // cursors, times, events, those waiting

JointPartSizes sizes_of(const JointPart& part) {
  const auto& collective = *part.collective;
  JointPartSizes sizes;
  sizes.sends = part.schedule.sends();
  sizes.messages = part.schedule.may_carry_messages();
  if (const auto* payloads = part.schedule.payloads(); payloads != nullptr)
    sizes.listed_bytes = payloads->chunks.size() * sizeof(ChunkId) + payloads->size() * 8;
  for (std::size_t group = 0; group < collective.groups().size(); ++group)
    sizes.table_words += JointSlots::table_words(collective, GroupId::at(group));
  sizes.mapped_chunks = collective.kind() == CollectiveKind::all_to_all ? collective.chunks() : 0;
  return sizes;
}

std::vector<JointPartSizes> sizes_of(const JointStream& stream) {
  std::vector<JointPartSizes> sizes;
  for (const auto& part : stream.parts)
    if (part.collective) sizes.push_back(sizes_of(part));
  return sizes;
}

/// Each send brings at most one chunk to a relay; of an All-to-All every chunk is one.
std::size_t slot_bytes(const JointPartSizes& part) {
  const auto mapped = part.mapped_chunks == 0 ? 0 : (part.mapped_chunks + part.sends) * kBytesOfOtherSlot;
  return part.table_words * sizeof(std::uint32_t) + mapped;
}

/// The largest while one part is played, and what is kept of all.
std::size_t stream_bytes(std::span<const JointPartSizes> parts) {
  std::size_t playing = 0;
  std::size_t kept = 0;
  for (const auto& part : parts) {
    const auto hop = part.messages ? kBytesOfHop : 0;
    const auto message = part.messages ? kBytesOfMessage : 0;
    kept += part.sends * (kBytesKept + hop) + part.listed_bytes;
    playing = std::max(playing, part.sends * (kBytesPlaying + hop + message + sizeof(Send)) + slot_bytes(part));
  }
  return playing + kept;
}

}  // namespace

std::size_t joint_replay_bytes(std::size_t links, std::span<const JointPartSizes> first,
                               std::span<const JointPartSizes> second) {
  return stream_bytes(first) + stream_bytes(second) + links * kBytesOfLink;
}

std::size_t joint_replay_bytes(const Topology& topology, const JointStream& first, const JointStream& second) {
  return joint_replay_bytes(topology.links(), sizes_of(first), sizes_of(second));
}

Result<JointReplay> replay_jointly(const Topology& topology, Occupancy occupancy, const JointStream& first,
                                   const JointStream& second, std::size_t memory_limit_bytes) {
  const auto needed = joint_replay_bytes(topology, first, second);
  if (needed > memory_limit_bytes)
    return resource_error(fmt::format("communications side by side need {} bytes", needed),
                          fmt::format("{} bytes are left under the limit", memory_limit_bytes),
                          "raise the limit, run it on a larger host, or use contention = \"none\"");
  return Replayer(topology, occupancy, {&first, &second}).run();
}

}  // namespace tenex
