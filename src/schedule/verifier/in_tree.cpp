#include "schedule/verifier/in_tree.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schedule/verifier/passing.hpp"
#include "schedule/verifier/paths.hpp"
#include "schedule/verifier/replay.hpp"
#include "schedule/vertex_roles.hpp"
#include "tenex/base/bitset.hpp"

namespace tenex::verifier {
namespace {

/// Whether the sums of some group may become complete at any member: All-Reduce.
bool may_end_anywhere(const Collective& collective) {
  for (std::size_t g = 0; g < collective.groups().size(); ++g)
    if (collective.kind(GroupId::at(g)) == CollectiveKind::all_reduce) return true;
  return false;
}

/// The vertex where each chunk's sum must become complete; a guess for an All-Reduce. O(sends + chunks).
std::vector<RootedSum> find_roots(const Context& context, const Schedule& schedule) {
  const auto& collective = context.collective();
  std::vector<RootedSum> sums(collective.chunks());
  for (std::size_t c = 0; c < sums.size(); ++c) sums[c].root = collective.owner(ChunkId::at(c));
  if (!may_end_anywhere(collective)) return sums;
  // `parts` is the exclusive or of the ranks until the roots are known.
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    if (collective.kind(GroupId::at(g)) != CollectiveKind::all_reduce) continue;
    std::uint32_t all_ranks = 0;
    for (std::uint32_t rank = 0; rank < collective.groups()[g].members.size(); ++rank) all_ranks ^= rank;
    const auto first = collective.first_chunk(GroupId::at(g)).index();
    for (std::size_t c = first; c < first + collective.chunks_in(GroupId::at(g)); ++c) sums[c].parts = all_ranks;
  }
  const auto cross_out = [&](VertexId vertex, ChunkId chunk) {
    const auto group = collective.group_of(chunk);
    if (collective.kind(group) == CollectiveKind::all_reduce &&
        contributes(context.topology(), collective, vertex, chunk))
      sums[chunk.index()].parts ^= *collective.rank_in(group, npu_of(vertex));
  };
  SendBuffer buffer;
  for (std::size_t segment = 0; segment < schedule.segments(); ++segment) {
    schedule.read(segment, buffer);
    for (std::size_t i = 0; i < buffer.batch.size(); ++i) {
      const Send send = buffer.batch[i];
      if (send.stage == Stage::copy || !context.link_exists(send) || !context.chunk_exists(send)) continue;
      for (const ChunkId chunk : context.chunks(send)) {
        cross_out(context.source(send), chunk);
        // A vertex that a message only passes is the source of the next hop, which reverts this.
        if (!unpacks(context.topology(), send)) cross_out(context.target(send), chunk);
      }
    }
  }
  for (std::size_t c = 0; c < sums.size(); ++c) {
    const auto group = collective.group_of(ChunkId::at(c));
    if (collective.kind(group) != CollectiveKind::all_reduce) continue;
    const auto& members = collective.groups()[group.index()].members;
    if (sums[c].parts < members.size()) sums[c].root = members[sums[c].parts];
    sums[c].parts = 0;
  }
  return sums;
}

class InTreeCheck {
 public:
  InTreeCheck(const Context& context, std::vector<RootedSum> sums)
      : context_(context),
        arrivals_(context.lanes()),
        passing_(context),
        paths_(context),
        sent_(context.topology().npus(), context.collective().chunks()) {
    report_.holds = !context.states_contributors();  // the rule speaks of sums of all that a vertex has
    report_.sums = std::move(sums);
  }

  InTreeReport run(const Schedule& schedule) {
    replay(context_, schedule, arrivals_, *this);
    passing_.finish([this](const Arrival& arrival) { arrive(arrival, arrival.send.chunk); });
    std::size_t to_send = 0;
    for (const auto& [key, relay] : relays_) require(relay.waiting == 0);
    const auto& collective = context_.collective();
    for (std::size_t g = 0; g < collective.groups().size(); ++g)
      if (reduces(collective.kind(GroupId::at(g))))
        to_send += (collective.groups()[g].members.size() - 1) * collective.chunks_in(GroupId::at(g));
    require(members_sent_ == to_send && paths_.unfinished().empty());
    report_.relay_sums = relays_.size();
    return std::move(report_);
  }

