// Streams for tests of the joint replay, and a reference replay that looks at every link at every instant that matters.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "evaluate/points.hpp"
#include "tenex/simulation/joint_replay.hpp"

namespace tenex::support {

/// A point's verified schedule as a part of a stream, and its topology.
struct PartOfPoint {
  Topology topology;
  JointPart part;
  SimTime alone;
  bool in_trees = true;
};

/// nullopt if the point is invalid (an algorithm that does not support the collective).
inline std::optional<PartOfPoint> part_of(const Words& words) {
  Cache cache;
  EvaluateOptions options;
  options.keep_schedule = true;
  auto all = words;
  for (const Words::value_type& word : Words{{"alpha", "0ns"}, {"bandwidth", "1GB/s"}, {"collective", "all_gather"}})
    if (std::none_of(words.begin(), words.end(), [&](const auto& given) { return given.first == word.first; }))
      all.push_back(word);
  const auto asked = make_point(all, vocabulary());
  if (!asked) return std::nullopt;
  auto made = evaluate(*asked, cache, options);
  if (made.row.status != PointStatus::ok || !made.topology) return std::nullopt;
  return PartOfPoint{*made.topology,
                     {std::make_shared<const Collective>(*made.collective), made.schedule, SimTime::zero()},
                     picoseconds(made.row.collective_time_ps),
                     made.row.reduction_check != "exact_sets"};
}

/// The reference replay, slow and simple: all sends in lists, all holdings in maps of times.
class ObviousReplay {
 public:
  ObviousReplay(const Topology& topology, Occupancy occupancy, const std::array<JointStream, 2>& streams)
      : topology_(topology), occupancy_(occupancy), streams_(streams), free_(topology.links()) {}

  /// The begin and the end of every part, by stream.
  std::array<std::vector<std::pair<SimTime, SimTime>>, 2> run() {
    for (const auto stream : {0U, 1U}) instants_.insert(streams_[stream].begin);
    while (!instants_.empty()) {
      const auto now = *instants_.begin();
      instants_.erase(instants_.begin());
      for (const auto stream : {0U, 1U}) follow(stream, now);
      // A switch with virtual cut-through may pass a message on at the instant at which it sets out there: all links
      // look before any serves, and again until none has something to send.
      for (bool served = true; served;) {
        served = false;
        std::vector<std::pair<LinkId, Choice>> choices;
        for (std::size_t link = 0; link < topology_.links(); ++link)
          if (const auto choice = choose(LinkId::at(link), now)) choices.emplace_back(LinkId::at(link), *choice);
        for (const auto& [link, choice] : choices) serve(link, choice, now);
        served = !choices.empty();
      }
    }
    return times_;
  }
  /// Actual starts of the sends of every part, in the order of list_sends(), counted from the part's begin.
  std::array<std::vector<std::vector<SimTime>>, 2> starts;

 private:
  struct Part {
    SimTime begin;
    std::vector<Send> sends;
    std::vector<std::optional<SimTime>> start;
    std::vector<SimTime> arrival;
    std::vector<bool> landed;
    std::map<LinkId, SimTime> own_until;
  };

  const JointPart& part(std::size_t stream) const { return streams_[stream].parts[times_[stream].size()]; }

  static std::vector<ChunkId> chunks_of(const JointPart& part, ChunkId chunk) {
    if (chunk.index() < part.collective->chunks()) return {chunk};
    const auto all = part.schedule.payloads()->of(chunk.index() - part.collective->chunks());
    return {all.begin(), all.end()};
  }

  HopTime hop(const JointPart& part, const Send& send) const {
    Bytes size;
    for (const auto chunk : chunks_of(part, send.chunk)) size += part.collective->chunk_bytes(chunk);
    return hop_time(topology_.classes()[topology_.class_of(send.link)], size, occupancy_);
  }

