#include "synthesis/pccl/side_by_side.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/views/views.hpp"

namespace tenex {
namespace {

/// One group under another kind with the same chunks.
struct GroupRole {
  GroupId group;
  CollectiveKind kind;
};

/// The kind whose time reversal is the reduction.
CollectiveKind copying_partner(CollectiveKind kind) {
  return kind == CollectiveKind::reduce ? CollectiveKind::broadcast : CollectiveKind::all_gather;
}

/// What is copied: groups that only copy, and the second half of All-Reduces.
std::vector<GroupRole> copying_roles(const Collective& collective) {
  std::vector<GroupRole> roles;
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto kind = collective.kind(GroupId::at(g));
    if (kind == CollectiveKind::all_reduce) roles.push_back({GroupId::at(g), CollectiveKind::all_gather});
    if (!reduces(kind)) roles.push_back({GroupId::at(g), kind});
  }
  return roles;
}

/// What is reduced, as the copies of which it is the time reversal.
std::vector<GroupRole> reducing_roles(const Collective& collective) {
  std::vector<GroupRole> roles;
  for (std::size_t g = 0; g < collective.groups().size(); ++g)
    if (const auto kind = collective.kind(GroupId::at(g)); reduces(kind))
      roles.push_back({GroupId::at(g), copying_partner(kind)});
  return roles;
}

Collective of_roles(const Collective& collective, const std::vector<GroupRole>& roles) {
  CollectiveRequest request;
  request.npus = collective.npus();
  for (const auto& [group, kind] : roles) {
    ProcessGroup part{collective.groups()[group.index()].members};
    part.kind = kind;
    part.size = collective.size(group);
    part.chunks = collective.chunks_per_npu(group);
    part.root = collective.root(group);
    if (const auto stored = collective.conditions(group); !stored.empty())
      part.conditions = std::make_shared<const std::vector<Condition>>(stored.begin(), stored.end());
    request.groups.push_back(std::move(part));
  }
  return Collective::make(std::move(request)).value();
}

/// One of the two plans.
struct Plan {
  std::vector<Send> sends;  ///< with the chunks of the whole collective
  SimTime time;
  std::uint32_t best_attempt = 0;
  std::uint64_t pruned_waste = 0;
  std::string left_out;
};

class SideBySide {
 public:
  SideBySide(const SynthesisProblem& problem, Gatherer gather) : problem_(problem), gather_(gather) {}

  Result<Synthesis> run(std::string_view engine) {
    auto reduction = plan(problem_.topology.mirrored(), reducing_roles(problem_.collective), true);
    if (!reduction) return reduction.errors();
    auto copies = plan(problem_.topology, copying_roles(problem_.collective), false);
    if (!copies) return copies.errors();
    Synthesis synthesis;
    synthesis.engine = std::string(engine);
    synthesis.best_attempt = copies->best_attempt;
    synthesis.pruned_waste = reduction->pruned_waste + copies->pruned_waste;
    synthesis.left_out = reduction->left_out + copies->left_out;
    delay_gathers(*reduction, *copies);
    auto sends = std::move(reduction->sends);
    sends.insert(sends.end(), copies->sends.begin(), copies->sends.end());
    synthesis.schedule = make_list_schedule(std::move(sends));
    if (!limits_buffers(problem_.topology)) synthesis.schedule = retime(problem_, synthesis.schedule);
    synthesis.without_overlap = synthesis.schedule;
    synthesis.time = synthesis.time_without_overlap = last_arrival(problem_, synthesis.schedule);
    return synthesis;
  }

 private:
  [[nodiscard]] Result<Plan> plan(const Topology& topology, const std::vector<GroupRole>& roles, bool reverse) const {
    if (roles.empty()) return Plan{};
    const Collective collective = of_roles(problem_.collective, roles);
    SynthesisProblem part{{topology, collective, problem_.occupancy}, problem_, problem_.threads};
    part.memory_limit_bytes = problem_.memory_limit_bytes;
    auto gathered = gather_(part);
    if (!gathered) return gathered.errors();
    if (reverse) *gathered = keep_rest(*gathered, without_waste(part, gathered->schedule));
    const Instance forward{problem_.topology, collective, problem_.occupancy};
    const Schedule schedule = reverse ? reversed(forward, gathered->schedule) : gathered->schedule;
    Plan made{list_sends(schedule), gathered->time, gathered->best_attempt, gathered->pruned_waste,
              std::move(gathered->left_out)};
    for (Send& send : made.sends) {
      const auto [group, kind] = roles[collective.group_of(send.chunk).index()];
      send.chunk = ChunkId(send.chunk.value() - collective.first_chunk(collective.group_of(send.chunk)).value() +
                           problem_.collective.first_chunk(group).value());
    }
    return made;
  }

  static Gathered keep_rest(const Gathered& made, Gathered pruned) {
    pruned.best_attempt = made.best_attempt;
    pruned.left_out = made.left_out;
    return pruned;
  }

  /// The gather of an All-Reduce begins when the sums of its group are complete. Over switches all copies begin after
  /// all reductions: the two plans may share links only where re-timing puts sends in turn that overlap, which it does
  /// for direct links alone.
  void delay_gathers(const Plan& reduction, Plan& copies) const {
    const auto& collective = problem_.collective;
    const bool in_turn = !problem_.topology.direct();
    std::vector<SimTime> complete(collective.groups().size(), in_turn ? reduction.time : SimTime::zero());
    for (const Send& send : reduction.sends) {
      const auto hop = hop_time(problem_.topology.classes()[problem_.topology.class_of(send.link)],
                                collective.chunk_bytes(send.chunk), problem_.occupancy);
      auto& last = complete[collective.group_of(send.chunk).index()];
      last = std::max(last, send.start + hop.latency);
    }
    for (Send& send : copies.sends) send.start += complete[collective.group_of(send.chunk).index()];
  }

  const SynthesisProblem& problem_;
  Gatherer gather_;
};

}  // namespace

Result<Synthesis> compose_side_by_side(const SynthesisProblem& problem, Gatherer gather, std::string_view engine) {
  return SideBySide(problem, gather).run(engine);
}

}  // namespace tenex
