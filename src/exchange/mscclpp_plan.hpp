// Internal to exchange: execution plans of mscclpp 0.9.0 as typed operations.
//
// Source: microsoft/mscclpp, src/core/executor/execution_plan.cc and src/core/include/execution_{common,kernel}.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/value_tree.hpp"
#include "tenex/base/diagnostic.hpp"

namespace tenex::exchange {

enum class ChannelType : std::uint8_t { memory, port, multicast };
inline constexpr std::array<std::string_view, 3> kChannelTypes{"memory", "port", "switch"};

/// What an operation does with its source and destination buffers.
enum class PlanAction : std::uint8_t {
  sync,       ///< nop, barrier
  signal,     ///< signal, rlxsignal
  wait,       ///< wait, rlxwait
  flush,      ///< does nothing in 0.9.0
  move,       ///< src_k to dst_k
  reduce,     ///< the sum of the sources to all destinations
  multicast,  ///< over a switch channel
  acquire,    ///< sem_acquire
  release,    ///< sem_release
  pipeline,
};

/// An operation by its name. `packets_in`: the sources from the second on (reduce) or all (move) are packets in own
/// scratch. `packets_out`: destinations from this one on are packets; -1: none.
struct PlanRule {
  std::string_view name;
  PlanAction action;
  bool relaxed = false;  ///< orders without making data visible
  bool packets_in = false;
  int packets_out = -1;
  bool signals = false;    ///< put with signal
  bool flushes = false;    ///< and waits until the source is read
  bool reads_all = false;  ///< multicast: loads and adds what all have
};
inline constexpr std::array kPlanRules{
    PlanRule{.name = "nop", .action = PlanAction::sync},
    PlanRule{.name = "barrier", .action = PlanAction::sync},
    PlanRule{.name = "signal", .action = PlanAction::signal},
    PlanRule{.name = "rlxsignal", .action = PlanAction::signal, .relaxed = true},
    PlanRule{.name = "wait", .action = PlanAction::wait},
    PlanRule{.name = "rlxwait", .action = PlanAction::wait, .relaxed = true},
    PlanRule{.name = "flush", .action = PlanAction::flush},
    PlanRule{.name = "put", .action = PlanAction::move},
    PlanRule{.name = "pws", .action = PlanAction::move, .signals = true},
    PlanRule{.name = "pwsf", .action = PlanAction::move, .signals = true, .flushes = true},
    PlanRule{.name = "get", .action = PlanAction::move},
    PlanRule{.name = "copy", .action = PlanAction::move},
    PlanRule{.name = "cpkt", .action = PlanAction::move, .packets_out = 0},
    PlanRule{.name = "ppkt", .action = PlanAction::move, .packets_out = 0},
    PlanRule{.name = "rppkt", .action = PlanAction::move, .packets_in = true, .packets_out = 0},
    PlanRule{.name = "upkt", .action = PlanAction::move, .packets_in = true},
    PlanRule{.name = "re", .action = PlanAction::reduce},
    PlanRule{.name = "rre", .action = PlanAction::reduce},
    PlanRule{.name = "res", .action = PlanAction::reduce},
    PlanRule{.name = "rres", .action = PlanAction::reduce},
    PlanRule{.name = "repkt", .action = PlanAction::reduce, .packets_in = true},
    PlanRule{.name = "respkt", .action = PlanAction::reduce, .packets_in = true, .packets_out = 1},
    PlanRule{.name = "recpkt", .action = PlanAction::reduce, .packets_in = true, .packets_out = 1},
    PlanRule{.name = "recspkt", .action = PlanAction::reduce, .packets_in = true, .packets_out = 1},
    PlanRule{.name = "glres", .action = PlanAction::multicast, .reads_all = true},
    PlanRule{.name = "gstore", .action = PlanAction::multicast},
    PlanRule{.name = "sem_acquire", .action = PlanAction::acquire},
    PlanRule{.name = "sem_release", .action = PlanAction::release},
    PlanRule{.name = "pipeline", .action = PlanAction::pipeline},
};

/// Consecutive chunks of a buffer.
struct PlanRange {
  std::size_t rank = 0;
  char buffer = 'i';            ///< i, o or s
  std::int64_t multicast = -1;  ///< the GPU's switch channel; -1: memory of `rank`
  std::size_t index = 0;
  std::size_t size = 0;
};

/// A channel of a GPU: the n-th of its type to a peer.
struct PlanChannel {
  ChannelType type = ChannelType::memory;
  std::size_t peer = 0;
  std::size_t number = 0;  ///< n
};

struct PlanGroup {
  char buffer = 'i';
  std::vector<std::size_t> ranks;  ///< that share this multicast, itself included
};

struct PlanOperation {
  const PlanRule* rule = nullptr;
  std::vector<PlanRange> sources = {};
  std::vector<PlanRange> targets = {};
  std::vector<PlanChannel> channels = {};
  ChannelType type = ChannelType::memory;
  std::size_t part = 0;  ///< tbg_info: which part of the ranges
  std::size_t parts = 1;
  std::int64_t barrier = -1;  ///< barrier_id; -1: a nop
  std::size_t barrier_blocks = 0;
  std::vector<std::size_t> semaphores = {};
  Place place = {};
  std::string in = {};  ///< " of a pipeline"
};

struct PlanBlock {
  std::vector<PlanOperation> operations;
  Place place;
};

struct PlanGpu {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  std::size_t scratch = 0;
  std::vector<PlanBlock> blocks = {};
  std::vector<PlanGroup> groups = {};
  std::vector<std::int64_t> semaphores = {};  ///< values at first
  std::vector<PlanChannel> channels = {};
  Place place = {};
};

struct ExecutionPlan {
  std::string name;
  std::string collective;
  bool in_place = false;
  bool packets = false;  ///< protocol LL
  std::int64_t least_bytes = 0;
  std::optional<std::int64_t> most_bytes = {};
  std::vector<PlanGpu> gpus;
  std::vector<std::string> limits;  ///< of the executor that the plan breaks: each a sentence
  std::vector<Place> limit_places;
  Place place = {};
};

/// Errors (input): a key that is missing, no number, or names what is not there; (unsupported) an older schema, or an
/// operation that the executor does not know. O(values).
[[nodiscard]] Result<ExecutionPlan> read_plan(const TreeValue& file);

}  // namespace tenex::exchange
