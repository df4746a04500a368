// One NPU's part of the verification link by link: what arrives there, and whether each send's chunk was there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "schedule/verifier/context.hpp"
#include "tenex/base/csr.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex::verifier {

/// Counts over NPUs that obey every rule.
struct LinkTally {
  std::uint64_t sends = 0;  ///< over their in-links
  std::uint64_t waste = 0;  ///< copies that arrived there and were of no use
  std::uint64_t roots = 0;  ///< sums that became complete there
  SimTime last_useful;      ///< last arrival of a sum or of a useful copy

  void add(const LinkTally& other) {
    sends += other.sends;
    waste += other.waste;
    roots += other.roots;
    last_useful = std::max(last_useful, other.last_useful);
  }
};

/// Checks NPUs one at a time. Each thread has its own. The topology must have no switches.
class NpuCheck {
 public:
  /// `owned`: the chunks of each owner.
  NpuCheck(const Context& context, const Schedule& schedule, const Csr<ChunkId>& owned);

  /// Whether all deliveries at `npu` and all its sends obey the rules. If so, they are added to `tally`.
  [[nodiscard]] bool check(NpuId npu, LinkTally& tally);

 private:
  using Time = SimTime::Rep;
  static constexpr Time kNever = std::numeric_limits<Time>::max();
  static constexpr Time kNothing = -1;               ///< there is no part of a sum
  static constexpr Time kLatestStart = kNever >> 2;  ///< later times could overflow when added; all bits are ones

  void begin(NpuId npu);
  [[nodiscard]] bool read(std::size_t tile, LinkId link);
  [[nodiscard]] bool is_usual(LinkId link) const;
  [[nodiscard]] bool receive(LinkId link);
  [[nodiscard]] bool send(LinkId link);
  [[nodiscard]] bool finish(NpuId npu, LinkTally& tally) const;
  [[nodiscard]] bool sums_obey(NpuId npu, std::uint64_t& roots) const;
  [[nodiscard]] bool relays_obey() const;
  [[nodiscard]] bool needs(std::size_t chunk) const { return chunk - needed_begin_ < needed_; }
  /// Calls visit(first, last) for runs of sends of one stage. Returns false if a call does.
  template <class Copies, class Sums>
  bool by_stage(Copies&& copies, Sums&& sums) const;
  /// Calls visit(chunk, start, hop) for sends first .. last-1 of the batch.
  template <class Visit>
  void each(LinkId link, std::size_t first, std::size_t last, Visit&& visit) const;

  const Context& context_;
  const Schedule& schedule_;
  const Csr<ChunkId>& owned_;
  const bool sums_;    ///< the collective forms sums
  const bool copies_;  ///< the collective hands out final values
  const bool one_size_;
  bool times_fit_ = true;  ///< no hop time is near overflow

  SendBuffer buffer_;
  std::vector<SimTime> starts_;          ///< of a batch with one start for all sends
  std::span<const SimTime> start_;       ///< of the batch that was read
  std::vector<Time> copied_;             ///< when the final value first arrives; kNever if it does not
  std::vector<Time> copy_left_;          ///< when the final value is first sent, beside sums; kNever if it is not
  std::vector<Time> summed_;             ///< when the last partial sum arrives; kNothing where there is no sum
  std::vector<Time> sum_left_;           ///< when the sum is sent; kNever if it is not
  std::vector<std::uint8_t> forwarded_;  ///< whether the NPU forwarded the chunk as a copy without needing it
  std::size_t needed_begin_ = 0;         ///< the chunks of the NPU's group
  std::size_t needed_ = 0;
  std::uint64_t arrived_ = 0;
  std::uint64_t copies_arrived_ = 0;
  Time last_sum_ = 0;
};

}  // namespace tenex::verifier