  std::optional<std::uint32_t> start(const Send& send) {
    if (!require(context_.link_exists(send) && context_.chunk_exists(send))) return std::nullopt;
    const PathStep step = paths_.step(send);
    if (!require(!step.broken) || send.stage == Stage::copy) return std::nullopt;
    if (step.takes) {
      for (const ChunkId chunk : context_.chunks(send)) {
        const auto unpack = [this, chunk](const Arrival& arrival) { arrive(arrival, chunk); };
        require(!passing_.hand_over(send, chunk, unpack));
        leave(context_.source(send), chunk);
      }
      in_flight_ += context_.chunks(send).size();
      report_.peak_in_flight = std::max(report_.peak_in_flight, in_flight_ + waiting_);
    }
    return step.unpacks ? std::optional<std::uint32_t>(0) : std::nullopt;
  }

  void arrive(const Arrival& arrival) {
    for (const ChunkId chunk : context_.chunks(arrival.send)) arrive(arrival, chunk);
  }

  /// A send to a switch that passes chunks on early has started.
  void pass(const Arrival& arrival) {
    Arrival part = arrival;
    for (const ChunkId chunk : context_.chunks(arrival.send)) {
      part.send.chunk = chunk;
      passing_.add(part, arrival.send);
    }
  }

 private:
  /// A non-contributor: a bystander or a switch.
  struct Relay {
    std::size_t waiting = 0;  ///< sums that it has to send on
    bool finished = false;    ///< it keeps what it has sent, and so must not receive again
  };

  void arrive(const Arrival& arrival, ChunkId chunk) {
    --in_flight_;
    ++report_.arrivals;
    const VertexId vertex = context_.target(arrival.send);
    if (auto& sum = report_.sums[chunk.index()]; vertex == vertex_of(sum.root)) {
      sum.complete_at = arrival.time;  // arrivals come in time order
      ++sum.parts;
    } else if (contributes(context_.topology(), context_.collective(), vertex, chunk)) {
      require(!sent_.test(vertex.index(), chunk.index()));
    } else {
      auto& relay = relays_[holding_key(vertex, chunk)];
      require(!relay.finished);
      const bool separate = sum_role(context_.topology(), vertex) == SumRole::queues;
      if (separate) ++waiting_;
      relay.waiting = separate ? relay.waiting + 1 : 1;
    }
  }

  bool require(bool condition) {
    report_.holds = report_.holds && condition;
    return condition;
  }

  void leave(VertexId vertex, ChunkId chunk) {
    if (contributes(context_.topology(), context_.collective(), vertex, chunk)) {
      require(vertex != vertex_of(report_.sums[chunk.index()].root));
      require(sent_.insert(vertex.index(), chunk.index()));
      ++members_sent_;
      return;
    }
    const auto relay = relays_.find(holding_key(vertex, chunk));
    if (!require(relay != relays_.end() && relay->second.waiting > 0)) return;
    --relay->second.waiting;
    const SumRole role = sum_role(context_.topology(), vertex);
    if (role == SumRole::queues) --waiting_;
    relay->second.finished = role == SumRole::keeps;
  }

  const Context& context_;
  Arrivals arrivals_;
  PassingArrivals passing_;
  MessagePaths paths_;
  BitMatrix sent_;  ///< by contributors
  std::unordered_map<std::uint64_t, Relay> relays_;
  std::size_t members_sent_ = 0;
  std::size_t in_flight_ = 0;
  std::size_t waiting_ = 0;  ///< sums in switches that keep them apart
  InTreeReport report_;
};

}  // namespace

InTreeReport check_in_tree(const Context& context, const Schedule& schedule) {
  return InTreeCheck(context, find_roots(context, schedule)).run(schedule);
}

}  // namespace tenex::verifier
