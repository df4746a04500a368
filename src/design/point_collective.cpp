// The collective of a point.
//
// A halo exchange runs over the shape as a grid of processes: in every dimension an NPU has the neighbours before and
// after it; the ends of a dimension are neighbours unless they are farthest apart there (a line). S is the send buffer
// of an NPU with all neighbours.
//
// Conditions that are cut by size (`piece`) are kept as several conditions between the same ranks.
#include "tenex/design/point_collective.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "tenex/base/units.hpp"
#include "tenex/topology/block.hpp"

namespace tenex {
namespace {

using Conditions = std::vector<Condition>;

/// `piece = "auto"`: so many pieces of what the busiest source sends. The last ones fill the links that would else wait
/// for a whole one; more pieces gain less than they cost.
constexpr std::int64_t kAutomaticPieces = 512;

/// Each is a condition of its own, of some 100 bytes.
constexpr double kMostPieces = 0x1p24;

/// What a group runs.
struct GroupRun {
  CollectiveKind kind;
  std::int64_t chunks;
  Bytes size;
  Bytes piece = kNoPiece;  ///< cuts conditions in place of `chunks`
};

/// A group that states chunks of its own, more than one, keeps them.
GroupRun run_of(const DesignPoint& point, const ProcessGroup& group) {
  const auto& collective = point.collective();
  GroupRun run{group.kind.value_or(collective.kind), group.chunks.value_or(point.chunks),
               group.size.value_or(collective.size)};
  if (collective.piece == kNoPiece || !stores_conditions(run.kind) || group.chunks.value_or(1) > 1) return run;
  run.chunks = 1;
  run.piece = collective.piece;
  return run;
}

Bytes automatic_piece(Bytes most_sent) { return bytes(ceil_div(most_sent.count(), kAutomaticPieces)); }

/// The number of pieces of a condition, all of the same size.
std::int64_t pieces_of(Bytes size, Bytes piece) {
  return piece == kNoPiece ? 1 : ceil_div(size.count(), piece.count());
}

/// `amount` of `total` parts of S, at least a byte per chunk.
Bytes share_of(Bytes size, std::int64_t amount, std::int64_t total) {
  const auto product = static_cast<__int128>(size.count()) * amount;
  return bytes(static_cast<std::int64_t>((product + total - 1) / total));
}

Result<Conditions> matrix_conditions(const TrafficMatrix& matrix, std::size_t members, Bytes size) {
  if (matrix.ranks() == 0)
    return input_error({}, "collective all_to_allv without a matrix", "it says how much goes from whom to whom",
                       "write for instance matrix = \"0,2,2; 1,0,1; 1,1,0\"");
  if (matrix.ranks() != members)
    return input_error({}, fmt::format("a matrix of {} ranks for a group of {} NPUs", matrix.ranks(), members),
                       "it has an amount from every rank to every rank");
  Conditions conditions;
  for (std::uint32_t from = 0; from < members; ++from)
    for (std::uint32_t to = 0; to < members; ++to)
      if (const auto amount = matrix.amount(from, to); from != to && amount > 0)
        conditions.push_back({from, {to}, share_of(size, amount, matrix.most_sent())});
  return conditions;
}

Result<Conditions> listed_conditions(const ConditionList& list, Bytes size) {
  if (list.conditions().empty())
    return input_error({}, "collective conditions without conditions", "they say what goes from where to where",
                       "write for instance conditions = \"0 -> 1,2; 3 -> 4\"");
  Conditions conditions;
  for (const auto& [source, destinations, own] : list.conditions()) {
    if (!own && size == bytes(0))
      return input_error({}, fmt::format("a condition of source {} without a size", source),
                         "neither it nor the collective states one", "write it after the destinations, or give size");
    conditions.push_back({source, destinations, own.value_or(size)});
  }
  return conditions;
}

/// What the source of most conditions' bytes sends, by rank.
template <class List>
Bytes most_sent(const List& conditions) {
  std::map<std::uint32_t, Bytes> sent;
  Bytes most;
  for (const auto& [source, size] : conditions) {
    Bytes& all = sent[source];
    all = all > Bytes::max() - size ? Bytes::max() : all + size;
    most = std::max(most, all);
  }
  return most;
}

/// Cuts every condition to equal pieces of a size at most.
Result<Conditions> in_pieces(Conditions whole, Bytes piece) {
  if (piece == kAutomaticPiece) {
    std::vector<std::pair<std::uint32_t, Bytes>> sizes;
    for (const Condition& each : whole) sizes.emplace_back(each.source, each.size);
    piece = automatic_piece(most_sent(sizes));
  }
  double all = 0;
  for (const Condition& each : whole) all += static_cast<double>(pieces_of(each.size, piece));
  if (all > kMostPieces)
    return input_error({}, fmt::format("{:.0f} pieces of up to {}", all, to_string(piece)),
                       fmt::format("at most {:.0f} are kept", kMostPieces), "choose larger pieces");
  Conditions cut;
  cut.reserve(static_cast<std::size_t>(all));
  for (Condition& each : whole) {
    const std::int64_t pieces = pieces_of(each.size, piece);
    each.size = bytes(ceil_div(each.size.count(), pieces));
    cut.insert(cut.end(), static_cast<std::size_t>(pieces), each);
  }
  return cut;
}

/// Whether the last position of a dimension is next to the first one: everywhere but on a line.
bool closes(const Block& block) {
  const auto last = block.size - 1;
  return last > 1 && !(block.rule->stepwise && block.rule->hops(0, last, block) == last);
}

/// The most neighbours that an NPU of the grid has.
std::int64_t most_neighbours(const Shape& shape) {
  std::int64_t count = 0;
  for (const Block& block : shape.blocks) count += block.size > 2 ? 2 : block.size > 1 ? 1 : 0;
  return count;
}

Result<Conditions> halo_conditions(const Shape& shape, const std::vector<NpuId>& members, Bytes size) {
  if (shape.blocks.empty() || !shape.is_product())
    return input_error({}, "collective halo_exchange without a shape of dimensions",
                       "an NPU exchanges with its neighbours along the dimensions of a shape",
                       "name a shape such as torus(8,8), or write the conditions");
  constexpr auto kOutside = static_cast<std::uint32_t>(-1);
  std::vector<std::uint32_t> rank_of(shape.npus(), kOutside);
  for (std::uint32_t rank = 0; rank < members.size(); ++rank) rank_of[members[rank].index()] = rank;
  const Bytes each = share_of(size, 1, std::max<std::int64_t>(1, most_neighbours(shape)));
  Conditions conditions;
  for (std::uint32_t rank = 0; rank < members.size(); ++rank) {
    std::size_t stride = 1;
    for (const Block& block : shape.blocks) {
      const std::size_t npu = members[rank].index();
      const std::size_t position = npu / stride % block.size;
      const std::size_t first = npu - position * stride;
      const auto exchange = [&](std::size_t with) {
        if (const auto other = rank_of[first + with * stride]; other != kOutside)
          conditions.push_back({rank, {other}, each});
      };
      if (position + 1 < block.size) exchange(position + 1);
      if (position > 0) exchange(position - 1);
      if (position + 1 == block.size && closes(block)) exchange(0);
      if (position == 0 && closes(block)) exchange(block.size - 1);
      stride *= block.size;
    }
  }
  if (conditions.empty())
    return input_error({}, "a halo exchange in a group without neighbours",
                       "no two of its NPUs are next to each other in a dimension of the shape",
                       "name other NPUs, or write the conditions");
  return conditions;
}

Result<Conditions> conditions_for(const DesignPoint& point, const GroupRun& run, const std::vector<NpuId>& members) {
  const auto& collective = point.collective();
  if (run.kind == CollectiveKind::all_to_allv) return matrix_conditions(collective.matrix, members.size(), run.size);
  if (run.kind == CollectiveKind::conditions) return listed_conditions(collective.conditions, run.size);
  return halo_conditions(point.topology.shape, members, run.size);
}

/// The conditions of a group in numbers, once they are cut to pieces.
struct ConditionSizes {
  double count = 0;
  double deliveries = 0;
  Bytes smallest = Bytes::max();
  Bytes largest;

