// Transport: how ranks exchange messages. Only its MPI implementation uses MPI; tests use mailboxes in one process.
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
  /// Returns the next message that has arrived, with its sender; empty when there is none.
  [[nodiscard]] virtual std::optional<std::pair<std::size_t, RankMessage>> receive() = 0;
  /// Whether all sent messages have left this rank.
  [[nodiscard]] virtual bool all_sent() = 0;
  /// Ranks to which sending has failed since the last call: they are dead. Many transports never notice that.
  [[nodiscard]] virtual std::vector<std::size_t> failed_ranks() { return {}; }
  /// Stops waiting for messages that are still on their way to this rank.
  virtual void give_up(std::size_t /*rank*/) {}
};

/// The transport of a run with one rank: there is no other one.
class SingleRankTransport final : public Transport {
 public:
  [[nodiscard]] std::size_t rank() const override { return 0; }
  [[nodiscard]] std::size_t size() const override { return 1; }
  void send(std::size_t, const RankMessage&) override {}
  [[nodiscard]] std::optional<std::pair<std::size_t, RankMessage>> receive() override { return std::nullopt; }
  [[nodiscard]] bool all_sent() override { return true; }
};

}  // namespace tenex
