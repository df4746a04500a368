// Internal to exchange: how far the threadblocks of an MSCCLang file come.
//
// A threadblock runs its steps in order. Before a step it waits for (depid, deps) of the step and of the nops right
// before it; the wait ends when that threadblock has published a step number >= deps, which only steps with hasdep="1"
// do. A step moves its chunks in pieces through a FIFO with a few slots per connection (sender, receiver, channel): a
// receive waits for a full slot, a send for an empty one. Whoever can go on does, until nobody can: what order they
// take does not matter, since no step takes a choice away from another. Source: Azure/msccl-executor-nccl,
// src/device/msccl_kernel.cu.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "exchange/mscclang_file.hpp"
#include "tenex/exchange/foreign_schedule.hpp"

namespace tenex::exchange {

/// A threadblock in the list of all.
struct BlockSeat {
  std::uint32_t gpu = 0;
  std::uint32_t block = 0;
};

/// One end of a connection each, as numbers of threadblocks in the list of all.
struct Connection {
  std::int64_t sender = -1;
  std::int64_t receiver = -1;
};

/// Who waits for what.
struct Blocked {
  std::size_t block = 0;        ///< in the list of all
  std::int64_t waits_for = -1;  ///< the same; -1: nobody
  std::string what;             ///< "for a send of gpu 1"
};

class MscclangProgress {
 public:
  /// Expects: what check_connections() accepts.
  explicit MscclangProgress(const MscclangFile& file);

  [[nodiscard]] const std::vector<BlockSeat>& seats() const { return seats_; }
  [[nodiscard]] const std::vector<Connection>& connections() const { return connections_; }
  /// The connection on which a threadblock sends or receives; -1: none.
  [[nodiscard]] std::int64_t send_connection(std::size_t block) const { return sends_on_[block]; }
  [[nodiscard]] std::int64_t receive_connection(std::size_t block) const { return receives_on_[block]; }
  [[nodiscard]] std::size_t number_of(std::size_t gpu, std::size_t block) const { return first_[gpu] + block; }
  [[nodiscard]] const MscclangBlock& block(std::size_t number) const {
    return file_.gpus[seats_[number].gpu].blocks[seats_[number].block];
  }
  /// "gpu 0, tb 3".
  [[nodiscard]] std::string say(std::size_t number) const;

  /// Problems with the ends of connections, and steps that cannot be.
  void check(ForeignSchedule& schedule) const;

  /// Runs all threadblocks with FIFOs of `slots` slots (0: without a limit) that take `piece` chunks each (0: any
  /// number), and calls done(block, step) for each step in an order in which they may end. Returns whether all ended.
  bool run(std::int64_t slots, std::int64_t piece, const std::function<void(std::size_t, std::size_t)>& done);
  /// After a run that did not end: the threadblocks that wait for each other, or the first that waits for what never
  /// comes; in the order of waiting.
  [[nodiscard]] std::vector<Blocked> blocked() const;

 private:
  struct State {
    std::size_t step = 0;
    std::int64_t pieces = 0;  ///< done of this step
    bool received = false;    ///< this piece has come and is to be sent on
    std::int64_t published = -1;
    std::vector<std::size_t> waiters = {};  ///< threadblocks that wait for what this one publishes
  };
  struct Fifo {
    std::int64_t sent = 0;
    std::int64_t received = 0;
  };

  void add_connections();
  void check_step(ForeignSchedule& schedule, std::size_t number, std::size_t step) const;
  /// Advances as far as it can.
  void advance(std::size_t number, const std::function<void(std::size_t, std::size_t)>& done);
  /// The dependency of the current step that is not met; -1: none. A nop carries its own to the step behind it.
  [[nodiscard]] std::int64_t open_dependency(std::size_t number) const;
  [[nodiscard]] Blocked reason(std::size_t number) const;

  const MscclangFile& file_;
  std::vector<BlockSeat> seats_;
  std::vector<std::size_t> first_;  ///< by GPU
  std::vector<Connection> connections_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::size_t> connection_at_;
  std::vector<std::int64_t> sends_on_;
  std::vector<std::int64_t> receives_on_;
  std::vector<std::pair<std::size_t, std::string>> twice_;  ///< threadblocks with an end that another has

  std::int64_t slots_ = 0;
  std::int64_t piece_ = 0;
  std::vector<State> states_;
  std::vector<Fifo> fifos_;
  std::vector<std::size_t> ready_;
};

}  // namespace tenex::exchange
