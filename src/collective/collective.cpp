// A collective as arithmetic over its groups and their stored conditions: nothing is stored per chunk.
#include "tenex/collective/collective.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/core.h>

#include "tenex/base/bitset.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/base/units.hpp"

namespace tenex {

namespace {

constexpr std::int64_t kMostChunks = std::numeric_limits<std::uint32_t>::max() - 1;

/// A group with what the request says where it has nothing of its own.
struct GroupWork {
  CollectiveKind kind;
  std::int64_t chunks;
  Bytes size;
  std::uint32_t root;
};

GroupWork work_of(const CollectiveRequest& request, const ProcessGroup& group) {
  return {group.kind.value_or(request.kind), group.chunks.value_or(request.chunks), group.size.value_or(request.size),
          group.root.value_or(request.root)};
}

/// The number of chunks into which S is cut in a group of n members: c per NPU, or c in all where the root owns them.
std::int64_t chunks_of_buffer(CollectiveKind kind, std::size_t members, std::int64_t per_npu) {
  return owned_by_root(kind) ? per_npu : static_cast<std::int64_t>(members) * per_npu;
}

/// The number of buffers of that kind in a group: in All-to-All every NPU has its own send buffer.
std::int64_t buffers_of(CollectiveKind kind, std::size_t members) {
  return kind == CollectiveKind::all_to_all ? static_cast<std::int64_t>(members) : 1;
}

/// What is c times the group's number of chunks.
std::int64_t units_of(CollectiveKind kind, const ProcessGroup& group) {
  const auto members = static_cast<std::int64_t>(group.members.size());
  if (stores_conditions(kind)) return group.conditions ? static_cast<std::int64_t>(group.conditions->size()) : 0;
  if (owned_by_root(kind)) return 1;
  // At most 2^32 NPUs, squared: the product is taken in steps.
  const auto buffers = buffers_of(kind, group.members.size());
  return members > kMostChunks / buffers ? kMostChunks + 1 : members * buffers;
}

Diagnostics check_conditions(CollectiveKind kind, const ProcessGroup& group) {
  if (!stores_conditions(kind)) return {};
  if (!group.conditions || group.conditions->empty())
    return {input_error({}, fmt::format("collective {} without conditions", to_string(kind)), "nothing is to be sent",
                        "name what goes from where to where")};
  Diagnostics errors;
  const auto members = group.members.size();
  const auto rank_error = [&](std::uint32_t rank) {
    errors.push_back(input_error({}, fmt::format("a condition names rank {} of a group of {} NPUs", rank, members),
                                 fmt::format("ranks are 0 to {}", members - 1)));
  };
  for (const Condition& condition : *group.conditions) {
    if (condition.source >= members) rank_error(condition.source);
    auto destinations = condition.destinations;
    std::ranges::sort(destinations);
    for (std::size_t i = 0; i < destinations.size(); ++i) {
      const auto rank = destinations[i];
      if (rank >= members) rank_error(rank);
      if (rank == condition.source || (i > 0 && rank == destinations[i - 1]))
        errors.push_back(input_error({},
                                     fmt::format("a condition of source {} names destination {} twice or is its "
                                                 "own destination",
                                                 condition.source, rank),
                                     "destinations are other NPUs, each once"));
      if (errors.size() > 16) return errors;
    }
    if (condition.destinations.empty())
      errors.push_back(input_error({}, fmt::format("a condition of source {} without destinations", condition.source),
                                   "a chunk that nobody needs is never sent"));
  }
  return errors;
}

Diagnostics check_groups(const CollectiveRequest& request) {
  Diagnostics errors;
  for (const ProcessGroup& group : request.groups) {
    const GroupWork work = work_of(request, group);
    Bitset taken(request.npus);
    if (group.members.size() < 2) {
      errors.push_back(input_error({}, fmt::format("a process group of {} NPUs", group.members.size()),
                                   "a process group has at least two"));
    }
    for (const NpuId npu : group.members) {
      if (npu.index() >= request.npus) {
        errors.push_back(input_error({}, fmt::format("NPU {} of a process group does not exist", npu.value()),
                                     fmt::format("the topology has {} NPUs", request.npus)));
      } else if (!taken.insert(npu.index())) {
        errors.push_back(input_error({}, fmt::format("NPU {} is twice in a process group", npu.value()),
                                     "an NPU is in a group once"));
      }
    }
    if (has_root(work.kind) && work.root >= group.members.size()) {
      errors.push_back(input_error({}, fmt::format("root {} of a group of {} NPUs", work.root, group.members.size()),
                                   "the root is a rank inside each group, counted from 0"));
    }
    if (work.kind == CollectiveKind::mixed)
      errors.push_back(input_error({}, "a process group without a collective of its own",
                                   "collective = \"mixed\" asks every group for one",
                                   "name it after the group's NPUs, such as \"0-7 all_gather\""));
    append(errors, check_conditions(work.kind, group));
  }
  return errors;
}

/// The error for too many chunks; it names their number: "70000 * 70000 * 1 = 4900000000 chunks".
Diagnostic too_many_chunks(const CollectiveRequest& request) {
  double total = 0;  // may exceed 64 bits
  for (const ProcessGroup& group : request.groups) {
    const GroupWork work = work_of(request, group);
    const auto members = static_cast<double>(group.members.size());
    const double units = stores_conditions(work.kind) ? static_cast<double>(units_of(work.kind, group))
                         : owned_by_root(work.kind)   ? 1.0
                                                    : members * (work.kind == CollectiveKind::all_to_all ? members : 1);
    total += units * static_cast<double>(work.chunks);
  }
  const ProcessGroup& first = request.groups.front();
  const GroupWork work = work_of(request, first);
  const bool pairs = work.kind == CollectiveKind::all_to_all;
  const std::string factors = request.groups.size() > 1 || owned_by_root(work.kind) || stores_conditions(work.kind)
                                  ? ""
                                  : fmt::format("{}{} * {} = ", pairs ? fmt::format("{} * ", first.members.size()) : "",
                                                first.members.size(), work.chunks);
  return resource_error(fmt::format("{}{:.0f} chunks cannot be addressed", factors, total),
                        fmt::format("32-bit ids address at most {} chunks", kMostChunks),
                        pairs             ? "choose fewer NPUs, smaller process groups or fewer chunks"
                        : work.chunks > 1 ? "choose fewer chunks per NPU"
                                          : "choose fewer NPUs");
}

/// Checks S of one group.
Diagnostics check_size(const GroupWork& work, const ProcessGroup& group) {
  if (stores_conditions(work.kind)) {
    for (const Condition& condition : *group.conditions)
      if (condition.size.count() < work.chunks)
        return {input_error({}, fmt::format("a condition of {} in {} chunks", to_string(condition.size), work.chunks),
                            "every chunk holds a byte at least")};
    return {};
  }
  const Bytes least = bytes(chunks_of_buffer(work.kind, group.members.size(), work.chunks));
  if (work.size >= least) return {};
  const std::string rule =
      owned_by_root(work.kind)
          ? fmt::format("every chunk holds a byte at least: c = {}", work.chunks)
          : fmt::format("every chunk holds a byte at least: n*c = {}*{}", group.members.size(), work.chunks);
  return {input_error({}, fmt::format("a collective size of {} is too small", to_string(work.size)), rule,
                      fmt::format("use {} or more", to_string(least)))};
}

/// Checks c and S against the groups; assumes that there are groups, and that check_groups() passed.
Diagnostics check_amounts(const CollectiveRequest& request) {
  std::int64_t total = 0;
  const ProcessGroup* strictest = nullptr;  // of the groups without a size of their own, the largest
  for (const ProcessGroup& group : request.groups) {
    const GroupWork work = work_of(request, group);
    if (work.chunks < 1)
      return {input_error({}, fmt::format("{} chunks", work.chunks), "a collective has at least one chunk per NPU")};
    const auto units = units_of(work.kind, group);
    if (units != 0 && work.chunks > (kMostChunks - total) / units) return {too_many_chunks(request)};
    total += units * work.chunks;
    if (group.size || group.kind || group.chunks || stores_conditions(work.kind)) {
      if (auto errors = check_size(work, group); !errors.empty()) return errors;
    } else if (strictest == nullptr || group.members.size() > strictest->members.size()) {
      strictest = &group;
    }
  }
  return strictest == nullptr ? Diagnostics{} : check_size(work_of(request, *strictest), *strictest);
}

/// Whether each group has chunks that hold all of its bytes. O(groups + conditions).
bool hold_all_bytes(const Collective& collective) {
  // Their product may exceed 64 bits.
  const auto hold = [](Bytes chunk, std::int64_t chunks, Bytes all) {
    return chunk > bytes(0) && (all.count() - 1) / chunk.count() < chunks;
  };
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto group = GroupId::at(g);
    const auto kind = collective.kind(group);
    if (collective.chunks_in(group) == 0) return false;
    std::size_t next = collective.first_chunk(group).index();
    for (const Condition& condition : collective.conditions(group)) {
      if (!hold(collective.chunk_bytes(ChunkId::at(next)), collective.chunks_per_npu(group), condition.size))
        return false;
      next += static_cast<std::size_t>(collective.chunks_per_npu(group));
    }
    const auto pieces = chunks_of_buffer(kind, collective.groups()[g].members.size(), collective.chunks_per_npu(group));
    if (!stores_conditions(kind) && !hold(collective.chunk_bytes(ChunkId::at(next)), pieces, collective.size(group)))
      return false;
  }
  return true;
}

}  // namespace

