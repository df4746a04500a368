// Verification link by link: the way through schedules of billions of sends.
//
// Idea: whether a send is possible depends only on what its source has received before, so the whole definition can be
// checked at one NPU after the other, in any order and on any number of threads. At each NPU, first everything that its
// in-links bring is entered into a table (chunk -> time); then everything that its out-links take is compared with it.
// The table is that of one NPU and stays in the cache: memory is 16 bytes per chunk and thread, whatever the number of
// sends. If every send finds its chunk at its source, then by induction over start times all of them carry what they
// claim.
//
// Reductions obey the in-tree rule (in_tree.hpp), which is local in the same way: each NPU sends each chunk's sum once,
// not before the last receive.
//
// This way only says yes, with the same numbers as the replay in time order. Where anything is wrong, or unusual
// (messages, switches, sums that are no in-trees), it says nothing, and the replay finds out and describes it.
#pragma once

#include <optional>

#include "schedule/verifier/context.hpp"
#include "tenex/schedule/verifier.hpp"

namespace tenex::verifier {

/// The verdict on a schedule that is valid and offers link-major access; nullopt for all others. Reads every link
/// twice. O(sends + npus * chunks) time over options.threads threads.
[[nodiscard]] std::optional<Verdict> verify_by_link(const Context& context, const Schedule& schedule,
                                                    const VerifyOptions& options);

}  // namespace tenex::verifier
