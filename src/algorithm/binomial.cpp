// Binomial trees: Broadcast, Reduce, Gather and Scatter in ceil(log2 n) steps, for any n and any root; All-Reduce as a
// Reduce to rank 0 and a Broadcast from there, twice as many steps.
//
// Ranks count from the root on. The parent of rank r is r without its lowest set bit 2^s, so that the subtree of r is
// the 2^s ranks from r on, as far as they exist. Gather and Reduce go up: an NPU sends to its parent when all of its
// children have sent to it. Broadcast and Scatter go down: an NPU that has received sends to its children, the largest
// subtree first. In Gather and Scatter a message carries the chunks of a whole subtree. The chunks with the same k are
// one slice; slices are pipelined.
//
// Encoding: an All-Reduce is a forest of one tree (forest.hpp). Else upward one count of arrived children per NPU and
// slice, downward nothing. A message of Gather or Scatter is named by the chunk of its subtree's first rank. Source:
// Thakur et al., "Optimization of collective communication operations in MPICH", 2005 (gather, scatter, broadcast,
// reduce); Chan et al., "Collective communication: theory, practice, and experience", 2007 (the minimum-spanning-tree
// algorithms).
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "algorithm/forest.hpp"
#include "algorithm/seats.hpp"
#include "algorithm/textbook.hpp"

namespace tenex {
namespace {

/// The number of ranks in the subtree of a rank, counted from the root, of `members`.
std::uint32_t subtree_of(std::uint32_t from_root, std::uint32_t members) {
  return from_root == 0 ? members : std::min(from_root & (~from_root + 1), members - from_root);
}

/// The number of children of the first rank of a subtree: they are 1, 2, 4, ... ranks from it.
std::uint32_t children_of(std::uint32_t subtree) { return static_cast<std::uint32_t>(std::bit_width(subtree - 1)); }

/// A rooted collective and the trees of its groups.
class BinomialTrees {
 public:
  explicit BinomialTrees(const Collective& collective) : seats_(collective) {}

  [[nodiscard]] const Seats& seats() const { return seats_; }
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
    if (mine != 0) send(me, mine & (mine - 1), mine, slice, out);
  }
  /// Appends the messages of a slice to all children.
  void send_down(const Seat& me, std::uint32_t slice, std::vector<Message>& out) const {
    const auto mine = from_root(me);
    for (auto child = children_of(subtree_of(mine, me.members)); child-- > 0;)
      send(me, mine + (std::uint32_t{1} << child), mine + (std::uint32_t{1} << child), slice, out);
  }

 private:
  /// A message over the edge above the subtree of `child`; both ranks are counted from the root.
  void send(const Seat& me, std::uint32_t to, std::uint32_t child, std::uint32_t slice,
            std::vector<Message>& out) const {
    emit(out, me.npu, seats_.npu_at(me.group, rank_of(me, to)),
         seats_.chunk(me, carries_subtrees() ? rank_of(me, child) : 0, slice),
         seats_.kind() == CollectiveKind::reduce ? Stage::reduce : Stage::copy,
         carries_subtrees() ? subtree_of(child, me.members) : 1);
  }

  Seats seats_;
};

class BinomialState final : public ProgramState {
 public:
  explicit BinomialState(BinomialTrees trees) : trees_(std::move(trees)) {
    const auto& seats = trees_.seats();
    if (trees_.upward()) arrived_.assign(seats.collective().npus() * seats.chunks_per_npu(), 0);
  }

  void start(NpuId npu, std::vector<Message>& out) override {
    if (!trees_.seats().takes_part(npu)) return;
    const auto me = trees_.seats().of(npu);
    const auto mine = trees_.from_root(me);
    const bool leaf = subtree_of(mine, me.members) == 1;
    for (std::uint32_t slice = 0; slice < trees_.seats().chunks_per_npu(); ++slice) {
      if (trees_.upward() && leaf) trees_.send_up(me, slice, out);
      if (!trees_.upward() && mine == 0) trees_.send_down(me, slice, out);
    }
  }