bool ProcessGroup::operator==(const ProcessGroup& other) const {
  const bool same_conditions =
      conditions == other.conditions || (conditions && other.conditions && *conditions == *other.conditions);
  return members == other.members && kind == other.kind && size == other.size && chunks == other.chunks &&
         root == other.root && same_conditions;
}

Result<Collective> Collective::make(CollectiveRequest request) {
  if (request.groups.empty()) request.groups.emplace_back();
  if (request.groups.size() == 1 && request.groups.front().members.empty())
    for (std::size_t npu = 0; npu < request.npus; ++npu) request.groups.front().members.push_back(NpuId::at(npu));
  Diagnostics errors = check_groups(request);
  if (errors.empty()) append(errors, check_amounts(request));
  if (!errors.empty()) return errors;

  Collective made;
  made.npus_ = request.npus;
  made.first_chunk_.push_back(0);
  for (ProcessGroup& group : request.groups) made.add_part(request, group);
  made.add_memberships();
  made.kind_ = made.common_kind();
  TENEX_ENSURES(hold_all_bytes(made), "each group has chunks that hold all of its bytes");
  return made;
}

std::size_t Collective::class_for(Bytes chunk) {
  const auto known = std::find(chunk_sizes_.begin(), chunk_sizes_.end(), chunk);
  const auto index = static_cast<std::size_t>(known - chunk_sizes_.begin());
  if (known == chunk_sizes_.end()) chunk_sizes_.push_back(chunk);
  return index;
}

