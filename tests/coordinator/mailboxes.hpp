// Ranks as threads of one process: messages through mailboxes, encoded and decoded as over a wire.
#pragma once

#include <deque>
#include <mutex>
#include <vector>

#include "coordinator/transport.hpp"

namespace tenex::testing {

class Mailboxes {
 public:
  explicit Mailboxes(std::size_t ranks) : boxes_(ranks) {}

  class Endpoint final : public Transport {
   public:
    Endpoint(Mailboxes& all, std::size_t rank) : all_(all), rank_(rank) {}
    [[nodiscard]] std::size_t rank() const override { return rank_; }
    [[nodiscard]] std::size_t size() const override { return all_.boxes_.size(); }
    void send(std::size_t to, const RankMessage& message) override {
      const std::lock_guard lock(all_.mutex_);
      all_.boxes_[to].emplace_back(rank_, encode(message));
    }
    [[nodiscard]] std::optional<std::pair<std::size_t, RankMessage>> receive() override {
      const std::lock_guard lock(all_.mutex_);
      auto& box = all_.boxes_[rank_];
      if (box.empty()) return std::nullopt;
      const auto [from, words] = std::move(box.front());
      box.pop_front();
      return std::pair{from, decode(words)};
    }
    [[nodiscard]] bool all_sent() override { return true; }

   private:
    Mailboxes& all_;
    std::size_t rank_;
  };

 private:
  std::mutex mutex_;
  std::vector<std::deque<std::pair<std::size_t, Words>>> boxes_;
};

}  // namespace tenex::testing
