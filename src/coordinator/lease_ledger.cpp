// Leased points per rank: at hand by lease, finished ones as one list.
#include "coordinator/lease_ledger.hpp"

#include <algorithm>
#include <utility>

namespace tenex {

void LeaseLedger::give(std::size_t rank, const Lease& lease) { ranks_[rank].at_hand.emplace(lease.id, lease.points); }

void LeaseLedger::finish(std::size_t rank, std::uint64_t lease) {
  Account& account = ranks_[rank];
  const auto done = account.at_hand.find(lease);
  if (done == account.at_hand.end()) return;
  if (!safe_when_finished_) account.finished.insert(account.finished.end(), done->second.begin(), done->second.end());
  account.at_hand.erase(done);
}

HeldPoints LeaseLedger::take(std::size_t rank) {
  const Account account = std::exchange(ranks_[rank], {});
  HeldPoints held;
  for (const auto& [lease, points] : account.at_hand)
    held.at_hand.insert(held.at_hand.end(), points.begin(), points.end());
  held.finished = account.finished;
  std::ranges::sort(held.at_hand);
  std::ranges::sort(held.finished);
  return held;
}

}  // namespace tenex
