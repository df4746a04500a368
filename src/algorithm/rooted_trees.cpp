// Rooted collectives along trees (rooted_trees.hpp).
//
// Encoding: an All-Reduce is a forest of one tree (forest.hpp). Else upward one count of arrived children per NPU and
// slice, downward nothing. The ranks of a subtree stand together in an order that lists parents before their children.
// A message of Gather or Scatter is named by the chunk of its subtree's first rank.
#include "algorithm/rooted_trees.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "algorithm/seats.hpp"

namespace tenex {
namespace {

/// A tree over ranks counted from the root, with its subtrees.
class RankTree {
 public:
  RankTree(std::uint32_t members, std::vector<Tree::Edge> edges)
      : forest_(std::make_shared<const Forest>(members, std::vector<Tree>{{0, std::move(edges)}},
                                               equal_shares(members, 1))),
        place_(members),
        size_(members, 1) {
    std::vector<std::uint32_t> open{0};
    while (!open.empty()) {
      const auto rank = open.back();
      open.pop_back();
      place_[rank] = static_cast<std::uint32_t>(order_.size());
      order_.push_back(rank);
      for (const auto child : children(rank)) open.push_back(child);
    }
    for (auto i = members; i-- > 1;) size_[forest_->parent(0, order_[i])] += size_[order_[i]];
  }

  [[nodiscard]] const std::shared_ptr<const Forest>& forest() const { return forest_; }
  [[nodiscard]] std::uint32_t parent(std::uint32_t rank) const { return forest_->parent(0, rank); }
  [[nodiscard]] std::span<const std::uint32_t> children(std::uint32_t rank) const { return forest_->children(0, rank); }
  /// The ranks of a subtree.
  [[nodiscard]] std::span<const std::uint32_t> subtree(std::uint32_t rank) const {
    return std::span(order_).subspan(place_[rank], size_[rank]);
  }

 private:
  std::shared_ptr<const Forest> forest_;
  std::vector<std::uint32_t> order_;  ///< parents before their children, subtrees together
  std::vector<std::uint32_t> place_;  ///< in it, by rank
  std::vector<std::uint32_t> size_;   ///< of subtrees, by rank
};

/// A rooted collective and the trees of its groups.
class RootedTrees {
 public:
  RootedTrees(const Collective& collective, std::vector<std::shared_ptr<const RankTree>> trees)
      : seats_(collective), trees_(std::move(trees)) {}

  [[nodiscard]] const Seats& seats() const { return seats_; }
  [[nodiscard]] const RankTree& tree(GroupId group) const { return *trees_[group.index()]; }
  [[nodiscard]] bool upward() const {
    return seats_.kind() == CollectiveKind::gather || seats_.kind() == CollectiveKind::reduce;
  }
  /// Whether messages carry the chunks of subtrees.
  [[nodiscard]] bool carries_subtrees() const { return !owned_by_root(seats_.kind()); }
  /// The rank counted from the root on.
  [[nodiscard]] std::uint32_t from_root(const Seat& me) const {
    return me.offset_from(seats_.collective().root(me.group));
  }
  [[nodiscard]] std::uint32_t rank_of(const Seat& me, std::uint32_t from_root) const {
    const auto sum = std::uint64_t{seats_.collective().root(me.group)} + from_root;
    return static_cast<std::uint32_t>(sum < me.members ? sum : sum - me.members);
  }

  /// Appends the message of a slice to the parent.
  void send_up(const Seat& me, std::uint32_t slice, std::vector<Message>& out) const {
    const auto mine = from_root(me);
    send(me, tree(me.group).parent(mine), mine, slice, out);
  }
  /// Appends the messages of a slice to the children.
  void send_down(const Seat& me, std::uint32_t slice, std::vector<Message>& out) const {
    for (const auto child : tree(me.group).children(from_root(me))) send(me, child, child, slice, out);
  }

 private:
  /// A message over the edge above the subtree of `child`; both ranks are counted from the root.
  void send(const Seat& me, std::uint32_t to, std::uint32_t child, std::uint32_t slice,
            std::vector<Message>& out) const {
    emit(out, me.npu, seats_.npu_at(me.group, rank_of(me, to)),
         seats_.chunk(me, carries_subtrees() ? rank_of(me, child) : 0, slice),
         seats_.kind() == CollectiveKind::reduce ? Stage::reduce : Stage::copy,
         carries_subtrees() ? static_cast<std::uint32_t>(tree(me.group).subtree(child).size()) : 1);
  }

