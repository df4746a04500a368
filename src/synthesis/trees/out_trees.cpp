#include "synthesis/trees/out_trees.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tenex/base/graph/max_flow.hpp"

namespace tenex {
namespace {

/// Trees that have been equal so far.
struct Batch {
  SpanningTree tree;
  std::vector<std::uint32_t> depth;  ///< of each NPU that the tree has
  std::vector<bool> has;
  std::vector<bool> rejected;  ///< per edge: no tree may take it. That stays so while the batch grows.
  std::int64_t chunks = 0;
};

class OutTreePacker {
 public:
  OutTreePacker(const TreeNetwork& network, const std::vector<CapacityEdge>& edges, const RootChunks& roots)
      : network_(network),
        edges_(edges),
        waiting_chunks_(roots),
        npus_(roots.size()),
        out_of_(Csr<std::uint32_t>::group(
            npus_, edges.size(), [&](std::size_t i) { return network.source(edges[i].way).index(); },
            [](std::size_t i) { return static_cast<std::uint32_t>(i); })),
        flow_(npus_ + 1) {
    for (std::uint32_t npu = 0; npu < npus_; ++npu) flow_.add_edge(source(), npu, roots[npu]);
    for (const CapacityEdge& edge : edges)
      flow_.add_edge(network.source(edge.way).value(), network.target(edge.way).value(), edge.chunks);
    others_ = std::accumulate(roots.begin(), roots.end(), std::int64_t{0});
  }

  std::optional<std::vector<OutTrees>> pack() {
    std::vector<OutTrees> made;
    for (std::uint32_t npu = 0; npu < npus_; ++npu) {
      if (waiting_chunks_[npu] == 0) continue;
      Batch batch = batch_at(NpuId(npu));
      flow_.set_capacity(npu, 0);
      waiting_chunks_[npu] = 0;
      others_ -= batch.chunks;
      while (true) {
        if (!complete(batch)) return std::nullopt;
        made.push_back({std::move(batch.tree), batch.chunks});
        if (waiting_.empty()) break;
        batch = std::move(waiting_.back());
        waiting_.pop_back();
        flow_.remove_last_node();
        others_ -= batch.chunks;
        batch.rejected.assign(edges_.size(), false);
      }
    }
    return made;
  }

 private:
  [[nodiscard]] std::uint32_t source() const { return static_cast<std::uint32_t>(npus_); }
  /// The edge's number in the network. Those from the source come first, so that flows find it first.
  [[nodiscard]] std::uint32_t flow_edge(std::uint32_t edge) const { return static_cast<std::uint32_t>(npus_) + edge; }

  [[nodiscard]] Batch batch_at(NpuId root) const {
    Batch batch;
    batch.tree.root = root;
    batch.tree.down.assign(npus_, WayId::none());
    batch.tree.down_order = {root};
    batch.depth.assign(npus_, 0);
    batch.has.assign(npus_, false);
    batch.has[root.index()] = true;
    batch.rejected.assign(edges_.size(), false);
    batch.chunks = waiting_chunks_[root.index()];
    return batch;
  }

  /// Grows the batch until it spans all NPUs. False where no edge may be taken.
  bool complete(Batch& batch) {
    while (batch.tree.down_order.size() < npus_) {
      const auto [edge, chunks] = next_edge(batch);
      if (chunks == 0) return false;
      if (chunks < batch.chunks) {
        leave(batch, batch.chunks - chunks);
        batch.chunks = chunks;
      }
      const WayId way = edges_[edge].way;
      const NpuId to = network_.target(way);
      flow_.set_capacity(flow_edge(edge), flow_.capacity(flow_edge(edge)) - chunks);
      batch.has[to.index()] = true;
      batch.depth[to.index()] = batch.depth[network_.source(way).index()] + 1;
      batch.tree.down[to.index()] = way;
      batch.tree.down_order.push_back(to);
    }
    return true;
  }

  /// The best edge to take, and for how many trees.
  [[nodiscard]] std::pair<std::uint32_t, std::int64_t> next_edge(Batch& batch) {
    std::uint32_t deepest = 0;
    for (const NpuId npu : batch.tree.down_order) deepest = std::max(deepest, batch.depth[npu.index()]);
    for (std::uint32_t depth = 0; depth <= deepest; ++depth) {
      std::pair<std::uint32_t, std::int64_t> best = {0, 0};
      for (const NpuId from : batch.tree.down_order) {
        if (batch.depth[from.index()] != depth) continue;
        const auto own = out_of_.row(from.index());
        for (std::size_t i = 0; i < own.size(); ++i) {
          const std::uint32_t edge = own[(i + batch.tree.root.index()) % own.size()];
          const std::int64_t chunks = most_on(batch, edge);
          if (chunks > best.second) best = {edge, chunks};
          if (chunks == batch.chunks) return best;
        }
      }
      if (best.second > 0) return best;
    }
    return {0, 0};
  }

  /// How many of the batch's trees may take the edge.
  [[nodiscard]] std::int64_t most_on(Batch& batch, std::uint32_t edge) {
    const NpuId to = network_.target(edges_[edge].way);
    if (batch.has[to.index()] || batch.rejected[edge]) return 0;
    const NpuId from = network_.source(edges_[edge].way);
    const std::int64_t most = std::min(batch.chunks, flow_.capacity(flow_edge(edge)));
    if (most == 0) return 0;
    flow_.set_capacity(from.value(), kAnyFlow);
    const std::int64_t excess = flow_.flow(source(), to.value(), others_ + most) - others_;
    flow_.set_capacity(from.value(), waiting_chunks_[from.index()]);
    if (excess <= 0) batch.rejected[edge] = true;
    return std::clamp<std::int64_t>(excess, 0, most);
  }

  /// Lets `chunks` trees of the batch wait as they are.
  void leave(const Batch& batch, std::int64_t chunks) {
    Batch rest = batch;
    rest.chunks = chunks;
    const std::uint32_t node = flow_.add_node();  // it stands for the NPUs of the trees
    flow_.add_edge(source(), node, chunks);
    for (const NpuId npu : batch.tree.down_order) flow_.add_edge(node, npu.value(), kAnyFlow);
    others_ += chunks;
    waiting_.push_back(std::move(rest));
  }

  const TreeNetwork& network_;
  const std::vector<CapacityEdge>& edges_;
  RootChunks waiting_chunks_;  ///< of roots whose trees have not begun
  std::size_t npus_;
  Csr<std::uint32_t> out_of_;
  FlowNetwork flow_;            ///< of each NPU the edge from the source; then the edges, with the room that is left
  std::vector<Batch> waiting_;  ///< the last one is the last node of the flows
  std::int64_t others_ = 0;     ///< trees that are not finished, but for the batch
};

}  // namespace

std::optional<std::vector<OutTrees>> pack_out_trees(const TreeNetwork& network, const std::vector<CapacityEdge>& edges,
                                                    const RootChunks& roots) {
  return OutTreePacker(network, edges, roots).pack();
}

}  // namespace tenex
