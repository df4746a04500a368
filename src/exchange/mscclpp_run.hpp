// Internal to exchange: one launch of an mscclpp plan with symbolic buffers.
//
// Threads of the model are threadblocks and, for each port channel of a GPU, the proxy that works off its puts. Epochs
// of a threadblock end at nops and barriers: in between its threads do not wait for each other, so operations of one
// epoch are not ordered, a signal publishes what was done before the last nop, and what a wait brings is known after
// the next one. Packets carry their own flag: whoever reads one knows what its writer knew, the write included. Relaxed
// signals order and make nothing visible: a weaker clock (symbolic_memory.hpp). A port's puts are read and written by
// its proxy, in order; its signals follow them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "exchange/foreign_formats.hpp"
#include "exchange/mscclpp_plan.hpp"
#include "exchange/symbolic_memory.hpp"

namespace tenex::exchange {

/// What a plan's buffers are to its collective.
struct PlanShape {
  CollectiveKind kind = CollectiveKind::all_reduce;
  bool known = true;      ///< false: the outputs of the collective are not known
  std::size_t units = 0;  ///< chunks, of an All-Gather of the output
  std::size_t parts = 1;  ///< places per chunk, so that groups of threadblocks share them out
};

class PlanRun {
 public:
  PlanRun(const ExecutionPlan& plan, const PlanShape& shape, ForeignSchedule& schedule);
  /// Errors (resource): more values or clocks than the limits.
  Status run();

 private:
  struct Clocks {
    VectorClock visible;
    VectorClock order;
  };
  struct Block {
    std::size_t gpu = 0;
    std::size_t block = 0;
    std::size_t next = 0;  ///< operation
    std::uint32_t epoch = 2;
    Clocks known;
    Clocks pending;  ///< brought by waits since the last nop
    bool at_barrier = false;
    std::uint32_t first_operation = 0;
  };
  struct Proxy {
    std::uint32_t thread = 0;
    std::uint32_t epoch = 0;
    Clocks known;
    /// The puts of the threadblock's epoch: each range is pushed by a thread of its own, and what another thread pushes
    /// may overtake it. `settled`: those before them, which nothing overtakes.
    std::uint32_t pushed_in = 0;
    std::uint32_t settled = 0;
    std::size_t thread_index = 0;
    bool several = false;  ///< threads have pushed
  };
  struct Packet {
    ValueId value = kNothing;
    bool written = false;
    std::uint32_t operation = 0;
    std::shared_ptr<const Clocks> known;
  };
  struct Layout {
    std::size_t base = 0;
    std::size_t input_at = 0;
    std::size_t output_at = 0;
    std::size_t scratch_at = 0;
    std::size_t inputs = 0;
    std::size_t outputs = 0;
    std::size_t scratch = 0;
    std::size_t packets_at = 0;
  };
  /// A channel in one direction.
  using ChannelKey = std::tuple<ChannelType, std::size_t, std::size_t, std::size_t>;  ///< type, from, to, number
  struct Signal {
    Clocks known;
    bool relaxed = false;
    std::uint32_t operation = 0;
  };
  struct Arrival {
    std::uint32_t epoch = 0;
    std::uint32_t number = 0;
  };
  /// An operation while it runs.
  struct Current {
    Block& block;
    const PlanOperation& operation;
    std::uint32_t number = 0;
    Access access;
    std::map<std::pair<std::size_t, std::size_t>, std::vector<ValueId>> pulled = {};  ///< by source, destination
    std::map<std::pair<std::size_t, std::size_t>, std::vector<ValueId>> pushed = {};
  };

  void lay_out();
  [[nodiscard]] bool check_ranges();
  [[nodiscard]] const PlanOperation& operation_of(std::uint32_t number) const;
  [[nodiscard]] std::size_t block_of(std::uint32_t number) const;
  [[nodiscard]] std::string say(std::uint32_t number) const;
  [[nodiscard]] std::string say_block(const Block& block) const;
  [[nodiscard]] Place place_of(std::uint32_t number) const { return operation_of(number).place; }

  [[nodiscard]] bool step(std::size_t index);
  [[nodiscard]] bool arrive_at_barrier(Block& block, const PlanOperation& operation);
  void sync(Block& block);
  void take_signals(Block& block, const PlanOperation& operation, bool relaxed);
  void give_signals(Block& block, const PlanOperation& operation, std::uint32_t number);
  void give_signal(Block& block, const PlanChannel& channel, std::size_t thread, bool relaxed, std::uint32_t number);
  [[nodiscard]] bool packets_there(const Block& block, const PlanOperation& operation) const;
  void move(Block& block, const PlanOperation& operation, std::uint32_t number);
  void move_by_proxy(Current& now, std::size_t k);
  void reduce(Current& now);
  void multicast(Current& now);
  [[nodiscard]] ValueId load(Current& now, const PlanRange& range, std::size_t offset, bool packet);
  void store(Current& now, const PlanRange& range, std::size_t offset, bool packet, ValueId value);
  void check_begun(Current& now, std::size_t rank, char buffer);
  void add_transfers(Current& now);
  void add_transfer(Current& now, std::size_t source, std::size_t target, const std::vector<ValueId>& values,
                    const std::vector<std::uint32_t>& also_after, std::vector<std::uint32_t>* numbers);
  [[nodiscard]] bool signals_there(const Block& block, const PlanOperation& operation) const;
  [[nodiscard]] std::string reason(const Block& block) const;
  void push(const Block& block, Proxy& proxy, std::size_t thread);
  [[nodiscard]] Proxy& proxy_of(std::size_t gpu, const PlanChannel& channel);
  [[nodiscard]] std::pair<std::size_t, std::size_t> part_of(const PlanOperation& operation, std::size_t size) const;
  [[nodiscard]] std::size_t place(const PlanRange& range, std::size_t offset) const;
  [[nodiscard]] Packet& packet(const PlanRange& range, std::size_t offset);

  void check_end();
  void check_visible_at_end(std::size_t gpu);
  void note_once(const std::string& note);
  void check_outputs();

  const ExecutionPlan& plan_;
  PlanShape shape_;
  ForeignSchedule& schedule_;
  Outcome outcome_;
  ValueTable values_;
  SymbolicMemory memory_;
  std::vector<Layout> layouts_;
  std::vector<Packet> packets_;
  std::vector<Block> blocks_;
  std::vector<std::size_t> first_block_;  ///< by GPU, and the end
  std::vector<std::uint32_t> first_operation_;
  std::map<std::tuple<std::size_t, ChannelType, std::size_t, std::size_t>, std::size_t> proxy_index_;
  std::vector<Proxy> proxies_;
  std::size_t threads_ = 0;
  std::map<ChannelKey, std::deque<Signal>> signals_;
  std::vector<std::vector<std::deque<Clocks>>> semaphores_;  ///< by GPU and semaphore
  std::map<std::pair<std::size_t, std::int64_t>, std::vector<std::size_t>> at_barrier_;
  /// By destination, then thread and source: in order of epochs.
  std::vector<std::map<std::pair<std::uint32_t, std::size_t>, std::vector<Arrival>>> arrivals_;
  std::size_t kept_clocks_ = 0;  ///< of signals, semaphores and packets
  bool multicast_ = false;
  bool flushes_ = false;
  bool flushes_puts_ = false;
};

}  // namespace tenex::exchange
