// The joint replay, event by event.
//
// Events in order of time; at one time arrivals, then beginnings of communications, then links that may take a send, in
// the order of links. There are at most three events per link: the next arrival of either stream, and the time from
// which it may take a send. That is when it is free and the next send of a stream can start; whoever changes this notes
// it anew. A switch with virtual cut-through may pass a message on at the instant at which it sets out there: such
// links look once all others have decided.
#include "tenex/simulation/joint_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "simulation/replay/joint_part.hpp"
#include "simulation/replay/link_set.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/base/graph/event_queue.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/hand_over.hpp"
#include "tenex/topology/time_range.hpp"

namespace tenex {
namespace {

constexpr std::size_t kStreams = 2;
constexpr SimTime kNever = SimTime::max();
constexpr std::uint32_t kEventsOfLink = kStreams + 1;

/// What both streams know of a link.
struct SharedLink {
  SimTime free;                                           ///< the end of its last send
  std::array<SimTime, kStreams> able = {kNever, kNever};  ///< when the next send of a stream could start
  std::size_t last = kStreams;                            ///< the stream of its last send
};

class JointReplayer {
 public:
  JointReplayer(const Topology& topology, Occupancy occupancy, const std::array<const JointStream*, kStreams>& streams)
      : topology_(topology),
        occupancy_(occupancy),
        streams_(streams),
        links_(topology.links()),
        events_(beginning_of(kStreams)),
        able_now_(topology.links()) {}

  Result<JointReplay> run() {
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
      ends_[stream] = streams_[stream]->begin;
      events_.put(beginning_of(stream), ends_[stream]);
    }
    while (problem_.empty() && events_.advance()) {
      if (events_.now() > kLongestTime) return too_long();
      handle(events_.now());
    }
    for (const auto& part : playing_)
      if (problem_.empty() && part) problem_ = "some of its sends wait for one another";
    if (!problem_.empty())
      return unsupported_error({}, "a schedule cannot be replayed beside another", problem_,
                               "choose another algorithm, or contention = \"none\"");
    return JointReplay{ends_, std::move(played_[0]), std::move(played_[1])};
  }

 private:
  // Per link an arrival of either stream and a decision; then a beginning of either stream.
  [[nodiscard]] static EventQueue::Event arrival_at(LinkId link, std::size_t stream) {
    return EventQueue::Event{kEventsOfLink} * link.value() + static_cast<EventQueue::Event>(stream);
  }
  [[nodiscard]] static EventQueue::Event decision_of(LinkId link) {
    return EventQueue::Event{kEventsOfLink} * link.value() + kStreams;
  }
  [[nodiscard]] EventQueue::Event beginning_of(std::size_t stream) const {
    return static_cast<EventQueue::Event>(kEventsOfLink * topology_.links() + stream);
  }

  /// All that happens at one time.
  void handle(SimTime now) {
    std::array<bool, kStreams> begins{};
    for (auto event = events_.pop(); event != EventQueue::kNone; event = events_.pop()) {
      if (event >= beginning_of(0)) {
        begins[event - beginning_of(0)] = true;
        continue;
      }
      const LinkId link(event / kEventsOfLink);
      const std::size_t stream = event % kEventsOfLink;
      if (stream == kStreams)
        able_now_.add(link);
      else
        arrive(stream, link, now);
    }
    for (std::size_t stream = 0; stream < kStreams; ++stream)
      if (begins[stream] && problem_.empty()) begin(stream, now);
    if (!problem_.empty()) return;
    able_now_.take_all([&](LinkId link) { decide(link, now); });
    while (!woken_.empty()) {
      for (const auto& [stream, link] : std::exchange(woken_, {})) look_at(stream, link, now);
      able_now_.take_all([&](LinkId link) { decide(link, now); });
    }
  }

  void begin(std::size_t stream, SimTime now) {
    const auto& parts = streams_[stream]->parts;
    auto& played = played_[stream];
    while (played.size() < parts.size() && !parts[played.size()].collective) {
      ends_[stream] = saturating_sum(now, parts[played.size()].pause);
      played.push_back({now, ends_[stream], {}});
      if (ends_[stream] > now) return events_.put(beginning_of(stream), ends_[stream]);
    }
    if (played.size() == parts.size()) return;
    auto& playing = playing_[stream];
    playing.emplace(topology_, occupancy_, parts[played.size()], now);
    problem_ = playing->problem();
    if (!problem_.empty()) return;
    for (std::size_t link = 0; link < topology_.links(); ++link)
      if (playing->has_next(LinkId::at(link))) look_at(stream, LinkId::at(link), now);
  }