void Collective::add_part(const CollectiveRequest& request, ProcessGroup& group) {
  const GroupWork work = work_of(request, group);
  Part part{.kind = work.kind, .chunks = work.chunks, .size = work.size, .root = has_root(work.kind) ? work.root : 0};
  std::int64_t count = 0;
  if (stores_conditions(work.kind)) {
    auto sorted = std::make_shared<std::vector<Condition>>(*group.conditions);
    std::ranges::stable_sort(*sorted, {}, &Condition::source);
    for (Condition& condition : *sorted) std::ranges::sort(condition.destinations);
    std::map<Bytes, std::size_t> classes;  // a matrix may have as many sizes as pairs
    for (std::size_t c = 0; c < chunk_sizes_.size(); ++c) classes.emplace(chunk_sizes_[c], c);
    for (const Condition& condition : *sorted) {
      const Bytes chunk = bytes(ceil_div(condition.size.count(), work.chunks));
      const auto [known, fresh] = classes.try_emplace(chunk, chunk_sizes_.size());
      if (fresh) chunk_sizes_.push_back(chunk);
      part.class_of_condition.push_back(known->second);
    }
    count = static_cast<std::int64_t>(sorted->size()) * work.chunks;
    part.conditions = std::move(sorted);
    part.size_class = part.class_of_condition.front();
  } else {
    const std::int64_t of_buffer = chunks_of_buffer(work.kind, group.members.size(), work.chunks);
    count = of_buffer * buffers_of(work.kind, group.members.size());
    part.size_class = class_for(bytes(ceil_div(work.size.count(), of_buffer)));
  }
  first_chunk_.push_back(first_chunk_.back() + static_cast<std::size_t>(count));
  parts_.push_back(std::move(part));
  groups_.push_back({std::move(group.members)});
}

