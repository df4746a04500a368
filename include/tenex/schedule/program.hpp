// Program: untimed messages with dependencies, a state machine per NPU, generated as needed and never stored whole.
//
// A simulator asks which messages each NPU sends at time zero, reports each arrival, and asks which messages it
// triggers. A triggered message enters at the moment of its trigger. What an NPU does depends only on its own arrivals,
// so symmetric NPUs behave alike.
//
// A message carries one chunk, or several chunks of one process group as a unit: it then takes a link for the
// serialization time of their bytes together, and the receiver has all of them at its arrival. Facts that a fast engine
// may use beside the state machines (open loops, cycles, symmetry) are stated by optional functions; an engine that
// uses them must reach the same times as one that does not.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/send.hpp"
#include "tenex/topology/translation.hpp"

namespace tenex {

/// A message of one chunk, or of several chunks of one group, from one NPU to another of that group, by any route. With
/// Stage::reduce it carries the source's partial sums as they are when the message is injected, or the sums of the
/// contributors that it states (Program::states_contributors()). Relays hold it apart from their own buffers.
struct Message {
  NpuId source;
  NpuId destination;
  /// The chunk if `chunks` is 1; otherwise the program's own name for what it carries, which Program::chunks_of()
  /// expands.
  ChunkId chunk;
  Stage stage = Stage::copy;
  std::uint32_t chunks = 1;  ///< how many chunks it carries; its size is chunks * chunk_bytes of the source's group
  bool operator==(const Message&) const = default;
};

/// The running state of a program: one state machine per NPU that is in a process group. Not thread-safe across calls
/// for the same NPU.
class ProgramState {
 public:
  virtual ~ProgramState() = default;
  /// Appends the messages that `npu` injects at time zero, in order; nothing for an NPU outside every group.
  virtual void start(NpuId npu, std::vector<Message>& out) = 0;
  /// `message`, one of the program's own, has arrived at its destination. Appends the messages that this triggers, in
  /// order.
  virtual void arrive(const Message& message, std::vector<Message>& out) = 0;
};

/// A program in which every NPU passes messages of one size to the next NPU of a cycle, in a fixed order. Message s
/// (from 0) to next[u] enters at time zero if s < at_start, otherwise when message s - at_start from the NPU before u
/// in the cycle has arrived. `next` is a permutation without fixed points; NPUs outside the cycle have the entry
/// none().
struct Cycle {
  std::vector<NpuId> next;     ///< the next NPU, by NPU
  std::uint64_t messages = 0;  ///< messages that each NPU sends
  std::uint64_t at_start = 0;  ///< how many of them at time zero
  std::uint32_t chunks = 1;    ///< carried by each message
};

/// An algorithm bound to a collective. Immutable; every simulation begins its own state.
class Program {
 public:
  virtual ~Program() = default;
  [[nodiscard]] virtual std::unique_ptr<ProgramState> begin() const = 0;
  /// The program's total number of messages, for plans and checks.
  [[nodiscard]] virtual std::uint64_t messages() const = 0;
  /// The order in which an NPU addresses its peers: "relative" (offset from itself) or "absolute" (id).
  [[nodiscard]] virtual std::string_view destination_order() const { return "relative"; }

  /// The chunks that a message of this program carries, in increasing order, appended to `out`: message.chunks of them.
  virtual void chunks_of(const Message& message, std::vector<ChunkId>& out) const { out.push_back(message.chunk); }
  /// The values that Message::chunks takes, each once, in increasing order: engines tabulate hop times by it.
  [[nodiscard]] virtual std::vector<std::uint32_t> message_sizes() const { return {1}; }

  /// Whether every message of Stage::reduce states whose contributions it carries, by contributors_of(). Then NPUs may
  /// receive sums before they send what does not contain them: whole inputs to many, sums in an order of their own.
  [[nodiscard]] virtual bool states_contributors() const { return false; }
  /// Only where states_contributors(): the ranks, in increasing order, whose contributions make up the sums of a
  /// message of Stage::reduce, appended to `out` (Payloads). Equal for all its chunks.
  virtual void contributors_of(const Message& /*message*/, std::vector<std::uint32_t>& /*out*/) const {}

  /// Open loop: arrivals trigger nothing, so all messages are known at time zero and may be generated one by one.
  [[nodiscard]] virtual bool open_loop() const { return false; }
  /// Only for open loops: how many messages `npu` injects. message_of(npu, i) is the i-th of them, in the order of
  /// start(). Thread-safe. O(1).
  [[nodiscard]] virtual std::uint64_t messages_from(NpuId /*npu*/) const { return 0; }
  [[nodiscard]] virtual Message message_of(NpuId /*npu*/, std::uint64_t /*index*/) const { return {}; }

  /// The program as cycles that never wait for each other: the messages of all cycles are the program's messages, and
  /// each message of a cycle is triggered within its cycle. Empty if the program cannot be, or is not, stated so. If
  /// several cycles begin at time zero, start() orders messages by cycle. O(npus).
  [[nodiscard]] virtual std::vector<Cycle> cycles() const { return {}; }

  /// Symmetry: returns true if adding an offset of `group` to all NPUs (and to what they carry) maps the program onto
  /// itself. NPU u then does what NPU 0 does, translated, so start(NPU 0) and arrive(message to NPU 0) define the whole
  /// program.
  [[nodiscard]] virtual bool moves_with(const TranslationGroup& /*group*/) const { return false; }
  /// Returns `message` translated by the offset that takes its destination to NPU 0. Only where moves_with() is true.
  /// Thread-safe.
  [[nodiscard]] virtual Message to_origin(const Message& message, const TranslationGroup& /*group*/) const {
    return message;
  }
};

// States of programs that are too large for caches.

/// A state that prefetches what it will read when an announced message arrives. Engines that know some arrivals ahead
/// announce them. Only speed depends on it.
class ExpectantState : public ProgramState {
 public:
  /// `message` will be handed to arrive() next or after a few others. O(1).
  virtual void expect(const Message& message) const = 0;
};

}  // namespace tenex
