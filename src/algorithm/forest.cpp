// All-Reduce, All-Gather and Reduce-Scatter along trees (forest.hpp).
//
// Encoding: one count of arrived children per slice, tree and NPU. A message is named by its first chunk, which gives
// tree and slice.
#include "algorithm/forest.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "algorithm/seats.hpp"
#include "algorithm/textbook.hpp"

namespace tenex {

Forest::Forest(std::uint32_t members, std::vector<Tree> trees, const std::vector<std::uint32_t>& first_owner)
    : members_(members), first_owner_{0} {
  parent_.reserve(trees.size() * members);
  children_end_.reserve(trees.size() * members);
  children_.reserve(trees.size() * (members - 1));
  ensure(first_owner.size() == trees.size() + 1 && first_owner.back() == members, "trees share all the data");
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const auto share = first_owner[t + 1] - first_owner[t];
    if (share == 0) continue;
    ensure(trees[t].edges.size() + 1 == members, "a tree spans its group");
    tree_of_owner_.insert(tree_of_owner_.end(), share, this->trees());
    first_owner_.push_back(first_owner[t + 1]);
    const auto base = parent_.size();
    for (std::uint32_t rank = 0; rank < members; ++rank) parent_.push_back(rank);
    std::vector<std::uint32_t> next(members + 1, 0);
    for (const auto& edge : trees[t].edges) {
      parent_[base + edge.child] = edge.parent;
      ++next[edge.parent + 1];
    }
    for (std::uint32_t rank = 0; rank < members; ++rank) {
      next[rank + 1] += next[rank];
      children_end_.push_back(next[rank + 1]);
    }
    const auto first = children_.size();
    children_.resize(first + members - 1);
    for (const auto& edge : trees[t].edges) children_[first + next[edge.parent]++] = edge.child;
    trees[t] = {};  // frees its memory: there may be many trees
  }
}

std::vector<std::uint32_t> equal_shares(std::uint32_t members, std::uint32_t trees) {
  std::vector<std::uint32_t> first_owner{0};
  for (std::uint32_t t = 0; t < trees; ++t)
    first_owner.push_back(first_owner.back() + members / trees + (t < members % trees ? 1 : 0));
  return first_owner;
}

namespace {

/// A collective and the forests of its groups.
struct Forests {
  Seats seats;
  std::vector<std::shared_ptr<const Forest>> of_group;
  std::vector<std::size_t> first_count;  ///< by group, one more entry than groups
};

class ForestState final : public ProgramState {
 public:
  explicit ForestState(std::shared_ptr<const Forests> forests)
      : forests_(std::move(forests)), seats_(forests_->seats), sums_(reduces(seats_.kind())) {
    if (sums_) sums_arrived_.assign(forests_->first_count.back(), 0);
  }

  void start(NpuId npu, std::vector<Message>& out) override {
    if (!seats_.takes_part(npu)) return;
    const auto me = seats_.of(npu);
    const auto& forest = *forests_->of_group[me.group.index()];
    for (std::uint32_t slice = 0; slice < seats_.chunks_per_npu(); ++slice)
      for (std::uint32_t tree = 0; tree < forest.trees(); ++tree) {
        const bool root = forest.parent(tree, me.rank) == me.rank;
        if (sums_ && !root && forest.children(tree, me.rank).empty()) send_up(me, forest, tree, slice, out);
        if (!sums_ && root) send_down(me, forest, tree, slice, out);
      }
  }

  void arrive(const Message& message, std::vector<Message>& out) override {
    const auto me = seats_.of(message.destination);
    const auto& forest = *forests_->of_group[me.group.index()];
    const auto [owner, slice] = seats_.part(me, message.chunk);
    const auto tree = forest.tree_of(owner);
    if (message.stage == Stage::copy) return send_down(me, forest, tree, slice, out);
    const auto place = std::size_t{slice} * forest.trees() * forest.members() + forest.place(tree, me.rank);
    auto& arrived = sums_arrived_[forests_->first_count[me.group.index()] + place];
    if (++arrived < forest.children(tree, me.rank).size()) return;
    if (forest.parent(tree, me.rank) != me.rank)
      send_up(me, forest, tree, slice, out);
    else if (seats_.kind() == CollectiveKind::all_reduce)
      send_down(me, forest, tree, slice, out);
  }

