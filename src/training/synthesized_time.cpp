// Collectives of training by synthesis and simulation, alone and concurrently.
#include "training/synthesized_time.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/stopwatch.hpp"
#include "tenex/execution/algorithm_table.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "training/message_path.hpp"

namespace tenex {
namespace {

bool is_spanned(const Communication& communication, const Mapping& mapping) {
  return !mapping.span(communication.scope).shares.empty();
}

}  // namespace

bool is_collective(const Communication& communication, const Mapping& mapping) {
  return is_spanned(communication, mapping) && collective_of(communication.kind).has_value();
}

namespace {

/// The dimensions that the collectives of a stream span.
Dimensions dimensions_of(std::span<const Communication> stream, const Mapping& mapping) {
  Dimensions all;
  for (const auto& communication : stream)
    if (is_collective(communication, mapping)) all = united(all, dimensions_of(mapping.span(communication.scope)));
  return all;
}

/// Verifies each stream against its collectives, then that no link carries two sends at once. Returns the seconds.
double judge(JointTimes& times, const Topology& topology, Occupancy occupancy,
             const std::array<JointStream, 2>& streams, const JointReplay& replay, const ExecutionOptions& options) {
  const Stopwatch watch;
  std::vector<JointPart> parts;
  std::vector<PlayedPart> played;
  for (const auto stream : {0U, 1U}) {
    const auto& results = stream == 0 ? replay.first : replay.second;
    parts.insert(parts.end(), streams[stream].parts.begin(), streams[stream].parts.end());
    played.insert(played.end(), results.begin(), results.end());
  }
  times.verified = true;
  VerifyOptions checking;
  checking.memory_limit_bytes = options.memory_limit_bytes;
  checking.threads = options.threads;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    if (!parts[part].collective) continue;
    VerifiedCollective verdict;
    verdict.take(check_stream({topology, *parts[part].collective, occupancy}, played[part].schedule,
                              played[part].end - played[part].begin, "the joint replay", checking));
    times.verified = times.verified && verdict.verified;
    if (times.left_out.empty()) times.left_out = verdict.left_out;
  }
  if (const auto link = find_shared_link(topology, occupancy, parts, played))
    throw InvariantError(fmt::format("link {} carries sends of two communications at once", link->value()));
  return watch.seconds();
}

/// The links that a schedule uses.
std::vector<bool> links_of(const Schedule& schedule, std::size_t links) {
  std::vector<bool> used(links);
  SendBuffer buffer;
  for (std::size_t segment = 0; segment < schedule.segments(); ++segment) {
    schedule.read(segment, buffer);
    for (const auto link : buffer.batch.link) used[link.index()] = true;
  }
  return used;
}

std::size_t held_bytes(const Result<VerifiedCollective>& made) {
  std::size_t bytes = sizeof(VerifiedCollective) + 256;
  if (!made || !made->collective) return bytes;
  if (made->schedule.sends() > 0) bytes += made->schedule.memory_bytes();
  return bytes + made->collective->npus() * 16;
}

}  // namespace

DesignPoint synthesized_point(const TrainingNetwork& network, const Dimensions& dimensions,
                              const Communication& communication) {
  auto point = group_point(network, dimension_network(network, dimensions), communication);
  const std::string_view asked = network.point.algorithm;
  const auto& traits = traits_of(asked.empty() ? kDefaultSynthesizer : asked);
  name_algorithm(point, traits);
  if (traits.family == AlgorithmFamily::synthesizer && !traits.makes(point.collective().kind))
    name_algorithm(point, traits_of(kAlgorithmForTheRest));
  return point;
}

void fit_chunks(DesignPoint& point, std::int64_t members) {
  point.collective().size = std::max(point.collective().size, bytes(members));
  point.chunks = std::min(point.chunks, point.collective().size.count() / members);
}

SynthesizedTime::SynthesizedTime(const TrainingNetwork& network, bool contention)
    : network_(network), contention_(contention), cache_(network.cache) {}

DesignPoint SynthesizedTime::point_on(const Dimensions& dimensions, const Communication* communication) const {
  static constexpr Communication any{TrafficKind::all_reduce, Bytes::zero(), Scope::world};
  return synthesized_point(network_, dimensions, communication != nullptr ? *communication : any);
}

