// Message paths: hops that belong to one message must form one path from an NPU to its destination.
//
// A message is at one vertex at a time. Its first hop leaves an NPU. Each further hop leaves the vertex that the last
// one reached, not before it arrived there, and the hop that reaches the destination is the last. Relays hold a message
// apart from their own buffers, so what it carries is fixed when the first hop starts. Memory: messages under way, one
// bit per finished message.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "schedule/verifier/context.hpp"
#include "schedule/verifier/findings.hpp"

namespace tenex::verifier {

/// The role of a send in its message.
struct PathStep {
  bool broken = false;        ///< it does not continue its message's path (or belongs to a path already found broken)
  bool takes = true;          ///< it takes from its source's holdings: no message, or the first hop of one
  bool unpacks = true;        ///< its target unpacks it: no message, or the last hop of one
  std::uint32_t payload = 0;  ///< what the first hop took; meaningful where !takes
  std::string problem;        ///< the sentence if `broken`; empty if reported before
};

/// Follows all messages of a schedule, hop by hop, in time order.
class MessagePaths {
 public:
  explicit MessagePaths(const Context& context) : context_(context) {}

  /// Takes the next send, whose link and chunk must exist. O(1).
  PathStep step(const Send& send);
  /// Keeps what the first hop of a message took, for the last hop to deliver.
  void carry(MessageId message, std::uint32_t payload) {
    if (const auto found = under_way_.find(message); found != under_way_.end()) found->second.payload = payload;
  }
  /// Messages that never arrived: their last hops, by message id.
  [[nodiscard]] std::vector<Send> unfinished() const;

 private:
  struct UnderWay {
    Send last_hop;
    std::uint32_t payload = 0;
    bool broken = false;
  };
  PathStep begin(const Send& send);
  PathStep go_on(const Send& send, UnderWay& message);
  void finish(MessageId message);
  [[nodiscard]] bool finished(MessageId message) const;

  static constexpr std::uint32_t kPageBits = 4096;
  const Context& context_;
  std::unordered_map<MessageId, UnderWay> under_way_;
  std::unordered_map<std::uint32_t, std::array<std::uint64_t, kPageBits / 64>> finished_;  ///< pages of bits
};

}  // namespace tenex::verifier