  Seats seats_;
  std::vector<std::shared_ptr<const RankTree>> trees_;  ///< by group
};

class RootedState final : public ProgramState {
 public:
  explicit RootedState(std::shared_ptr<const RootedTrees> trees) : trees_(std::move(trees)) {
    const auto& seats = trees_->seats();
    if (trees_->upward()) arrived_.assign(seats.collective().npus() * seats.chunks_per_npu(), 0);
  }

  void start(NpuId npu, std::vector<Message>& out) override {
    if (!trees_->seats().takes_part(npu)) return;
    const auto me = trees_->seats().of(npu);
    const auto mine = trees_->from_root(me);
    const bool leaf = trees_->tree(me.group).children(mine).empty();
    for (std::uint32_t slice = 0; slice < trees_->seats().chunks_per_npu(); ++slice) {
      if (trees_->upward() && leaf) trees_->send_up(me, slice, out);
      if (!trees_->upward() && mine == 0) trees_->send_down(me, slice, out);
    }
  }

  void arrive(const Message& message, std::vector<Message>& out) override {
    const auto me = trees_->seats().of(message.destination);
    const auto slice = trees_->seats().part(me, message.chunk).k;
    if (!trees_->upward()) return trees_->send_down(me, slice, out);
    const auto mine = trees_->from_root(me);
    auto& arrived = arrived_[me.npu.index() * trees_->seats().chunks_per_npu() + slice];
    if (++arrived == trees_->tree(me.group).children(mine).size() && mine != 0) trees_->send_up(me, slice, out);
  }

 private:
  std::shared_ptr<const RootedTrees> trees_;
  std::vector<std::uint16_t> arrived_;  ///< per NPU and slice: children whose message has arrived; upward only
};

class RootedProgram final : public Program {
 public:
  explicit RootedProgram(std::shared_ptr<const RootedTrees> trees) : trees_(std::move(trees)) {}

  [[nodiscard]] std::unique_ptr<ProgramState> begin() const override { return std::make_unique<RootedState>(trees_); }
  [[nodiscard]] std::uint64_t messages() const override {
    std::uint64_t total = 0;
    for (const auto& group : trees_->seats().collective().groups()) total += group.members.size() - 1;
    return total * trees_->seats().chunks_per_npu();
  }
  [[nodiscard]] std::vector<std::uint32_t> message_sizes() const override {
    if (!trees_->carries_subtrees()) return {1};
    std::set<std::uint32_t> sizes;
    const auto& groups = trees_->seats().collective().groups();
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (std::uint32_t rank = 1; rank < groups[g].members.size(); ++rank)
        sizes.insert(static_cast<std::uint32_t>(trees_->tree(GroupId::at(g)).subtree(rank).size()));
    return {sizes.begin(), sizes.end()};
  }

  void chunks_of(const Message& message, std::vector<ChunkId>& out) const override {
    const auto& seats = trees_->seats();
    if (!trees_->carries_subtrees()) return out.push_back(message.chunk);
    const auto me = seats.of(message.destination);
    const auto [top, slice] = seats.part(me, message.chunk);
    const auto root = seats.collective().root(me.group);
    const auto first = out.size();
    for (const auto rank : trees_->tree(me.group).subtree(top >= root ? top - root : top + me.members - root))
      out.push_back(seats.chunk(me, trees_->rank_of(me, rank), slice));
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
  }

 private:
  std::shared_ptr<const RootedTrees> trees_;
};

}  // namespace

ProgramResult make_rooted_trees(const Collective& collective, const TreeEdges& edges) {
  std::map<std::uint32_t, std::shared_ptr<const RankTree>> by_size;
  std::vector<std::shared_ptr<const RankTree>> trees;
  std::vector<std::shared_ptr<const Forest>> forests;
  for (const auto& group : collective.groups()) {
    const auto members = static_cast<std::uint32_t>(group.members.size());
    auto& tree = by_size[members];
    if (!tree) tree = std::make_shared<const RankTree>(members, edges(members));
    trees.push_back(tree);
    forests.push_back(tree->forest());
  }
  if (collective.kind() == CollectiveKind::all_reduce) return make_forest(collective, std::move(forests));
  return std::shared_ptr<const Program>(
      std::make_shared<RootedProgram>(std::make_shared<const RootedTrees>(collective, std::move(trees))));
}

}  // namespace tenex