SynthesizedTime::Topologies SynthesizedTime::topology_on(const Dimensions& dimensions) const {
  const auto point = point_on(dimensions, nullptr);
  return find_topology_within(point, network_.options.memory_limit_bytes, cache_.execution);
}

std::string SynthesizedTime::key_of(const Communication& communication, const Mapping& mapping) const {
  const auto& span = mapping.span(communication.scope);
  const auto point = point_on(dimensions_of(span), nullptr);
  auto key = cache_key(point, kOfSynthesized) + fmt::format(" {} S{} m{} k{} g", to_string(communication.kind),
                                                            communication.size.count(),
                                                            network_.options.memory_limit_bytes, contention_);
  for (const auto& share : span.shares) key += fmt::format("{}:{},", share.members, share.stride);
  return key;
}

Result<VerifiedCollective> SynthesizedTime::run(const Communication& communication, const Mapping& mapping) const {
  const auto dimensions = dimensions_of(mapping.span(communication.scope));
  const auto built = topology_on(dimensions);
  if (!*built) return built->errors();
  const auto groups = groups_within(mapping, communication.scope, dimensions);
  auto point = point_on(dimensions, &communication);
  fit_chunks(point, mapping.span(communication.scope).members());
  // Trees span all NPUs of a network; pccl knows groups, and switches that add.
  if (reduces_in_network(point)) name_algorithm(point, traits_of(groups.size() == 1 ? kInNetwork : kInNetworkOfGroups));
  auto made = time_collective(point, {built, &**built}, groups, network_.options, contention_, cache_.execution);
  if (!made) return made;
  effort_.synthesis_seconds += made->synthesis_seconds;
  effort_.simulation_seconds += made->simulation_seconds;
  effort_.verification_seconds += made->verification_seconds;
  return made;
}

SynthesizedTime::Timed SynthesizedTime::timed(const Communication& communication, const Mapping& mapping) const {
  const auto key = key_of(communication, mapping);
  if (const auto found = held_.find(key); found != held_.end()) return found->second;
  auto found = cache_.collectives.get(
      key, [&] { return run(communication, mapping); }, held_bytes);
  const auto bytes = held_bytes(*found);
  if (held_bytes_ + bytes <= network_.options.memory_limit_bytes / 4) {
    held_bytes_ += bytes;
    held_.emplace(key, found);
  }
  return found;
}

void SynthesizedTime::count(const std::string& key, bool verified, const std::string& left_out,
                            std::int64_t planned_bytes) const {
  if (!seen_.insert(key).second) return;
  ++effort_.collectives;
  effort_.verified += verified ? 1 : 0;
  effort_.memory_planned_bytes = std::max(effort_.memory_planned_bytes, planned_bytes);
  if (left_out.empty() || effort_.left_out.find(left_out) != std::string::npos) return;
  effort_.left_out += (effort_.left_out.empty() ? "" : "; ") + left_out;
}

Result<SimTime> SynthesizedTime::time(const Communication& communication, const Mapping& mapping) const {
  if (collective_of(communication.kind)) {
    const auto made = timed(communication, mapping);
    if (!*made) return made->errors();
    const auto& done = **made;
    count(key_of(communication, mapping), done.verified, done.left_out, done.memory_planned_bytes);
    return done.time;
  }
  const auto& span = mapping.span(communication.scope);
  const auto built = topology_on(dimensions_of(span));
  if (!*built) return built->errors();
  return message_time((*built)->topology, span, communication.size);
}

