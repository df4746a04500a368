// What follows of a send from its topology and collective. Files state it beside the send, for readers that know
// neither.
#pragma once

#include <cstddef>
#include <string>

#include <fmt/core.h>

#include "tenex/base/diagnostic.hpp"
#include "tenex/files/schedule_file.hpp"
#include "tenex/schedule/storage/carried_chunks.hpp"

namespace tenex {

struct SendFacts {
  SimTime arrival;  ///< of its last byte
  VertexId source;
  VertexId target;
  Bytes bytes;  ///< of all chunks that it carries
  bool operator==(const SendFacts&) const = default;
};

/// The facts of the sends of one file. Frame and payloads must outlive it, and each payload has a chunk.
class FactsOfSends {
 public:
  FactsOfSends(const ScheduleFile& frame, const Payloads* payloads)
      : topology_(frame.topology),
        chunks_(frame.collective.chunks() + (payloads == nullptr ? 0 : payloads->size())),
        carried_({frame.topology, frame.collective, frame.occupancy}, payloads) {}

  /// Whether its link and what it carries exist. If not, the verifier finds it.
  [[nodiscard]] bool knows(const Send& send) const {
    return send.link.index() < topology_.links() && send.chunk.index() < chunks_;
  }
  /// InvariantError if knows() does not hold.
  [[nodiscard]] SendFacts of(const Send& send) const {
    ensure(knows(send), "a schedule is not of its topology and collective");
    return {send.start + carried_.hop(send.link, send.chunk, send.start).latency, topology_.source(send.link),
            topology_.target(send.link), carried_.bytes(send.chunk)};
  }
  /// Compares the facts that a file states of its send `number`. Errors (input), at `name`: they are others.
  [[nodiscard]] Status check(const Send& send, const SendFacts& stated, std::size_t number,
                             const std::string& name) const {
    if (!knows(send)) return success();
    const SendFacts facts = of(send);
    if (facts == stated) return success();
    return input_error(
        {name, 0, 0},
        fmt::format("send {} is said to bring {} B from {} to {} at {} ps", number, stated.bytes.count(),
                    stated.source.value(), stated.target.value(), stated.arrival.count()),
        fmt::format("on its link, from its start on, it brings {} B from {} to {} at {} ps", facts.bytes.count(),
                    facts.source.value(), facts.target.value(), facts.arrival.count()),
        "change what belongs together, or write the file again");
  }
  [[nodiscard]] std::span<const ChunkId> carried(const ChunkId& chunk) const { return carried_.of(chunk); }

 private:
  const Topology& topology_;
  std::size_t chunks_;
  CarriedChunks carried_;
};

}  // namespace tenex
