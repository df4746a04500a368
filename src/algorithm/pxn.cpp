// pxn: All-to-All in which messages between boxes leave by the NIC of the neighbour that shares a leaf with the
// destination (NCCL's PXN: "PCI x NVLink").
//
// On rails every NPU of a box has its NIC on another leaf. A message to an NPU on another leaf would climb to a spine;
// handed over inside the box first, to the neighbour whose NIC is on that leaf, it passes the leaf alone. The neighbour
// passes it on as soon as it has it. Where no NIC of the box is on the destination's leaf (it has failed, or the boxes
// differ), the message goes to a box mate of the destination over a leaf that both boxes have, and from there inside
// that box; where the sender has no NIC, to a neighbour that has one first; where boxes have no leaf in common,
// straight.
//
// Boxes are NPUs that are joined without the fabric (tenex/topology/elements.hpp): by links of their own, or by
// switches that are no leaves. So boxes may differ in size, share NICs, or have several per NPU. Several neighbours on
// the leaf share its messages by destination. Each NPU begins with its next peers, as `direct` does. Encoding: the next
// NPU is a function of where a message is and of its destination, which its chunk names. Source: NVIDIA, Doubling
// all2all Performance with NCCL 2.12, 2022.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "algorithm/peer_order.hpp"
#include "algorithm/seats.hpp"
#include "algorithm/textbook.hpp"
#include "tenex/topology/elements.hpp"

namespace tenex {
namespace {

/// Where a message goes next.
class NeighbourWays {
 public:
  NeighbourWays(const Topology& topology, const Collective& collective) {
    const NetworkElements elements(topology);
    box_ = boxes_without(topology, elements.leaves());  // leaves only lead between boxes
    leaves_.resize(topology.npus());
    for (const NicLink& nic : elements.nics())
      for (const NpuId npu : nic.npus) leaves_[npu.index()].push_back(nic.hub);
    for (std::size_t npu = 0; npu < topology.npus(); ++npu) {
      auto& leaves = leaves_[npu];
      std::ranges::sort(leaves);
      leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
      const GroupId group = collective.group_of(NpuId::at(npu));
      if (!group.exists()) continue;
      for (const VertexId leaf : leaves) {
        on_leaf_[{group.value(), box_[npu], leaf.value()}].push_back(NpuId::at(npu));
        auto& known = leaves_of_box_[{group.value(), box_[npu]}];
        if (std::ranges::find(known, leaf) == known.end()) known.push_back(leaf);
      }
    }
  }

  /// The next NPU on the way from `at` to `to`, both of `group`. Expects: not the same one.
  [[nodiscard]] NpuId next(GroupId group, NpuId at, NpuId to) const {
    const std::uint32_t here = box_[at.index()];
    const std::uint32_t there = box_[to.index()];
    if (here == there || share_leaf(at, to)) return to;
    for (const VertexId leaf : leaves_[to.index()])
      if (const auto* neighbours = find(group, here, leaf)) return (*neighbours)[to.index() % neighbours->size()];
    std::vector<VertexId> common;
    for (const VertexId leaf : leaves_[at.index()])
      if (find(group, there, leaf) != nullptr) common.push_back(leaf);
    if (!common.empty()) {
      const auto& mates = *find(group, there, common[to.index() % common.size()]);
      return mates[at.index() % mates.size()];
    }
    const auto of_box = leaves_of_box_.find({group.value(), here});
    if (of_box == leaves_of_box_.end()) return to;
    for (const VertexId leaf : of_box->second)
      if (find(group, there, leaf) != nullptr) common.push_back(leaf);
    if (common.empty()) return to;
    const auto& neighbours = *find(group, here, common[to.index() % common.size()]);
    return neighbours[to.index() % neighbours.size()];
  }

 private:
  using LeafPlace = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  ///< group, box, leaf