Result<ConcurrentEnds> SynthesizedTime::concurrent(std::span<const Communication> first,
                                                   std::span<const Communication> second, SimTime offset,
                                                   const Mapping& mapping) const {
  const auto of_first = dimensions_of(first, mapping);
  const auto of_second = dimensions_of(second, mapping);
  if (!contention_ || are_disjoint(of_first, of_second))
    return CollectiveTime::concurrent(first, second, offset, mapping);
  const auto both = united(of_first, of_second);
  auto key = cache_key(point_on(both, nullptr), kOfNetwork) + fmt::format(" offset {}", offset.count());
  for (const auto stream : {first, second}) {
    key += " stream";
    for (const auto& communication : stream)
      if (is_spanned(communication, mapping))
        key += fmt::format(" [{} in {}]", key_of(communication, mapping),
                           fmt::join(dimensions_of(mapping.span(communication.scope)), ","));
  }
  key += fmt::format(" of {}", fmt::join(both, ","));
  const auto found = cache_.joint_times.get(
      key, [&] { return replay(first, second, both, offset, mapping); },
      [](const Result<JointTimes>&) { return sizeof(JointTimes) + 256; });
  if (!*found) return found->errors();
  const auto& joint = **found;
  count(key, joint.verified, joint.left_out, joint.memory_planned_bytes);
  return joint.ends;
}

Result<JointPart> SynthesizedTime::part_of(const Communication& communication, const Dimensions& united,
                                           const Mapping& mapping, std::size_t& left_bytes) const {
  if (!collective_of(communication.kind)) {
    const auto pause = time(communication, mapping);
    if (!pause) return pause.errors();
    return JointPart{nullptr, {}, *pause};
  }
  const auto made = timed(communication, mapping);
  if (!*made) return made->errors();
  const auto& alone = **made;
  if (alone.schedule.sends() == 0)
    return resource_error("communications side by side cannot be replayed", alone.left_out,
                          "raise the limit, or use contention = \"none\"");
  const auto inner = dimensions_of(mapping.span(communication.scope));
  if (inner == united) return JointPart{alone.collective, alone.schedule, {}};
  const auto inner_topology = topology_on(inner);
  const auto outer_topology = topology_on(united);
  if (!*outer_topology) return outer_topology->errors();
  const Copies copies(mapping.shape(), inner, (*inner_topology)->topology, united, (*outer_topology)->topology);
  const auto needed = spread_bytes(alone.schedule, copies.count());
  if (needed > left_bytes)
    return resource_error(fmt::format("the sends of all groups side by side need {} bytes", needed),
                          fmt::format("{} bytes are left under the limit", left_bytes),
                          "raise the limit, run it on a larger host, or use contention = \"none\"");
  auto all = Collective::make({alone.collective->kind(), (*outer_topology)->topology.npus(),
                               groups_within(mapping, communication.scope, united), alone.collective->chunks_per_npu(),
                               alone.collective->size(), 0});
  if (!all) return all.errors();
  JointPart part{std::make_shared<const Collective>(*std::move(all)), {}, {}};
  part.schedule = spread(alone.schedule, *alone.collective, *part.collective, copies);
  left_bytes -= std::min(left_bytes, part.schedule.memory_bytes());
  return part;
}

Result<JointStream> SynthesizedTime::stream_of(std::span<const Communication> communications, const Dimensions& united,
                                               SimTime begin, const Mapping& mapping) const {
  JointStream stream{begin, {}};
  auto left = network_.options.memory_limit_bytes / 4;  // for each stream; the replay gets half
  std::map<std::string, JointPart> known;               // equal communications share their sends
  for (const auto& communication : communications) {
    if (!is_spanned(communication, mapping)) continue;
    const auto key = key_of(communication, mapping);
    if (const auto found = known.find(key); found != known.end()) {
      stream.parts.push_back(found->second);
      continue;
    }
    auto part = part_of(communication, united, mapping, left);
    if (!part) return part.errors();
    known.emplace(key, *part);
    stream.parts.push_back(*std::move(part));
  }
  return stream;
}

Result<std::optional<std::vector<bool>>> SynthesizedTime::links_used(std::span<const Communication> communications,
                                                                     const Dimensions& united,
                                                                     const Mapping& mapping) const {
  const auto outer = topology_on(united);
  if (!*outer) return outer->errors();
  std::vector<bool> used((*outer)->topology.links());
  for (const auto& communication : communications) {
    if (!is_collective(communication, mapping)) continue;
    const auto made = timed(communication, mapping);
    if (!*made) return made->errors();
    if ((*made)->schedule.sends() == 0) return std::optional<std::vector<bool>>();
    const auto dimensions = dimensions_of(mapping.span(communication.scope));
    const auto inner = topology_on(dimensions);
    const auto inside = links_of((*made)->schedule, (*inner)->topology.links());
    const Copies copies(mapping.shape(), dimensions, (*inner)->topology, united, (*outer)->topology);
    for (std::size_t copy = 0; copy < copies.count(); ++copy)
      for (std::size_t link = 0; link < inside.size(); ++link)
        if (inside[link]) used[copies.link(copy, LinkId::at(link)).index()] = true;
  }
  return std::optional(std::move(used));
}

