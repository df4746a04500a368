// The parts of the verification of walks (walks.hpp), each for one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "schedule/verifier/context.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/schedule/storage/raw_array.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex::verifier {

/// What a reading of sends comes to.
struct WalkTally {
  std::uint64_t sends = 0;
  std::uint64_t fingerprint = 0;  ///< sum of the sends' hashes
  SimTime last_arrival;

  void add(const WalkTally& other) {
    sends += other.sends;
    fingerprint += other.fingerprint;
    last_arrival = std::max(last_arrival, other.last_arrival);
  }
};

/// A hash of one send. Sums of it do not depend on the order of sends.
[[nodiscard]] inline std::uint64_t send_hash(SimTime start, LinkId link, ChunkId chunk) {
  __extension__ using Wide = unsigned __int128;
  constexpr std::uint64_t kStartKey = 0x9E3779B97F4A7C15U;
  constexpr std::uint64_t kNameKey = 0xD1B54A32D192ED03U;
  const std::uint64_t name = std::uint64_t{link.value()} << 32U | chunk.value();
  const Wide product = static_cast<Wide>(static_cast<std::uint64_t>(start.count()) ^ kStartKey) * (name ^ kNameKey);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

/// The inputs of all parts.
class WalkRules {
 public:
  WalkRules(const Context& context, const std::vector<StartDelay>& start_delays)
      : context_(context), topology_(context.topology()), collective_(context.collective()) {
    if (topology_.homogeneous() && topology_.links() > 0 && collective_.chunk_sizes().size() == 1)
      only_hop_ = &context_.hop(0, 0);
    if (start_delays.empty()) return;
    start_of_.resize(topology_.vertices());
    for (const auto& [npu, time] : start_delays)
      if (npu.index() < start_of_.size()) start_of_[npu.index()] = time;
  }

  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] const Collective& collective() const { return collective_; }
  [[nodiscard]] const HopTime& hop(LinkId link, ChunkId chunk) const {
    if (only_hop_ != nullptr) return *only_hop_;
    return context_.hop(topology_.class_of(link), collective_.size_class(chunk));
  }
  /// Whether the batch holds plain copies of single chunks.
  [[nodiscard]] static bool plain(const SendBatch& batch) {
    const auto copies = [](Stage stage) { return stage == Stage::copy; };
    return batch.message.empty() && (batch.stage.empty() ? copies(batch.uniform_stage)
                                                         : std::all_of(batch.stage.begin(), batch.stage.end(), copies));
  }
  [[nodiscard]] bool names_exist(LinkId link, ChunkId chunk) const {
    return link.index() < links_ && chunk.index() < chunks_;
  }
  /// Whether the link may start at that time, other sends aside.
  [[nodiscard]] bool may_start(LinkId link, SimTime start) const {
    if (start < SimTime::zero() || start > kLatest) return false;
    return start_of_.empty() || start >= start_of_[topology_.source(link).index()];
  }

 private:
  static constexpr SimTime kLatest = SimTime::max() / 4;  ///< later starts are left to the replay
  const Context& context_;
  const Topology& topology_;
  const Collective& collective_;
  std::size_t links_ = topology_.links();
  std::size_t chunks_ = collective_.chunks();
  const HopTime* only_hop_ = nullptr;  ///< of all links and chunks; null where they differ
  std::vector<SimTime> start_of_;      ///< by vertex; empty where no NPU is delayed
};

/// Checks the links in an interval of time.
class LinkSpan {
 public:
  explicit LinkSpan(std::size_t links) : first_(links), free_(links, kUnused) {}

  /// Takes a link; false if it is still taken, or taken in another order than that of time.
  bool take(LinkId link, SimTime start, SimTime busy) {
    SimTime& free = free_[link.index()];
    if (start < free) return false;
    if (free == kUnused) first_[link.index()] = start;
    free = start + busy;
    return true;
  }
  /// Appends a later interval; false if a link was still taken.
  bool append(const LinkSpan& later) {
    for (std::size_t link = 0; link < free_.size(); ++link) {
      if (later.free_[link] == kUnused) continue;
      if (later.first_[link] < free_[link]) return false;
      free_[link] = later.free_[link];
    }
    return true;
  }

 private:
  static constexpr SimTime kUnused = SimTime::of(-1);
  std::vector<SimTime> first_;  ///< first start
  std::vector<SimTime> free_;   ///< end of the last send
};

/// Checks the links and names of segments [first, last); nullopt if something is wrong or unusual.
[[nodiscard]] std::optional<WalkTally> check_links(const WalkRules& rules, const Schedule& schedule, std::size_t first,
                                                   std::size_t last, LinkSpan& links);

/// Follows the chunks [first, last) of a schedule that offers chunks; nullopt if one does not walk to its destination.
[[nodiscard]] std::optional<WalkTally> follow_chunks(const WalkRules& rules, const Schedule& schedule, ChunkId first,
                                                     ChunkId last, SendBuffer& buffer);

/// A part of the names of chunks and links.
struct WalkShare {
  std::size_t first_chunk = 0;
  std::size_t chunks = 0;
  std::size_t first_link = 0;
  std::size_t links = 0;
};
/// Reads the whole schedule in time order and checks the share's chunks and links. 8 bytes per chunk of the share.
[[nodiscard]] std::optional<WalkTally> follow_in_time(const WalkRules& rules, const Schedule& schedule,
                                                      const WalkShare& share);

/// The hops of shortest ways from sources to destinations of the chunks, summed. O(npus * links) over `threads` threads
/// where chunks are in the order of their sources; else 4 bytes per chunk.
[[nodiscard]] std::uint64_t least_hops(const WalkRules& rules, int threads);

/// Whether no chunk is at a vertex twice. 8 bytes per send.
[[nodiscard]] bool never_returns(const WalkRules& rules, const Schedule& schedule);

}  // namespace tenex::verifier