void Collective::add_memberships() {
  first_membership_.assign(npus_ + 1, 0);
  for (const ProcessGroup& group : groups_)
    for (const NpuId member : group.members) ++first_membership_[member.index() + 1];
  std::partial_sum(first_membership_.begin(), first_membership_.end(), first_membership_.begin());
  memberships_.resize(first_membership_.back());
  auto next = first_membership_;
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (std::size_t rank = 0; rank < groups_[g].members.size(); ++rank)
      memberships_[next[groups_[g].members[rank].index()]++] = {GroupId::at(g), static_cast<std::uint32_t>(rank)};
  in_order_ = groups_.size() == 1 && groups_.front().members.size() == npus_ &&
              std::ranges::is_sorted(groups_.front().members, {}, &NpuId::value);
}

CollectiveKind Collective::common_kind() const {
  const Part& first = parts_.front();
  const bool alike = std::ranges::all_of(parts_, [&](const Part& part) {
    return part.kind == first.kind && part.chunks == first.chunks && part.size == first.size && part.root == first.root;
  });
  for (std::size_t npu = 0; npu < npus_; ++npu)
    if (first_membership_[npu + 1] - first_membership_[npu] > 1) return CollectiveKind::mixed;
  return alike ? first.kind : CollectiveKind::mixed;
}

bool Collective::has_sums() const {
  return std::ranges::any_of(parts_, [](const Part& part) { return reduces(part.kind); });
}

bool Collective::is_unicast() const {
  return std::ranges::all_of(parts_, [](const Part& part) {
    if (part.conditions)
      return std::ranges::all_of(*part.conditions, [](const Condition& each) { return each.destinations.size() == 1; });
    return !reduces(part.kind) && !ends_everywhere(part.kind);
  });
}

GroupId Collective::group_of(ChunkId chunk) const {
  if (groups_.size() == 1) return GroupId(0);
  const auto after = std::upper_bound(first_chunk_.begin(), first_chunk_.end(), chunk.index());
  return GroupId::at(static_cast<std::size_t>(after - first_chunk_.begin()) - 1);
}

std::optional<std::uint32_t> Collective::find_rank(GroupId group, NpuId npu) const {
  const auto own = memberships(npu);
  if (own.size() == 1) return own.front().group == group ? std::optional(own.front().rank) : std::nullopt;
  const auto found = std::ranges::lower_bound(own, group, {}, &Membership::group);
  return found != own.end() && found->group == group ? std::optional(found->rank) : std::nullopt;
}

std::size_t Collective::size_class(ChunkId chunk) const {
  if (chunk_sizes_.size() == 1) return 0;
  const GroupId group = group_of(chunk);
  const Part& part = parts_[group.index()];
  if (!part.conditions) return part.size_class;
  return part.class_of_condition[local(group, chunk) / static_cast<std::size_t>(part.chunks)];
}

NpuId Collective::owner(ChunkId chunk) const {
  const GroupId group = group_of(chunk);
  const auto& members = groups_[group.index()].members;
  const Part& part = parts_[group.index()];
  if (owned_by_root(part.kind)) return members[part.root];
  if (const Condition* const stored = condition_of(group, chunk)) return members[stored->source];
  const auto chunks_per_owner =
      static_cast<std::size_t>(part.chunks) * (part.kind == CollectiveKind::all_to_all ? members.size() : 1);
  return members[local(group, chunk) / chunks_per_owner];
}

NpuId Collective::source(ChunkId chunk) const {
  const GroupId group = group_of(chunk);
  return kind(group) == CollectiveKind::scatter ? groups_[group.index()].members[root(group)] : owner(chunk);
}

Collective::Owned Collective::owned_by(const Membership& member) const {
  const Part& part = parts_[member.group.index()];
  const Owned all{first_chunk_[member.group.index()], chunks_in(member.group)};
  if (owned_by_root(part.kind)) return member.rank == part.root ? all : Owned{};
  if (part.conditions) {
    const auto& list = *part.conditions;
    const auto first = std::ranges::lower_bound(list, member.rank, {}, &Condition::source);
    const auto last = std::ranges::upper_bound(first, list.end(), member.rank, {}, &Condition::source);
    const auto c = static_cast<std::size_t>(part.chunks);
    return {all.first + static_cast<std::size_t>(first - list.begin()) * c, static_cast<std::size_t>(last - first) * c};
  }
  const std::size_t count = all.count / groups_[member.group.index()].members.size();
  return {all.first + member.rank * count, count};
}

Collective::Owned Collective::held_by(const Membership& member) const {
  const Part& part = parts_[member.group.index()];
  const Owned all{first_chunk_[member.group.index()], chunks_in(member.group)};
  if (reduces(part.kind)) return all;
  if (part.kind == CollectiveKind::scatter) return member.rank == part.root ? all : Owned{};
  return owned_by(member);
}

