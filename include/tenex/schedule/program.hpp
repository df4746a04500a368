// Program: untimed messages with dependencies, a state machine per NPU, generated as needed and never stored whole.
//
// A simulator asks what each NPU sends at first, tells it what arrives, and asks what that triggers. A triggered
// message enters at the moment of its trigger. What an NPU does depends only on its own arrivals, so symmetric NPUs
// behave alike.
//
// A message carries one chunk, or several chunks of one process group as a unit: it then takes a link for the
// serialization time of their bytes together, and the receiver has all of them at its arrival. What a fast engine may
// know of a program beyond its state machines (open loops, cycles, symmetry) the program states through optional
// functions; an engine that uses them must reach the same times as one that does not.
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

/// One chunk, or several of one group, from one NPU to another of that group, by whatever route. With Stage::reduce it
/// carries the source's partial sums as they are when the message is injected; relays hold it apart from their own
/// buffers.
struct Message {
  NpuId source;
  NpuId destination;
  /// The chunk; where `chunks` > 1 the program's own name for what it carries: Program::chunks_of() expands it.
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
  /// `message`, one of the program's own, has arrived at its destination; appends what that triggers there, in order.
  virtual void arrive(const Message& message, std::vector<Message>& out) = 0;
};

/// A program in which every NPU passes messages of one size to the next NPU of a cycle, in a fixed order: the s-th
/// message (from 0) to next[u] enters at time zero where s < at_start, else when message s - at_start from the NPU
/// before u in the cycle has arrived. `next` is a permutation without fixed points; entries none() are bystanders.
struct Cycle {
  std::vector<NpuId> next;     ///< by NPU
  std::uint64_t messages = 0;  ///< by each NPU
  std::uint64_t at_start = 0;  ///< how many of them at time zero
  std::uint32_t chunks = 1;    ///< carried by each message
};

/// An algorithm bound to a collective. Immutable; every simulation begins a state of its own.
class Program {
 public:
  virtual ~Program() = default;
  [[nodiscard]] virtual std::unique_ptr<ProgramState> begin() const = 0;
  /// The program's total number of messages, for plans and checks.
  [[nodiscard]] virtual std::uint64_t messages() const = 0;
  /// In which order an NPU addresses its peers: "relative" (offset from itself) or "absolute" (id).
  [[nodiscard]] virtual std::string_view destination_order() const { return "relative"; }

  /// The chunks that a message of this program carries, in increasing order, appended to `out`: message.chunks of them.
  virtual void chunks_of(const Message& message, std::vector<ChunkId>& out) const { out.push_back(message.chunk); }
  /// The values that Message::chunks takes, each once, in increasing order: engines tabulate hop times by it.
  [[nodiscard]] virtual std::vector<std::uint32_t> message_sizes() const { return {1}; }

  /// Open loop: arrivals trigger nothing, so all messages are known at time zero and may be generated one by one.
  [[nodiscard]] virtual bool open_loop() const { return false; }
  /// Open loop only: how many messages `npu` injects; message_of(npu, i) is the i-th of them, as start() orders them.
  /// Thread-safe. O(1).
  [[nodiscard]] virtual std::uint64_t messages_from(NpuId /*npu*/) const { return 0; }
  [[nodiscard]] virtual Message message_of(NpuId /*npu*/, std::uint64_t /*index*/) const { return {}; }

  /// The program as cycles that never wait for each other, where it is that: all messages of all cycles are the
  /// program's, and messages of a cycle are triggered within it alone. Empty: not stated. Where several cycles begin at
  /// time zero, start() orders messages by cycle. O(npus).
  [[nodiscard]] virtual std::vector<Cycle> cycles() const { return {}; }

  /// Symmetry: adding an offset of `group` to all NPUs (and to_origin() to what they carry) maps the program onto
  /// itself: what NPU u does is what NPU 0 does, moved. Then start(NPU 0) and arrive(message to NPU 0) say all.
  [[nodiscard]] virtual bool moves_with(const TranslationGroup& /*group*/) const { return false; }
  /// Where moves_with(): `message` with everything moved by the offset that takes its destination to NPU 0.
  /// Thread-safe.
  [[nodiscard]] virtual Message to_origin(const Message& message, const TranslationGroup& /*group*/) const {
    return message;
  }
};

}  // namespace tenex