  [[nodiscard]] bool share_leaf(NpuId a, NpuId b) const {
    return std::ranges::any_of(leaves_[a.index()], [&](VertexId leaf) {
      return std::ranges::find(leaves_[b.index()], leaf) != leaves_[b.index()].end();
    });
  }
  [[nodiscard]] const std::vector<NpuId>* find(GroupId group, std::uint32_t box, VertexId leaf) const {
    const auto found = on_leaf_.find({group.value(), box, leaf.value()});
    return found == on_leaf_.end() ? nullptr : &found->second;
  }

  std::vector<std::uint32_t> box_;             ///< by NPU
  std::vector<std::vector<VertexId>> leaves_;  ///< by NPU: those that its NICs lead to
  std::map<LeafPlace, std::vector<NpuId>> on_leaf_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<VertexId>> leaves_of_box_;
};

struct NeighbourData {
  Seats seats;
  NeighbourWays ways;
  PeerOrder peers;
};

class NeighbourState final : public ProgramState {
 public:
  explicit NeighbourState(std::shared_ptr<const NeighbourData> data) : data_(std::move(data)) {}

  void start(NpuId npu, std::vector<Message>& out) override {
    if (!data_->seats.takes_part(npu)) return;
    const Seat me = data_->seats.of(npu);
    for (std::uint32_t k = 0; k < data_->seats.chunks_per_npu(); ++k)
      for (std::uint32_t i = 0; i + 1 < me.members; ++i) {
        const std::uint32_t to = data_->peers.peer(me, i);
        pass_on(me, to, data_->seats.chunk(me, me.rank * me.members + to, k), out);
      }
  }
  void arrive(const Message& message, std::vector<Message>& out) override {
    const Seat me = data_->seats.of(message.destination);
    const std::uint32_t to = data_->seats.part(me, message.chunk).owner % me.members;
    if (to != me.rank) pass_on(me, to, message.chunk, out);
  }

 private:
  void pass_on(const Seat& me, std::uint32_t to, ChunkId chunk, std::vector<Message>& out) const {
    const NpuId next = data_->ways.next(me.group, me.npu, data_->seats.npu_at(me.group, to));
    emit(out, me.npu, next, chunk, Stage::copy);
  }

  std::shared_ptr<const NeighbourData> data_;
};

class NeighbourProgram final : public Program {
 public:
  explicit NeighbourProgram(NeighbourData data) : data_(std::make_shared<const NeighbourData>(std::move(data))) {
    const Collective& collective = data_->seats.collective();
    for (std::size_t g = 0; g < collective.groups().size(); ++g)
      for (const NpuId from : collective.groups()[g].members)
        for (const NpuId to : collective.groups()[g].members)
          for (NpuId at = from; at != to; at = data_->ways.next(GroupId::at(g), at, to)) ++messages_;
    messages_ *= data_->seats.chunks_per_npu();
  }

  [[nodiscard]] std::unique_ptr<ProgramState> begin() const override { return std::make_unique<NeighbourState>(data_); }
  [[nodiscard]] std::uint64_t messages() const override { return messages_; }
  [[nodiscard]] std::string_view destination_order() const override {
    return data_->peers.order == DestinationOrder::relative ? "relative" : "absolute";
  }

 private:
  std::shared_ptr<const NeighbourData> data_;
  std::uint64_t messages_ = 0;
};

}  // namespace

ProgramResult make_pxn(const Topology& topology, const Collective& collective, const AlgorithmOptions& options) {
  if (auto fits = check_fits("pxn", topology, collective); !fits) return fits.errors();
  NeighbourData data{Seats(collective), NeighbourWays(topology, collective), {options.order, std::nullopt}};
  if (data.seats.everyone()) data.peers.offsets = offsets_of_peers(topology);
  return std::shared_ptr<const Program>(std::make_shared<NeighbourProgram>(std::move(data)));
}

/// Nearly every message between boxes is two.
ProgramSizes sizes_of_pxn(const ProgramScale& scale) { return {2 * scale.sends, 2 * scale.sends * scale.pair_hops, 0}; }

}  // namespace tenex