Result<JointTimes> SynthesizedTime::add_up(std::span<const Communication> first, std::span<const Communication> second,
                                           SimTime offset, const Mapping& mapping) const {
  JointTimes times{{SimTime::zero(), offset}, true, {}, 0};
  for (const auto& [stream, end] : {std::pair(first, &times.ends.first), std::pair(second, &times.ends.second)})
    for (const auto& communication : stream) {
      if (!is_spanned(communication, mapping)) continue;
      if (!is_collective(communication, mapping)) {
        const auto message = time(communication, mapping);
        if (!message) return message.errors();
        *end = saturating_sum(*end, *message);
        continue;
      }
      const auto made = timed(communication, mapping);
      if (!*made) return made->errors();
      *end = saturating_sum(*end, (*made)->time);
      times.verified = times.verified && (*made)->verified;
      times.memory_planned_bytes = std::max(times.memory_planned_bytes, (*made)->memory_planned_bytes);
      if (times.left_out.empty()) times.left_out = (*made)->left_out;
    }
  return times;
}

Result<JointTimes> SynthesizedTime::replay(std::span<const Communication> first, std::span<const Communication> second,
                                           const Dimensions& united, SimTime offset, const Mapping& mapping) const {
  const auto of_first = links_used(first, united, mapping);
  if (!of_first) return of_first.errors();
  const auto of_second = links_used(second, united, mapping);
  if (!of_second) return of_second.errors();
  if (*of_first && *of_second) {
    bool shared = false;
    for (std::size_t link = 0; link < (*of_first)->size(); ++link)
      shared = shared || ((**of_first)[link] && (**of_second)[link]);
    if (!shared) return add_up(first, second, offset, mapping);
  }
  return play(first, second, united, offset, mapping);
}

Result<JointTimes> SynthesizedTime::play(std::span<const Communication> first, std::span<const Communication> second,
                                         const Dimensions& united, SimTime offset, const Mapping& mapping) const {
  const auto built = topology_on(united);
  if (!*built) return built->errors();
  const auto& topology = (*built)->topology;
  const auto a = stream_of(first, united, SimTime::zero(), mapping);
  if (!a) return a.errors();
  const auto b = stream_of(second, united, offset, mapping);
  if (!b) return b.errors();
  const auto limit = network_.options.memory_limit_bytes / 2;
  const auto occupancy = network_.point.occupancy;
  const Stopwatch watch;
  auto played = replay_jointly(topology, occupancy, *a, *b, limit);
  if (!played) return played.errors();
  JointTimes times;
  times.ends = {played->ends[0], played->ends[1]};
  effort_.simulation_seconds += watch.seconds();
  times.memory_planned_bytes = static_cast<std::int64_t>(joint_replay_bytes(topology, *a, *b));
  effort_.verification_seconds += judge(times, topology, occupancy, {*a, *b}, *played, network_.options);
  return times;
}

Result<std::unique_ptr<MeasuredCollectiveTime>> make_synthesized_time(const TrainingNetwork& network, bool contention) {
  const auto& shape = network.point.topology.shape;
  const auto alphas = network.point.topology.links.alpha.size();
  if (network.point.chunks < 1)
    return input_error({"chunks", 0, 0}, "chunks is less than 1", "a collective moves at least one chunk");
  if (alphas != 1 && alphas != shape.dimensions())
    return input_error({"alpha", 0, 0}, "synthesized collectives without alpha",
                       "their messages take the latency of their links", "write for instance alpha = \"0.5us\"");
  return std::unique_ptr<MeasuredCollectiveTime>(std::make_unique<SynthesizedTime>(network, contention));
}

}  // namespace tenex