 private:
  void send(const Seat& me, const Forest& forest, std::uint32_t tree, std::uint32_t slice, std::uint32_t to,
            Stage stage, std::vector<Message>& out) const {
    emit(out, me.npu, seats_.npu_at(me.group, to), seats_.chunk(me, forest.first_owner(tree), slice), stage,
         forest.owners(tree));
  }
  void send_up(const Seat& me, const Forest& forest, std::uint32_t tree, std::uint32_t slice,
               std::vector<Message>& out) const {
    send(me, forest, tree, slice, forest.parent(tree, me.rank), Stage::reduce, out);
  }
  void send_down(const Seat& me, const Forest& forest, std::uint32_t tree, std::uint32_t slice,
                 std::vector<Message>& out) const {
    for (const auto child : forest.children(tree, me.rank)) send(me, forest, tree, slice, child, Stage::copy, out);
  }

  std::shared_ptr<const Forests> forests_;
  const Seats& seats_;
  bool sums_;
  std::vector<std::uint32_t> sums_arrived_;  ///< per slice, tree and NPU: the number of children whose sums arrived
};

class ForestProgram final : public Program {
 public:
  explicit ForestProgram(std::shared_ptr<const Forests> forests) : forests_(std::move(forests)) {}

  [[nodiscard]] std::unique_ptr<ProgramState> begin() const override { return std::make_unique<ForestState>(forests_); }
  [[nodiscard]] std::uint64_t messages() const override {
    std::uint64_t total = 0;
    for (const auto& forest : forests_->of_group) total += std::uint64_t{forest->trees()} * (forest->members() - 1);
    return total * forests_->seats.chunks_per_npu() * (forests_->seats.kind() == CollectiveKind::all_reduce ? 2 : 1);
  }
  void chunks_of(const Message& message, std::vector<ChunkId>& out) const override {
    const auto me = forests_->seats.of(message.destination);
    const auto [owner, slice] = forests_->seats.part(me, message.chunk);
    for (std::uint32_t i = 0; i < message.chunks; ++i) out.push_back(forests_->seats.chunk(me, owner + i, slice));
  }
  [[nodiscard]] std::vector<std::uint32_t> message_sizes() const override {
    std::set<std::uint32_t> sizes;
    for (const auto& forest : forests_->of_group)
      for (std::uint32_t tree = 0; tree < forest->trees(); ++tree) sizes.insert(forest->owners(tree));
    return {sizes.begin(), sizes.end()};
  }
  /// Each NPU sends only to its parents and children.
  [[nodiscard]] std::string_view destination_order() const override { return "absolute"; }

 private:
  std::shared_ptr<const Forests> forests_;
};

}  // namespace

std::shared_ptr<const Program> make_forest(const Collective& collective,
                                           std::vector<std::shared_ptr<const Forest>> forests) {
  ensure(forests.size() == collective.groups().size(), "one forest per group");
  auto made = std::make_shared<Forests>(Forests{Seats(collective), std::move(forests), {0}});
  for (const auto& forest : made->of_group)
    made->first_count.push_back(made->first_count.back() +
                                std::size_t{made->seats.chunks_per_npu()} * forest->trees() * forest->members());
  return std::make_shared<ForestProgram>(std::move(made));
}

ProgramSizes sizes_of_forest(const ProgramScale& scale) {
  const double messages = 6 * scale.slices;
  return {messages, messages * scale.pair_hops, 2 * scale.slices};
}

}  // namespace tenex
