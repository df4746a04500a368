// The fast checks of the verifier, which can only pass: link by link, and of walks.
#pragma once

#include <optional>

#include "schedule/verifier/context.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex::verifier {

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

/// The verdict on a schedule that is valid and offers link-major access; nullopt for all others. Reads every link
/// twice, and again in another way if the first finds a mistake. O(sends + npus * chunks) time over options.threads
/// threads.
[[nodiscard]] std::optional<Verdict> verify_by_link(const Context& context, const Schedule& schedule,
                                                    const VerifyOptions& options);

// Verification of walks: collectives whose chunks have one destination each, without a table of all holdings.
//
// Idea: in an All-to-All a chunk is useful only where it is going, so in a schedule without waste it walks: each of its
// sends leaves the vertex that the one before reached. One vertex and one time per chunk then replace a bit per
// (vertex, chunk): 8 bytes per chunk instead of n/8. A send is possible if it leaves that vertex, not before that time.
// Walks that pass no vertex twice waste nothing; that follows where there are no more sends than the shortest ways have
// hops, and else the visits are compared one by one.
//
// A schedule that is computed as it is read may offer its sends chunk by chunk (Schedule::read_chunks). Each chunk is
// then followed on its own, which needs no memory; links are checked in a second reading, in time order. That both
// readings give the same sends is checked too: by their number and the sum of a 64-bit hash of each (two sets that
// differ agree in it with probability 2^-64).
//
// This check can only pass, with the same verdict as the replay. If a send is not part of a walk (a copy, a second
// path, a message, a switch) or anything is wrong, it gives no answer; the replay then judges.

/// The verdict on a valid schedule of walks; nullopt for all others. O(sends + npus * links) time over options.threads
/// threads. Memory: none per chunk where the schedule offers chunks; else 8 bytes per chunk, in as many readings as
/// options.memory_limit_bytes demands (at least 64 MiB are taken where needed). Where sends make detours, 8 bytes per
/// send within that memory, or no answer.
[[nodiscard]] std::optional<Verdict> verify_by_walks(const Context& context, const Schedule& schedule,
                                                     const VerifyOptions& options);

}  // namespace tenex::verifier
