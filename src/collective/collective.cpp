// A collective as arithmetic over its groups: nothing is stored per chunk.
#include "tenex/collective/collective.hpp"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "tenex/base/bitset.hpp"
#include "tenex/base/units.hpp"

namespace tenex {

namespace {

constexpr std::int64_t kMostChunks = std::numeric_limits<std::uint32_t>::max() - 1;

/// Whether every member ends with every chunk of the group (else only the chunk's owner does).
bool gathers(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::all_reduce || kind == CollectiveKind::broadcast;
}

/// The number of chunks into which S is cut in a group of n members: c per NPU, or c in all for kinds with a root.
std::int64_t chunks_of_buffer(CollectiveKind kind, std::size_t members, std::int64_t per_npu) {
  return has_root(kind) ? per_npu : static_cast<std::int64_t>(members) * per_npu;
}

/// The number of buffers of that kind in a group: in All-to-All every NPU has its own send buffer.
std::int64_t buffers_of(CollectiveKind kind, std::size_t members) {
  return kind == CollectiveKind::all_to_all ? static_cast<std::int64_t>(members) : 1;
}

Diagnostics check_groups(const CollectiveRequest& request) {
  Diagnostics errors;
  Bitset taken(request.npus);
  for (const ProcessGroup& group : request.groups) {
    if (group.members.size() < 2) {
      errors.push_back(input_error({}, fmt::format("a process group of {} NPUs", group.members.size()),
                                   "a process group has at least two"));
    }
    for (const NpuId npu : group.members) {
      if (npu.index() >= request.npus) {
        errors.push_back(input_error({}, fmt::format("NPU {} of a process group does not exist", npu.value()),
                                     fmt::format("the topology has {} NPUs", request.npus)));
      } else if (!taken.insert(npu.index())) {
        errors.push_back(input_error({}, fmt::format("NPU {} is in process groups twice", npu.value()),
                                     "an NPU belongs to at most one group, once"));
      }
    }
    if (has_root(request.kind) && request.root >= group.members.size()) {
      errors.push_back(input_error({}, fmt::format("root {} of a group of {} NPUs", request.root, group.members.size()),
                                   "the root is a rank inside each group, counted from 0"));
    }
  }
  return errors;
}

/// The error for too many chunks; it names their number: "70000 * 70000 * 1 = 4900000000 chunks".
Diagnostic too_many_chunks(const CollectiveRequest& request) {
  double total = 0;  // may exceed 64 bits
  for (const ProcessGroup& group : request.groups) {
    const auto members = group.members.size();
    total += (has_root(request.kind) ? 1.0 : static_cast<double>(members * buffers_of(request.kind, members))) *
             static_cast<double>(request.chunks);
  }
  const auto& first = request.groups.front().members;
  const bool pairs = request.kind == CollectiveKind::all_to_all;
  const std::string factors =
      request.groups.size() > 1 || has_root(request.kind)
          ? ""
          : fmt::format("{}{} * {} = ", pairs ? fmt::format("{} * ", first.size()) : "", first.size(), request.chunks);
  return resource_error(fmt::format("{}{:.0f} chunks cannot be addressed", factors, total),
                        fmt::format("32-bit ids address at most {} chunks", kMostChunks),
                        pairs                ? "choose fewer NPUs, smaller process groups or fewer chunks"
                        : request.chunks > 1 ? "choose fewer chunks per NPU"
                                             : "choose fewer NPUs");
}

/// Checks c and S against the groups; assumes that there are groups.
Diagnostics check_amounts(const CollectiveRequest& request) {
  if (request.chunks < 1) {
    return {input_error({}, fmt::format("{} chunks", request.chunks), "a collective has at least one chunk per NPU")};
  }
  std::int64_t total = 0;
  std::size_t largest = 0;
  for (const ProcessGroup& group : request.groups) {
    largest = std::max(largest, group.members.size());
    // At most 2^32 NPUs, squared: below 2^63 only if a study's limits hold, so the product is taken in steps.
    const auto members = static_cast<std::int64_t>(group.members.size());
    const auto buffers = buffers_of(request.kind, group.members.size());
    const auto units = has_root(request.kind)            ? 1
                       : members > kMostChunks / buffers ? kMostChunks + 1
                                                         : members * buffers;
    if (units != 0 && request.chunks > (kMostChunks - total) / units) return {too_many_chunks(request)};
    total += units * request.chunks;
  }
  const Bytes least = bytes(chunks_of_buffer(request.kind, largest, request.chunks));
  if (request.size >= least) return {};
  const std::string rule = has_root(request.kind)
                               ? fmt::format("every chunk holds a byte at least: c = {}", request.chunks)
                               : fmt::format("every chunk holds a byte at least: n*c = {}*{}", largest, request.chunks);
  return {input_error({}, fmt::format("a collective size of {} is too small", to_string(request.size)), rule,
                      fmt::format("use {} or more", to_string(least)))};
}

}  // namespace

Result<Collective> Collective::make(CollectiveRequest request) {
  if (request.groups.empty()) {
    ProcessGroup all;
    for (std::size_t npu = 0; npu < request.npus; ++npu) all.members.push_back(NpuId::at(npu));
    request.groups.push_back(std::move(all));
  }
  Diagnostics errors = check_groups(request);
  append(errors, check_amounts(request));
  if (!errors.empty()) return errors;

  Collective made;
  made.kind_ = request.kind;
  made.npus_ = request.npus;
  made.chunks_per_npu_ = request.chunks;
  made.size_ = request.size;
  made.root_ = has_root(request.kind) ? request.root : 0;
  made.group_of_npu_.assign(request.npus, GroupId::none());
  made.rank_of_npu_.assign(request.npus, 0);
  made.first_chunk_.push_back(0);
  for (std::size_t g = 0; g < request.groups.size(); ++g) {
    const auto& members = request.groups[g].members;
    for (std::size_t rank = 0; rank < members.size(); ++rank) {
      made.group_of_npu_[members[rank].index()] = GroupId::at(g);
      made.rank_of_npu_[members[rank].index()] = static_cast<std::uint32_t>(rank);
    }
    const std::int64_t count = chunks_of_buffer(request.kind, members.size(), request.chunks);
    made.first_chunk_.push_back(made.first_chunk_.back() +
                                static_cast<std::size_t>(count * buffers_of(request.kind, members.size())));
    const Bytes chunk = bytes(ceil_div(request.size.count(), count));
    const auto known = std::find(made.chunk_sizes_.begin(), made.chunk_sizes_.end(), chunk);
    made.size_class_of_group_.push_back(static_cast<std::size_t>(known - made.chunk_sizes_.begin()));
    if (known == made.chunk_sizes_.end()) made.chunk_sizes_.push_back(chunk);
  }
  made.groups_ = std::move(request.groups);
  return made;
}

GroupId Collective::group_of(ChunkId chunk) const {
  if (groups_.size() == 1) return GroupId(0);
  const auto after = std::upper_bound(first_chunk_.begin(), first_chunk_.end(), chunk.index());
  return GroupId::at(static_cast<std::size_t>(after - first_chunk_.begin()) - 1);
}

NpuId Collective::owner(ChunkId chunk) const {
  const GroupId group = group_of(chunk);
  const auto& members = groups_[group.index()].members;
  if (has_root(kind_)) return members[root_];
  const auto chunks_per_owner =
      static_cast<std::size_t>(chunks_per_npu_) * (kind_ == CollectiveKind::all_to_all ? members.size() : 1);
  return members[(chunk.index() - first_chunk_[group.index()]) / chunks_per_owner];
}

Collective::Owned Collective::owned_by(NpuId npu) const {
  const GroupId group = group_of(npu);
  if (!group.exists()) return {};
  const Owned all{first_chunk_[group.index()], chunks_in(group)};
  if (has_root(kind_)) return rank_of(npu) == root_ ? all : Owned{};
  const std::size_t count = all.count / groups_[group.index()].members.size();
  return {all.first + rank_of(npu) * count, count};
}

NpuId Collective::destination(ChunkId chunk) const {
  ensure(kind_ == CollectiveKind::all_to_all, "only a chunk of an All-to-All has one destination");
  const GroupId group = group_of(chunk);
  const auto& members = groups_[group.index()].members;
  const auto pair = (chunk.index() - first_chunk_[group.index()]) / static_cast<std::size_t>(chunks_per_npu_);
  return members[pair % members.size()];
}

bool Collective::holds_at_start(NpuId npu, ChunkId chunk) const { return !reduces(kind_) && owner(chunk) == npu; }

bool Collective::contributes(NpuId npu, ChunkId chunk) const {
  return reduces(kind_) && group_of(npu) == group_of(chunk);
}

bool Collective::must_hold(NpuId npu, ChunkId chunk) const {
  if (kind_ == CollectiveKind::all_to_all) return destination(chunk) == npu;
  return gathers(kind_) ? group_of(npu) == group_of(chunk) : owner(chunk) == npu;
}

std::uint64_t Collective::required_deliveries() const {
  std::uint64_t total = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (kind_ == CollectiveKind::all_to_all) {
      const std::uint64_t members = groups_[g].members.size();
      total += members * (members - 1) * static_cast<std::uint64_t>(chunks_per_npu_);
      continue;
    }
    const std::uint64_t receivers = gathers(kind_) ? groups_[g].members.size() : 1;
    const std::uint64_t holders = reduces(kind_) ? 0 : 1;
    total += (receivers - holders) * chunks_in(GroupId::at(g));
  }
  return total;
}

Collective Collective::as(CollectiveKind kind) const {
  ensure(has_root(kind) == has_root(kind_) &&
             (kind == CollectiveKind::all_to_all) == (kind_ == CollectiveKind::all_to_all),
         "a collective turns only into one with the same chunks");
  Collective turned = *this;
  turned.kind_ = kind;
  return turned;
}

}  // namespace tenex