  /// From when the next send of a link could start if the stream had the network to itself from now on.
  void look_at(std::size_t stream, LinkId link, SimTime now) {
    auto& playing = *playing_[stream];
    if (!playing.has_next(link)) return;
    const auto ready = playing.ready(link);
    if (!ready) return;
    auto& shared = links_[link.index()];
    // A link that another stream took last was free of this one's sends by then.
    const auto own_until = shared.last == stream ? shared.free : SimTime::zero();
    shared.able[stream] = std::max({now, playing.release(link), own_until, *ready});
    note_decision(link, now);
  }

  void note_decision(LinkId link, SimTime now) {
    const auto& shared = links_[link.index()];
    const auto time = std::max(shared.free, std::min(shared.able[0], shared.able[1]));
    if (time > now) return events_.put_earlier(decision_of(link), time);
    events_.remove(decision_of(link));
    able_now_.add(link);
  }

  /// A free link with a send that can start takes one.
  void decide(LinkId link, SimTime now) {
    auto& shared = links_[link.index()];
    const std::size_t stream = shared.able[0] <= shared.able[1] ? 0 : 1;
    auto& playing = *playing_[stream];
    const bool next_to_arrive = !playing.is_under_way(link);
    shared.able[stream] = kNever;
    const auto hop = playing.take(link, now, [&](LinkId waiting) { woken_.emplace_back(stream, waiting); });
    shared.free = saturating_sum(now, hop.busy);
    shared.last = stream;
    if (next_to_arrive) events_.put(arrival_at(link, stream), saturating_sum(now, hop.latency));
    look_at(stream, link, now);
    if (shared.able[stream] == kNever && shared.able[1 - stream] != kNever) note_decision(link, now);
  }