  void arrive(const Message& message, std::vector<Message>& out) override {
    const auto me = trees_.seats().of(message.destination);
    const auto slice = trees_.seats().part(me, message.chunk).k;
    if (!trees_.upward()) return trees_.send_down(me, slice, out);
    const auto children = children_of(subtree_of(trees_.from_root(me), me.members));
    if (++arrived_[me.npu.index() * trees_.seats().chunks_per_npu() + slice] == children)
      trees_.send_up(me, slice, out);
  }

 private:
  BinomialTrees trees_;
  std::vector<std::uint8_t> arrived_;  ///< per NPU and slice: children whose message has arrived; upward only
};

class BinomialProgram final : public Program {
 public:
  explicit BinomialProgram(const Collective& collective) : trees_(collective) {}

  [[nodiscard]] std::unique_ptr<ProgramState> begin() const override { return std::make_unique<BinomialState>(trees_); }
  [[nodiscard]] std::uint64_t messages() const override {
    std::uint64_t total = 0;
    for (const auto& group : trees_.seats().collective().groups()) total += group.members.size() - 1;
    return total * trees_.seats().chunks_per_npu();
  }
  /// Every power of two of which a whole subtree exists, and the subtrees that the last rank cuts off.
  [[nodiscard]] std::vector<std::uint32_t> message_sizes() const override {
    if (!trees_.carries_subtrees()) return {1};
    std::set<std::uint32_t> sizes;
    for (const auto& group : trees_.seats().collective().groups()) {
      const auto members = static_cast<std::uint32_t>(group.members.size());
      for (std::uint32_t bit = 1; bit != 0 && bit < members; bit *= 2) {
        const auto last = ((members - 1 - bit) / bit / 2 * 2 + 1) * bit;  // the last odd multiple below `members`
        sizes.insert(subtree_of(bit, members));
        sizes.insert(subtree_of(last, members));
      }
    }
    return {sizes.begin(), sizes.end()};
  }

  void chunks_of(const Message& message, std::vector<ChunkId>& out) const override {
    const auto& seats = trees_.seats();
    if (!trees_.carries_subtrees()) return out.push_back(message.chunk);
    const auto me = seats.of(message.destination);
    const auto [top, slice] = seats.part(me, message.chunk);
    const auto first = out.size();
    for (std::uint32_t i = 0; i < message.chunks; ++i) out.push_back(seats.chunk(me, (top + i) % me.members, slice));
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
  }

 private:
  BinomialTrees trees_;
};

/// The tree of ranks 0 .. members - 1, in which the largest subtrees are served first.
std::shared_ptr<const Forest> binomial_tree(std::uint32_t members) {
  Tree tree;
  for (std::uint32_t rank = members; rank-- > 1;) tree.edges.push_back({rank & (rank - 1), rank});
  return std::make_shared<const Forest>(members, std::vector{tree}, equal_shares(members, 1));
}

}  // namespace

Result<std::shared_ptr<const Program>> make_binomial(const Topology& topology, const Collective& collective,
                                                     const AlgorithmOptions& /*options*/) {
  if (auto fits = check_fits("binomial", topology, collective); !fits) return fits.errors();
  if (collective.kind() != CollectiveKind::all_reduce)
    return std::shared_ptr<const Program>(std::make_shared<BinomialProgram>(collective));
  std::vector<std::shared_ptr<const Forest>> forests;
  for (const auto& group : collective.groups())
    forests.push_back(binomial_tree(static_cast<std::uint32_t>(group.members.size())));
  return make_forest(collective, std::move(forests));
}

ProgramSizes sizes_of_binomial(const ProgramScale& scale) {
  // The subtrees of n ranks have n/2 chunks in each of log2 n steps.
  const double messages = scale.passes * scale.slices;
  return {messages, messages * scale.pair_hops, messages * doubling_steps(scale.members) / 2};
}

}  // namespace tenex
