// One NPU's part of the verification link by link: what arrives there, and whether each send's chunk was there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/verifier/context.hpp"
#include "schedule/verifier/npu_ledger.hpp"
#include "tenex/base/csr.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex::verifier {

/// Checks NPUs one at a time. Each thread has its own. The topology must have no switches.
class NpuCheck {
 public:
  using Time = SimTime::Rep;
  using Tally = LedgerTally<Time>;

  /// `owned`: the chunks of each owner.
  NpuCheck(const Context& context, const Schedule& schedule, const Csr<ChunkId>& owned);

  /// Whether all deliveries at `npu` and all its sends obey the rules. If so, they are added to `tally`.
  [[nodiscard]] bool check(NpuId npu, Tally& tally);

 private:
  static constexpr Time kNever = NpuLedger<Time>::kNever;
  static constexpr Time kLatestStart = NpuLedger<Time>::kLatest;

  [[nodiscard]] bool read(std::size_t tile, LinkId link);
  [[nodiscard]] bool is_usual(LinkId link) const;
  [[nodiscard]] bool receive(LinkId link);
  [[nodiscard]] bool send(LinkId link);
  /// Calls visit(first, last) for runs of sends of one stage. Returns false if a call does.
  template <class Copies, class Sums>
  bool by_stage(Copies&& copies, Sums&& sums) const;
  /// Calls visit(chunk, start, hop) for sends first .. last-1 of the batch.
  template <class Visit>
  void each(LinkId link, std::size_t first, std::size_t last, Visit&& visit) const;

  const Context& context_;
  const Schedule& schedule_;
  const bool one_size_;
  bool times_fit_ = true;  ///< no hop time is near overflow

  SendBuffer buffer_;
  std::vector<SimTime> starts_;     ///< of a batch with one start for all sends
  std::span<const SimTime> start_;  ///< of the batch that was read
  NpuLedger<Time> ledger_;
  std::uint64_t arrived_ = 0;
  std::uint64_t copies_arrived_ = 0;
  Time last_sum_ = 0;
};

}  // namespace tenex::verifier
