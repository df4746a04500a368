// Verification link by link, for schedules of billions of sends.
//
// Idea: whether a send is possible depends only on what its source has received before, so the whole definition can be
// checked at one NPU after the other, in any order and on any number of threads. At each NPU, the deliveries of its
// in-links are first entered into a table (chunk -> time); then the sends of its out-links are compared with it. The
// table is that of one NPU and stays in the cache: memory is at most 33 bytes per chunk and thread, whatever the number
// of sends. If every send finds its chunk at its source, then by induction over start times all of them carry what they
// claim.
//
// Reductions obey the in-tree rule (in_tree.hpp), which is local in the same way: each NPU sends each chunk's sum once,
// not before the last receive.
//
// Storages tell their sends in three ways, and the check takes the shortest that a storage offers: the uses of a
// period, where every period repeats the same trees (period_check.hpp); runs of rows (row_check.hpp); single sends
// (npu_check.hpp). All three enter deliveries and sends into the same ledger (npu_ledger.hpp).
//
// This check can only pass, with the same numbers as the replay in time order. If anything is wrong, or unusual
// (messages, switches, sums that are no in-trees), it gives no answer; the replay then finds and describes the cause.
#pragma once

#include <optional>

#include "schedule/verifier/context.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex::verifier {

/// The verdict on a schedule that is valid and offers link-major access; nullopt for all others. Reads every link
/// twice, and again in another way if the first finds a mistake. O(sends + npus * chunks) time over options.threads
/// threads.
[[nodiscard]] std::optional<Verdict> verify_by_link(const Context& context, const Schedule& schedule,
                                                    const VerifyOptions& options);

}  // namespace tenex::verifier