  /// Ends a part whose sends have all arrived, and begins the next one.
  void follow(std::size_t stream, SimTime now) {
    if (now < streams_[stream].begin) return;
    auto& playing = playing_[stream];
    if (playing && !playing->sends.empty()) {
      for (std::size_t i = 0; i < playing->sends.size(); ++i)
        if (!playing->start[i] || playing->arrival[i] > now) return;
      finish(stream);
    } else if (playing) {
      if (now < playing->begin + part(stream).pause) return;
      times_[stream].emplace_back(playing->begin, now);
      starts[stream].emplace_back();
      playing.reset();
    }
    if (times_[stream].size() == streams_[stream].parts.size()) return;
    playing.emplace();
    playing->begin = now;
    if (!part(stream).collective) {
      instants_.insert(now + part(stream).pause);
      return;
    }
    playing->sends = list_sends(part(stream).schedule);
    playing->start.resize(playing->sends.size());
    playing->arrival.assign(playing->sends.size(), SimTime::max());
    for (const auto& send : playing->sends) instants_.insert(now + send.start);
  }

  void finish(std::size_t stream) {
    auto& playing = *playing_[stream];
    SimTime end = playing.begin;
    const auto& collective = *part(stream).collective;
    for (std::uint32_t chunk = 0; chunk < collective.chunks(); ++chunk)
      for (std::uint32_t npu = 0; npu < topology_.npus(); ++npu) {
        const NpuId at(npu);
        if (!collective.must_hold(at, ChunkId(chunk)) || collective.holds_at_start(at, ChunkId(chunk))) continue;
        end = std::max(end, *held_since(stream, at, ChunkId(chunk)));
      }
    times_[stream].emplace_back(playing.begin, end);
    auto& list = starts[stream].emplace_back();
    for (const auto& start : playing.start) list.push_back(*start - playing.begin);
    playing_[stream].reset();
  }

  bool unpacks(const Send& send, NpuId npu) const {
    return topology_.target(send.link) == vertex_of(npu) && (!send.message.exists() || send.destination == npu);
  }
  bool carries(std::size_t stream, const Send& send, ChunkId chunk) const {
    const auto chunks = chunks_of(part(stream), send.chunk);
    return std::find(chunks.begin(), chunks.end(), chunk) != chunks.end();
  }

  /// The time at which the last partial sum of a chunk reached an NPU; nullopt while one is missing.
  std::optional<SimTime> summed_since(std::size_t stream, NpuId npu, ChunkId chunk) const {
    const auto& playing = *playing_[stream];
    SimTime last;
    for (std::size_t i = 0; i < playing.sends.size(); ++i) {
      const auto& send = playing.sends[i];
      if (send.stage != Stage::reduce || !unpacks(send, npu) || !carries(stream, send, chunk)) continue;
      if (playing.arrival[i] == SimTime::max()) return std::nullopt;
      last = std::max(last, playing.arrival[i]);
    }
    return last;
  }

  std::optional<SimTime> held_since(std::size_t stream, NpuId npu, ChunkId chunk) const {
    const auto& playing = *playing_[stream];
    if (part(stream).collective->holds_at_start(npu, chunk)) return SimTime::zero();
    std::optional<SimTime> first;
    bool sums_here = false;
    bool sends_sum = false;
    for (std::size_t i = 0; i < playing.sends.size(); ++i) {
      const auto& send = playing.sends[i];
      if (!carries(stream, send, chunk)) continue;
      if (send.stage == Stage::reduce) {
        sums_here = sums_here || unpacks(send, npu);
        sends_sum = sends_sum || (topology_.source(send.link) == vertex_of(npu) && !previous_hop(stream, i));
      } else if (unpacks(send, npu) && playing.arrival[i] < SimTime::max()) {
        first = std::min(first.value_or(SimTime::max()), playing.arrival[i]);
      }
    }
    if (sums_here && !sends_sum && !first) return summed_since(stream, npu, chunk);
    return first;
  }

  std::optional<std::size_t> previous_hop(std::size_t stream, std::size_t index) const {
    const auto& sends = playing_[stream]->sends;
    if (!sends[index].message.exists()) return std::nullopt;
    for (std::size_t i = 0; i < sends.size(); ++i)
      if (sends[i].message == sends[index].message &&
          topology_.target(sends[i].link) == topology_.source(sends[index].link))
        return i;
    return std::nullopt;
  }

