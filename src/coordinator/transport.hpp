// Transport: how ranks exchange messages. The MPI implementation is the only code of the run that knows MPI; tests use
// mailboxes in one process.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "coordinator/wire.hpp"

namespace tenex {

/// Never blocks. Messages between two ranks arrive in the order in which they were sent. Used by one thread.
class Transport {
 public:
  virtual ~Transport() = default;
  [[nodiscard]] virtual std::size_t rank() const = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// Starts sending; the message is copied.
  virtual void send(std::size_t to, const RankMessage& message) = 0;
  /// The next message that has arrived, with its sender; empty when there is none.
  [[nodiscard]] virtual std::optional<std::pair<std::size_t, RankMessage>> receive() = 0;
  /// Whether everything sent has left this rank.
  [[nodiscard]] virtual bool all_sent() = 0;
  /// Ranks to which sending has failed since the last call: dead, as far as the transport can tell. Many transports
  /// never can.
  [[nodiscard]] virtual std::vector<std::size_t> failed_ranks() { return {}; }
  /// Waits no longer for what is still on its way to this rank.
  virtual void give_up(std::size_t /*rank*/) {}
};

/// One rank alone: nobody to talk to.
class LonelyTransport final : public Transport {
 public:
  [[nodiscard]] std::size_t rank() const override { return 0; }
  [[nodiscard]] std::size_t size() const override { return 1; }
  void send(std::size_t, const RankMessage&) override {}
  [[nodiscard]] std::optional<std::pair<std::size_t, RankMessage>> receive() override { return std::nullopt; }
  [[nodiscard]] bool all_sent() override { return true; }
};

}  // namespace tenex