  /// `alike` conditions with so many destinations each.
  void add(double alike, Bytes size, std::size_t destinations, Bytes piece) {
    const std::int64_t pieces = pieces_of(size, piece);
    const Bytes each = bytes(ceil_div(size.count(), pieces));
    count += alike * static_cast<double>(pieces);
    deliveries += alike * static_cast<double>(pieces) * static_cast<double>(destinations);
    smallest = std::min(smallest, each);
    largest = std::max(largest, each);
  }
};

ConditionSizes sizes_of_matrix(const TrafficMatrix& matrix, Bytes size, Bytes piece) {
  const auto most = std::max<std::int64_t>(1, matrix.most_sent());
  if (piece == kNoPiece) {
    const auto count = static_cast<double>(matrix.pairs());
    return {count, count, share_of(size, 1, most), size};
  }
  ConditionSizes sizes;
  for (std::size_t from = 0; from < matrix.ranks(); ++from)
    for (std::size_t to = 0; to < matrix.ranks(); ++to)
      if (from != to && matrix.amount(from, to) > 0)
        sizes.add(1, share_of(size, matrix.amount(from, to), most), 1, piece);
  return sizes;
}

ConditionSizes sizes_of_list(const ConditionList& list, Bytes size, Bytes piece) {
  if (piece == kAutomaticPiece) {
    std::vector<std::pair<std::uint32_t, Bytes>> sent;
    for (const auto& each : list.conditions()) sent.emplace_back(each.source, each.size.value_or(size));
    piece = automatic_piece(most_sent(sent));
  }
  ConditionSizes sizes;
  for (const auto& each : list.conditions()) sizes.add(1, each.size.value_or(size), each.destinations.size(), piece);
  return sizes;
}

ConditionSizes condition_sizes(const DesignPoint& point, const GroupRun& run, std::uint64_t members) {
  const auto& collective = point.collective();
  if (run.kind == CollectiveKind::conditions) return sizes_of_list(collective.conditions, run.size, run.piece);
  const Bytes piece = run.piece == kAutomaticPiece ? automatic_piece(run.size) : run.piece;
  if (run.kind == CollectiveKind::all_to_allv) return sizes_of_matrix(collective.matrix, run.size, piece);
  const auto neighbours = std::max<std::int64_t>(1, most_neighbours(point.topology.shape));
  ConditionSizes sizes;
  sizes.add(static_cast<double>(members) * static_cast<double>(neighbours), share_of(run.size, 1, neighbours), 1,
            piece);
  return sizes;
}

/// The sizes of a kind that stores no conditions.
GroupSizes plain_sizes(const GroupRun& run, std::uint64_t members) {
  const auto c = static_cast<std::uint64_t>(run.chunks);
  const std::uint64_t of_buffer = owned_by_root(run.kind) ? c : members * c;
  GroupSizes sizes{.kind = run.kind, .members = members, .chunks = of_buffer};
  if (run.kind == CollectiveKind::all_to_all) sizes.chunks *= members;
  const bool to_one = run.kind == CollectiveKind::gather || run.kind == CollectiveKind::scatter;
  sizes.deliveries = static_cast<double>(to_one ? c : of_buffer) * (static_cast<double>(members) - 1);
  sizes.smallest_chunk = sizes.largest_chunk =
      bytes(ceil_div(run.size.count(), std::max<std::int64_t>(1, static_cast<std::int64_t>(of_buffer))));
  return sizes;
}

/// The chunks per NPU of a kind that stores no conditions of which none is larger than a piece.
std::int64_t chunks_that_fit(CollectiveKind kind, Bytes size, std::uint64_t members, Bytes piece) {
  if (piece == kAutomaticPiece) piece = automatic_piece(size);
  return std::max<std::int64_t>(1, pieces_of(plain_sizes({kind, 1, size}, members).largest_chunk, piece));
}

/// What a group has of its own once the point's values fill the gaps.
void fill(ProcessGroup& group, const CollectivePoint& collective, std::int64_t chunks) {
  group.kind = group.kind.value_or(collective.kind);
  group.size = group.size.value_or(collective.size);
  if (!group.chunks && collective.piece != kNoPiece && !stores_conditions(*group.kind))
    group.chunks = chunks_that_fit(*group.kind, *group.size, group.members.size(), collective.piece);
  group.chunks = group.chunks.value_or(chunks);
  group.root = has_root(*group.kind) ? group.root.value_or(collective.root) : 0;
}

/// Takes failed NPUs (in order of ids) out of groups of all NPUs.
Status drop_failed(std::vector<ProcessGroup>& groups, const std::vector<NpuId>& failed, std::size_t npus) {
  const auto has_failed = [&](NpuId npu) { return std::ranges::binary_search(failed, npu); };
  for (ProcessGroup& group : groups) {
    if (has_everyone(group, npus)) {
      std::erase_if(group.members, has_failed);
      if (group.members.size() > 1) continue;
      return input_error({}, fmt::format("{} of {} NPUs have failed", failed.size(), npus),
                         "a collective has at least two NPUs");
    }
    std::vector<NpuId> lost;
    std::ranges::copy_if(group.members, std::back_inserter(lost), has_failed);
    if (lost.empty()) continue;
    return input_error({}, "a process group has lost " + few_of(lost), "only `all` stands for the NPUs that are left",
                       "choose another draw, or groups = all");
  }
  return success();
}

}  // namespace

bool has_everyone(const ProcessGroup& group, std::size_t npus) {
  if (group.members.size() != npus) return false;
  for (std::size_t i = 0; i < npus; ++i)
    if (group.members[i].index() != i) return false;
  return true;
}

Result<CollectiveRequest> collective_request(const DesignPoint& point, std::size_t npus) {
  const auto& runs = point.collective();
  CollectiveRequest request{runs.kind, npus, runs.groups.list(), point.chunks, runs.size, runs.root};
  if (request.groups.empty()) request.groups.emplace_back();
  if (request.groups.front().members.empty())
    for (std::size_t npu = 0; npu < npus; ++npu) request.groups.front().members.push_back(NpuId::at(npu));
  const auto failed = failed_npus(point.topology.faults, npus, point.seed);
  if (!failed.empty())
    if (const auto kept = drop_failed(request.groups, failed, npus); !kept) return kept.errors();
  for (ProcessGroup& group : request.groups) {
    const GroupRun run = run_of(point, group);
    if (run.size == bytes(0) && run.kind != CollectiveKind::conditions && run.kind != CollectiveKind::mixed)
      return input_error({}, fmt::format("a group of {} without a size", to_string(run.kind)),
                         "neither it nor the collective states one", "write it after the group's NPUs, or give size");
    if (!stores_conditions(run.kind)) continue;
    auto conditions = conditions_for(point, run, group.members);
    if (!conditions) return conditions.errors();
    if (run.piece != kNoPiece) {
      conditions = in_pieces(*std::move(conditions), run.piece);
      if (!conditions) return conditions.errors();
      group.chunks = 1;
    }
    group.conditions = std::make_shared<const Conditions>(*std::move(conditions));
  }
  return request;
}

GroupSizes group_sizes(const DesignPoint& point, const ProcessGroup& group, std::uint64_t members) {
  const GroupRun run = run_of(point, group);
  if (!stores_conditions(run.kind)) return plain_sizes(run, members);
  const auto conditions = condition_sizes(point, run, members);
  const auto chunk = [&](Bytes size) { return bytes(ceil_div(size.count(), run.chunks)); };
  return {run.kind,
          members,
          static_cast<std::uint64_t>(conditions.count) * static_cast<std::uint64_t>(run.chunks),
          conditions.deliveries * static_cast<double>(run.chunks),
          chunk(conditions.smallest),
          chunk(conditions.largest),
          static_cast<std::uint64_t>(conditions.count)};
}

GroupSizes group_sizes(const Collective& collective, GroupId group) {
  const auto members = collective.groups()[group.index()].members.size();
  const GroupRun run{collective.kind(group), collective.chunks_per_npu(group), collective.size(group)};
  if (!stores_conditions(run.kind)) return plain_sizes(run, members);
  GroupSizes sizes{.kind = run.kind, .members = members, .chunks = collective.chunks_in(group)};
  sizes.conditions = collective.conditions(group).size();
  sizes.smallest_chunk = Bytes::max();
  sizes.largest_chunk = bytes(0);
  for (const Condition& condition : collective.conditions(group)) {
    const Bytes chunk = bytes(ceil_div(condition.size.count(), run.chunks));
    sizes.deliveries += static_cast<double>(condition.destinations.size()) * static_cast<double>(run.chunks);
    sizes.smallest_chunk = std::min(sizes.smallest_chunk, chunk);
    sizes.largest_chunk = std::max(sizes.largest_chunk, chunk);
  }
  return sizes;
}

bool have_own(const std::vector<ProcessGroup>& groups) {
  return std::ranges::any_of(
      groups, [](const ProcessGroup& group) { return group.kind || group.size || group.chunks || group.root; });
}

bool is_counted(const CollectivePoint& collective) {
  return collective.kind != CollectiveKind::mixed && !stores_conditions(collective.kind);
}

std::int64_t chunks_of_piece(const CollectivePoint& collective, std::int64_t chunks, std::size_t npus) {
  if (!is_counted(collective) || collective.size == bytes(0)) return chunks;
  std::size_t members = npus;  // of the smallest group, which has the largest chunks
  for (const ProcessGroup& group : collective.groups.list())
    if (!group.members.empty()) members = std::min(members, group.members.size());
  return chunks_that_fit(collective.kind, collective.size, members, collective.piece);
}

std::optional<Bytes> largest_of_unlike_conditions(const DesignPoint& point) {
  const auto& collective = point.collective();
  // Of a whole matrix the sizes are estimates; pieces as large as all that one source sends cut nothing.
  const Bytes whole = collective.kind == CollectiveKind::all_to_allv ? collective.size : kNoPiece;
  if (!stores_conditions(collective.kind)) return std::nullopt;
  const auto sizes = condition_sizes(point, {collective.kind, 1, collective.size, whole}, point.topology.npus());
  return sizes.smallest < sizes.largest ? std::optional(sizes.largest) : std::nullopt;
}

void settle_groups(CollectivePoint& collective, std::int64_t chunks, std::size_t npus) {
  auto groups = collective.groups.list();
  if (!have_own(groups)) return;
  for (ProcessGroup& group : groups) fill(group, collective, chunks);
  const bool as_the_point = std::ranges::all_of(groups, [&](const ProcessGroup& group) {
    return group.kind == collective.kind && group.size == collective.size && group.chunks == chunks &&
           group.root == (has_root(collective.kind) ? collective.root : 0);
  });
  if (as_the_point) {
    for (ProcessGroup& group : groups) group = {std::move(group.members)};
  } else {
    collective.kind = CollectiveKind::mixed;
  }
  collective.groups = Groups(std::move(groups), npus);
}

}  // namespace tenex