NpuId Collective::destination(ChunkId chunk) const {
  const GroupId group = group_of(chunk);
  const auto& members = groups_[group.index()].members;
  const Part& part = parts_[group.index()];
  ensure(!ends_everywhere(part.kind), "the chunk has many destinations");
  if (part.kind == CollectiveKind::gather) return members[part.root];
  if (const Condition* const stored = condition_of(group, chunk)) {
    ensure(stored->destinations.size() == 1, "the chunk has many destinations");
    return members[stored->destinations.front()];
  }
  if (part.kind != CollectiveKind::all_to_all) return owner(chunk);
  return members[local(group, chunk) / static_cast<std::size_t>(part.chunks) % members.size()];
}

bool Collective::holds_at_start(NpuId npu, ChunkId chunk) const {
  return !reduces(kind(group_of(chunk))) && source(chunk) == npu;
}

bool Collective::contributes(NpuId npu, ChunkId chunk) const {
  const GroupId group = group_of(chunk);
  return reduces(kind(group)) && rank_in(group, npu).has_value();
}

bool Collective::must_hold(NpuId npu, ChunkId chunk) const {
  const GroupId group = group_of(chunk);
  if (ends_everywhere(kind(group))) return rank_in(group, npu).has_value();
  const Condition* const stored = condition_of(group, chunk);
  if (stored == nullptr) return destination(chunk) == npu;
  const auto rank = rank_in(group, npu);
  return rank && std::ranges::binary_search(stored->destinations, *rank);
}

std::uint64_t Collective::required_deliveries() const {
  std::uint64_t total = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Part& part = parts_[g];
    const std::uint64_t members = groups_[g].members.size();
    const auto chunks = static_cast<std::uint64_t>(part.chunks);
    if (part.conditions) {
      for (const Condition& condition : *part.conditions) total += condition.destinations.size() * chunks;
      continue;
    }
    if (part.kind == CollectiveKind::all_to_all || part.kind == CollectiveKind::gather ||
        part.kind == CollectiveKind::scatter) {
      total += (part.kind == CollectiveKind::all_to_all ? members : 1) * (members - 1) * chunks;
      continue;
    }
    const std::uint64_t receivers = ends_everywhere(part.kind) ? members : 1;
    const std::uint64_t holders = reduces(part.kind) ? 0 : 1;
    total += (receivers - holders) * chunks_in(GroupId::at(g));
  }
  return total;
}

Digest Collective::work() const {
  DigestText key;
  for (const Part& part : parts_) {
    key.add(static_cast<std::int64_t>(part.kind));
    key.add(part.chunks);
    key.add(part.root);
    key.add_size(part.size_class);
    key.add_size(part.conditions ? part.conditions->size() : 0);
    for (std::size_t q = 0; part.conditions && q < part.conditions->size(); ++q) {
      key.add((*part.conditions)[q].source);
      key.add_size(part.class_of_condition[q]);
      key.add_size((*part.conditions)[q].destinations.size());
      for (const auto rank : (*part.conditions)[q].destinations) key.add(rank);
    }
  }
  return key.digest();
}

Collective Collective::as(CollectiveKind kind) const {
  const auto both = [&](auto holds) { return holds(kind) && holds(kind_); };
  const auto in_turn = [](CollectiveKind one) {
    return one == CollectiveKind::all_gather || one == CollectiveKind::reduce_scatter ||
           one == CollectiveKind::all_reduce;
  };
  const auto to_one = [](CollectiveKind one) {
    return one == CollectiveKind::gather || one == CollectiveKind::scatter;
  };
  ensure(kind == kind_ || both(in_turn) || both(owned_by_root) || both(to_one),
         "a collective turns only into one with the same chunks");
  Collective turned = *this;
  turned.kind_ = kind;
  for (Part& part : turned.parts_) part.kind = kind;
  return turned;
}

Collective Collective::only(GroupId group) const {
  TENEX_EXPECTS(group.index() < groups_.size(), "a group that exists");
  const Part& part = parts_[group.index()];
  ProcessGroup alone{groups_[group.index()].members};
  alone.conditions = part.conditions;
  return make({part.kind, npus_, {std::move(alone)}, part.chunks, part.size, part.root}).value();
}

}  // namespace tenex
