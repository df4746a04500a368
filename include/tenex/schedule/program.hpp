// Program: untimed messages with dependencies, a state machine per NPU, generated as needed and never stored whole.
//
// A simulator asks what each NPU sends at first, tells it what arrives, and asks what that triggers. A triggered
// message enters at the moment of its trigger. What an NPU does depends only on its own arrivals, so symmetric NPUs
// behave alike.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/send.hpp"

namespace tenex {

/// One chunk from one NPU to another, by whatever route. With Stage::reduce it carries the source's partial sum as it
/// is when the message is injected; relays hold it apart from their own buffers.
struct Message {
  NpuId source;
  NpuId destination;
  ChunkId chunk;
  Stage stage = Stage::copy;
  bool operator==(const Message&) const = default;
};

/// The running state of a program: one state machine per NPU. Not thread-safe across calls for the same NPU.
class ProgramState {
 public:
  virtual ~ProgramState() = default;
  /// Appends the messages that `npu` injects at time zero, in order.
  virtual void start(NpuId npu, std::vector<Message>& out) = 0;
  /// `message` has arrived at its destination; appends what that triggers there, in order.
  virtual void arrive(const Message& message, std::vector<Message>& out) = 0;
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
};

}  // namespace tenex
