// Internal to training: the model `synthesized`, collectives of training on the real topology.
//
// Every communication runs the point's algorithm or synthesizer for all groups of its scope at once, on the dimensions
// that they span. The copies of these dimensions are equal and share no link (dimension_network.hpp), so one copy is
// run. This holds for networks of any size: messages never leave the dimensions of their groups.
//
// With contention, concurrent communications are replayed jointly (joint_replay.hpp) on the product of all the
// dimensions that the two streams span, with each stream's schedules spread over its copies. Streams may share no link,
// because they have no common dimension or only separate links in it (groups within a fully connected dimension). A
// joint replay would then play both as planned, so each ends after the sum of its times. Messages between pipeline
// stages take time but occupy no link.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/execution/execution_cache.hpp"
#include "tenex/execution/verified_collective.hpp"
#include "tenex/simulation/joint_replay.hpp"
#include "training/collective_models.hpp"
#include "training/dimension_network.hpp"

namespace tenex {

/// The algorithm of collectives that a point's synthesizer does not support, such as an All-to-All with `tacos`.
inline constexpr std::string_view kAlgorithmForTheRest = "direct";

/// What a synthesized collective of training depends on beside its communication.
inline constexpr Changes kOfSynthesized =
    kOfNetwork | Changes::chunks | Changes::synthesis | Changes::simulation | Changes::draws;

/// Whether a communication is a collective over more than one NPU.
[[nodiscard]] bool is_collective(const Communication& communication, const Mapping& mapping);

/// The point of a communication on the product of some dimensions: the training point's algorithm (tacos if it names
/// none) with its settings. `communication` must be a collective.
[[nodiscard]] DesignPoint synthesized_point(const TrainingNetwork& network, const Dimensions& dimensions,
                                            const Communication& communication);
/// Gives every chunk at least one byte per NPU: small messages are sent in fewer chunks, and messages of less than a
/// byte per NPU are padded.
void fit_chunks(DesignPoint& point, std::int64_t members);

/// The result of two concurrent streams.
struct JointTimes {
  ConcurrentEnds ends;
  bool verified = false;
  std::string left_out;
  std::int64_t memory_planned_bytes = 0;
};

class SynthesizedTime final : public MeasuredCollectiveTime {
 public:
  SynthesizedTime(const TrainingNetwork& network, bool contention);

  [[nodiscard]] std::string_view name() const override { return "synthesized"; }
  [[nodiscard]] Result<SimTime> time(const Communication& communication, const Mapping& mapping) const override;
  [[nodiscard]] bool contends() const override { return contention_; }
  [[nodiscard]] Result<ConcurrentEnds> concurrent(std::span<const Communication> first,
                                                  std::span<const Communication> second, SimTime offset,
                                                  const Mapping& mapping) const override;
  [[nodiscard]] const CollectiveEffort& effort() const override { return effort_; }

 private:
  using Topologies = std::shared_ptr<const Result<PointTopology>>;
  using Timed = std::shared_ptr<const Result<VerifiedCollective>>;

  [[nodiscard]] DesignPoint point_on(const Dimensions& dimensions, const Communication* communication) const;
  [[nodiscard]] Topologies topology_on(const Dimensions& dimensions) const;
  [[nodiscard]] std::string key_of(const Communication& communication, const Mapping& mapping) const;
  /// Finds the collective in held_ or in the cache, or runs it.
  [[nodiscard]] Timed timed(const Communication& communication, const Mapping& mapping) const;
  /// Runs the collective and adds its seconds to effort_.
  [[nodiscard]] Result<VerifiedCollective> run(const Communication& communication, const Mapping& mapping) const;
  [[nodiscard]] Result<JointStream> stream_of(std::span<const Communication> communications, const Dimensions& united,
                                              SimTime begin, const Mapping& mapping) const;
  [[nodiscard]] Result<JointPart> part_of(const Communication& communication, const Dimensions& united,
                                          const Mapping& mapping, std::size_t& left_bytes) const;
  /// The links of the product of `united` that a stream's collectives use; nullopt if a schedule was not kept.
  [[nodiscard]] Result<std::optional<std::vector<bool>>> links_used(std::span<const Communication> communications,
                                                                    const Dimensions& united,
                                                                    const Mapping& mapping) const;
  /// The ends of streams that share no link, each timed alone.
  [[nodiscard]] Result<JointTimes> add_up(std::span<const Communication> first, std::span<const Communication> second,
                                          SimTime offset, const Mapping& mapping) const;
  [[nodiscard]] Result<JointTimes> play(std::span<const Communication> first, std::span<const Communication> second,
                                        const Dimensions& united, SimTime offset, const Mapping& mapping) const;
  [[nodiscard]] Result<JointTimes> replay(std::span<const Communication> first, std::span<const Communication> second,
                                          const Dimensions& united, SimTime offset, const Mapping& mapping) const;
  /// Adds a timed collective or pair of streams to effort_ once, also if it came from the cache.
  void count(const std::string& key, bool verified, const std::string& left_out, std::int64_t planned_bytes) const;

  TrainingNetwork network_;
  bool contention_;
  TrainingCache& cache_;
  mutable CollectiveEffort effort_;
  mutable std::set<std::string> seen_;
  mutable std::map<std::string, Timed> held_;  ///< collectives of this point, which may be too large for the cache
  mutable std::size_t held_bytes_ = 0;
};

}  // namespace tenex