  /// How long before its arrival a hop's message may take the next hop: at a switch with virtual cut-through, until its
  /// first and its last byte would leave before they come.
  SimTime lead(std::size_t stream, std::size_t in, std::size_t out) const {
    const auto at = topology_.target(playing_[stream]->sends[in].link);
    if (topology_.is_npu(at) || topology_.switch_properties(at).forwarding != Forwarding::virtual_cut_through)
      return SimTime::zero();
    const auto serialization = [&](std::size_t index) {
      const auto& send = playing_[stream]->sends[index];
      return hop(part(stream), send).latency - topology_.alpha(send.link);
    };
    return std::min(serialization(in), serialization(out));
  }

  /// The time from which the chunks of a send are at its source.
  std::optional<SimTime> there_since(std::size_t stream, std::size_t index) const {
    const auto& playing = *playing_[stream];
    const auto& send = playing.sends[index];
    if (const auto hop = previous_hop(stream, index)) {
      if (playing.arrival[*hop] == SimTime::max()) return std::nullopt;
      return playing.arrival[*hop] - lead(stream, *hop, index);
    }
    SimTime last;
    const auto source = npu_of(topology_.source(send.link));
    for (const auto chunk : chunks_of(part(stream), send.chunk)) {
      const auto since =
          send.stage == Stage::reduce ? summed_since(stream, source, chunk) : held_since(stream, source, chunk);
      if (!since) return std::nullopt;
      last = std::max(last, *since);
    }
    return last;
  }

  /// The stream's next send on a link, and the time from which it could start.
  std::optional<std::pair<std::size_t, SimTime>> next_on(std::size_t stream, LinkId link) {
    if (!playing_[stream]) return std::nullopt;
    auto& playing = *playing_[stream];
    for (std::size_t i = 0; i < playing.sends.size(); ++i) {
      if (playing.sends[i].link != link || playing.start[i]) continue;
      const auto there = there_since(stream, i);
      if (!there) return std::nullopt;
      return std::pair(i, std::max({*there, playing.begin + playing.sends[i].start, playing.own_until[link]}));
    }
    return std::nullopt;
  }

  /// The stream and the send, by its index, that a free link takes.
  struct Choice {
    std::size_t stream = 0;
    std::size_t send = 0;
  };

  std::optional<Choice> choose(LinkId link, SimTime now) {
    if (free_[link.index()] > now) return std::nullopt;
    std::optional<std::size_t> chosen;
    std::pair<std::size_t, SimTime> best{0, SimTime::max()};
    for (const auto stream : {0U, 1U}) {
      const auto next = next_on(stream, link);
      // Chunks that arrive after `now` are not there yet.
      if (!next || next->second > now || next->second >= best.second) continue;
      chosen = stream;
      best = *next;
    }
    if (!chosen) return std::nullopt;
    return Choice{*chosen, best.first};
  }

  void serve(LinkId link, const Choice& choice, SimTime now) {
    auto& playing = *playing_[choice.stream];
    const auto taken = hop(part(choice.stream), playing.sends[choice.send]);
    playing.start[choice.send] = now;
    playing.arrival[choice.send] = now + taken.latency;
    playing.own_until[link] = now + taken.busy;
    free_[link.index()] = now + taken.busy;
    instants_.insert(now + taken.busy);
    instants_.insert(now + taken.latency);
    for (std::size_t i = 0; i < playing.sends.size(); ++i)
      if (previous_hop(choice.stream, i) == choice.send)
        instants_.insert(std::max(now, playing.arrival[choice.send] - lead(choice.stream, choice.send, i)));
  }

  const Topology& topology_;
  Occupancy occupancy_;
  std::array<JointStream, 2> streams_;
  std::vector<SimTime> free_;
  std::set<SimTime> instants_;
  std::array<std::optional<Part>, 2> playing_;
  std::array<std::vector<std::pair<SimTime, SimTime>>, 2> times_;
};

}  // namespace tenex::support