  void arrive(std::size_t stream, LinkId link, SimTime now) {
    auto& playing = *playing_[stream];
    playing.deliver(link, now, [&](LinkId waiting) { look_at(stream, waiting, now); });
    if (playing.is_under_way(link)) events_.put(arrival_at(link, stream), playing.arrival(link));
    if (!playing.done()) return;
    if (!playing.complete()) problem_ = "it does not deliver everything";
    ends_[stream] = playing.end();
    played_[stream].push_back({playing.begin(), playing.end(), playing.take_played()});
    playing_[stream].reset();
    events_.put(beginning_of(stream), now);
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
  std::vector<SharedLink> links_;
  EventQueue events_;
  LinkSet able_now_;
  std::vector<std::pair<std::size_t, LinkId>> woken_;  ///< by the sends that start: streams and links
  std::string problem_;
};

/// The schedules that are made aside: states, events, places while a schedule is read, sets.
constexpr std::size_t kBytesOfLink = sizeof(SharedLink) + kEventsOfLink * EventQueue::kBytes +
                                     kStreams * (sizeof(PlayingPart::Link) + 2 * sizeof(LinkId)) +
                                     sizeof(std::uint64_t) + 1;
constexpr std::size_t kBytesOfPart = 4096;
constexpr std::size_t kBytesRead = 32;             // of a send while a schedule is read
constexpr std::size_t kSendsOfSegment = 1U << 14;  // about

std::size_t most_sends(std::span<const JointPartSizes> parts) {
  std::size_t most = 0;
  for (const auto& part : parts) most = std::max(most, part.sends);
  return most;
}

/// Words outside the table: each delivery brings at most one chunk to a relay, and those that bring one to a member are
/// not among them. Programs deliver to relays in an All-to-All alone.
std::size_t other_words(const JointPart& part) {
  const auto& collective = *part.collective;
  std::size_t deliveries = part.schedule.sends();
  if (collective.kind() == CollectiveKind::all_to_all) {
    if (const auto* payloads = part.schedule.payloads(); payloads != nullptr) deliveries += payloads->chunks.size();
    return deliveries - std::min<std::size_t>(deliveries, collective.required_deliveries());
  }
  if (part.schedule.payloads() != nullptr || part.schedule.may_carry_messages()) return 0;
  std::size_t least = 0;
  for (std::size_t group = 0; group < collective.groups().size(); ++group)
    least += collective.chunks_in(GroupId::at(group)) * (collective.groups()[group].members.size() - 1);
  if (collective.kind() == CollectiveKind::all_reduce) least *= 2;
  return deliveries - std::min(deliveries, least);
}

std::vector<JointPartSizes> sizes_of(const JointStream& stream, bool early) {
  std::vector<JointPartSizes> sizes;
  for (const auto& part : stream.parts) {
    if (!part.collective) continue;
    sizes.push_back({part.schedule.sends(), part.schedule.may_carry_messages(), early, 0, other_words(part)});
    for (std::size_t group = 0; group < part.collective->groups().size(); ++group)
      sizes.back().table_words += JointSlots::table_words(*part.collective, GroupId::at(group));
  }
  return sizes;
}

constexpr std::size_t message_bytes(bool early) {
  return sizeof(PlayingPart::Message) + (early ? sizeof(PlayingPart::HopIn) : 0);
}

/// The schedules that are made, and the largest of what is there only while one of them is.
std::size_t stream_bytes(std::size_t links, std::span<const JointPartSizes> parts) {
  std::size_t playing = 0;
  std::size_t made = 0;
  for (const auto& part : parts) {
    made += part.sends * (kPlayedBytes + (part.messages ? kPlayedBytesOfHop : 0)) + links * kPlayedBytesOfLink +
            part.sends / 512 + kBytesOfPart;
    playing = std::max(playing, part.sends * (part.messages ? message_bytes(part.early) : 0) +
                                    part.table_words * sizeof(std::uint32_t) + part.other_words * WordMap::kBytes);
  }
  return playing + made;
}

/// Whether a stream's collectives are of the topology's NPUs, and no time is below zero.
bool are_of(const JointStream& stream, const Topology& topology) {
  return stream.begin >= SimTime::zero() && std::ranges::all_of(stream.parts, [&](const JointPart& part) {
           return part.collective ? part.collective->npus() == topology.npus() : part.pause >= SimTime::zero();
         });
}

/// Whether each communication begins when the one before it has ended, the first one with its stream.
bool follow_each_other(const JointStream& stream, const std::vector<PlayedPart>& played, SimTime end) {
  SimTime now = stream.begin;
  for (const PlayedPart& part : played) {
    if (part.begin < now || part.end < part.begin) return false;
    now = part.end;
  }
  return played.size() == stream.parts.size() && end == now;
}

}  // namespace

std::size_t joint_replay_bytes(std::size_t links, std::span<const JointPartSizes> first,
                               std::span<const JointPartSizes> second) {
  const auto read = std::min(std::max(most_sends(first), most_sends(second)), kSendsOfSegment) * kBytesRead;
  return read + stream_bytes(links, first) + stream_bytes(links, second) + links * kBytesOfLink;
}

std::size_t joint_replay_bytes(const Topology& topology, const JointStream& first, const JointStream& second) {
  const bool early = any_passes_on_early(topology);
  return joint_replay_bytes(topology.links(), sizes_of(first, early), sizes_of(second, early));
}

Result<JointReplay> replay_jointly(const Topology& topology, Occupancy occupancy, const JointStream& first,
                                   const JointStream& second, std::size_t memory_limit_bytes) {
  TENEX_EXPECTS(are_of(first, topology) && are_of(second, topology),
                "collectives of the topology's NPUs and no time below zero");
  if (topology.wires() != nullptr)
    return unsupported_error({}, "communications side by side over switches that cut through are not replayed",
                             "their paths share links", "let the switches store and forward");
  if (auto unlimited = check_buffers(topology); !unlimited) return unlimited.errors();
  const auto needed = joint_replay_bytes(topology, first, second);
  if (needed > memory_limit_bytes)
    return resource_error(fmt::format("communications side by side need {} bytes", needed),
                          fmt::format("{} bytes are left under the limit", memory_limit_bytes),
                          "raise the limit, run it on a larger host, or use contention = \"none\"");
  auto replayed = JointReplayer(topology, occupancy, {&first, &second}).run();
  TENEX_ENSURES(!replayed || (follow_each_other(first, replayed->first, replayed->ends[0]) &&
                              follow_each_other(second, replayed->second, replayed->ends[1])),
                "communications that begin when the one before has ended");
  return replayed;
}

}  // namespace tenex
