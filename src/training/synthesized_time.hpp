// Internal to evaluate: `synthesized`, collectives of training on the real topology.
//
// Every communication runs the point's algorithm or synthesizer for all groups of its scope at once, on the dimensions
// that they span: the copies of these dimensions are equal and share no link (dimension_network.hpp), so one copy is
// run, whatever the size of the network. That is a choice for every network, not a fallback for large ones: messages do
// not leave the dimensions of their groups.
//
// With contention, communications side by side are replayed jointly (joint_replay.hpp) on the product of all the
// dimensions that the two streams span, each stream's schedules spread over its copies. Where the streams share no
// link, because they have no dimension in common or only links of their own in it (groups within a fully connected
// dimension), a joint replay would play both as planned: their ends are the sums of their times. Messages between
// pipeline stages take their time and no link.
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

/// For the collectives that a point's synthesizer is not defined for: an All-to-All beside `tacos`.
inline constexpr std::string_view kAlgorithmForTheRest = "direct";

/// The point of a communication on the product of some dimensions: the training point's algorithm (tacos where it names
/// none) with its settings. `communication` must be a collective.
[[nodiscard]] DesignPoint synthesized_point(const TrainingNetwork& network, const Dimensions& dimensions,
                                            const Communication& communication);
/// A chunk has at least one byte per NPU: small messages are sent in fewer chunks, those of less than a byte per NPU
/// padded to that.
void fit_chunks(DesignPoint& point, std::int64_t members);

/// Two streams that were replayed jointly.
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
  /// Finds it, here or in the cache, or runs it.
  [[nodiscard]] Timed timed(const Communication& communication, const Mapping& mapping) const;
  /// Runs it; adds the seconds that were spent.
  [[nodiscard]] Result<VerifiedCollective> run(const Communication& communication, const Mapping& mapping) const;
  [[nodiscard]] Result<JointStream> stream_of(std::span<const Communication> communications, const Dimensions& united,
                                              SimTime begin, const Mapping& mapping) const;
  [[nodiscard]] Result<JointPart> part_of(const Communication& communication, const Dimensions& united,
                                          const Mapping& mapping, std::size_t& left_bytes) const;
  /// The links of the product of `united` that a stream's collectives use; nullopt where a schedule was not kept.
  [[nodiscard]] Result<std::optional<std::vector<bool>>> links_used(std::span<const Communication> communications,
                                                                    const Dimensions& united,
                                                                    const Mapping& mapping) const;
  /// The ends of streams that share no link: those of each alone.
  [[nodiscard]] Result<JointTimes> add_up(std::span<const Communication> first, std::span<const Communication> second,
                                          SimTime offset, const Mapping& mapping) const;
  [[nodiscard]] Result<JointTimes> play(std::span<const Communication> first, std::span<const Communication> second,
                                        const Dimensions& united, SimTime offset, const Mapping& mapping) const;
  [[nodiscard]] Result<JointTimes> replay(std::span<const Communication> first, std::span<const Communication> second,
                                          const Dimensions& united, SimTime offset, const Mapping& mapping) const;
  /// Counts what was timed, once, whoever timed it first.
  void count(const std::string& key, bool verified, const std::string& left_out, std::int64_t planned_bytes) const;

  TrainingNetwork network_;
  bool contention_;
  TrainingCache& cache_;
  mutable CollectiveEffort effort_;
  mutable std::set<std::string> seen_;
  mutable std::map<std::string, Timed> held_;  ///< this point's own, which may be too large to be shared
  mutable std::size_t held_bytes_ = 0;
};

}  // namespace tenex
