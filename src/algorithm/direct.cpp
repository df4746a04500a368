// Direct: every NPU exchanges chunks with every other member of its group, all at once.
//
// All-Gather: an NPU sends each of its chunks to all peers, next rank first. Reduce-Scatter: it sends its own
// contribution to every chunk straight to the owner, next rank first. All-Reduce: an owner begins its chunk's gather
// when all contributions have arrived. The relative order keeps symmetric NPUs alike and spreads the first messages
// over all receivers.
//
// Encoding: one count of arrived contributions per owned chunk, in All-Reduce only. Source: Thakur et al. 2005
// (pairwise and direct exchanges); in 001 and 000 the baseline "Direct", natural on fully connected topologies.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "algorithm/textbook.hpp"

namespace tenex {
namespace {

class DirectState final : public ProgramState {
 public:
  explicit DirectState(std::shared_ptr<const Collective> collective)
      : shared_(std::move(collective)),
        collective_(*shared_),
        chunks_per_npu_(static_cast<std::uint32_t>(collective_.chunks_per_npu())) {
    if (collective_.kind() == CollectiveKind::all_reduce) contributions_arrived_.assign(collective_.chunks(), 0);
  }

  void start(NpuId npu, std::vector<Message>& out) override {
    const auto group = collective_.group_of(npu);
    if (!group.exists()) return;
    const auto first = collective_.first_chunk(group).value();
    for (std::uint32_t k = 0; k < chunks_per_npu_; ++k) {
      if (collective_.kind() == CollectiveKind::all_gather)
        gather(npu, ChunkId(first + collective_.rank_of(npu) * chunks_per_npu_ + k), out);
      else
        contribute(npu, group, k, out);
    }
  }

  void arrive(const Message& message, std::vector<Message>& out) override {
    if (message.stage == Stage::copy || collective_.kind() != CollectiveKind::all_reduce) return;
    const auto& members = members_of(collective_.group_of(message.destination));
    if (++contributions_arrived_[message.chunk.index()] == members.size() - 1)
      gather(message.destination, message.chunk, out);
  }

 private:
  [[nodiscard]] const std::vector<NpuId>& members_of(GroupId group) const {
    return collective_.groups()[group.index()].members;
  }

  /// `npu` sends its finished chunk to all peers.
  void gather(NpuId npu, ChunkId chunk, std::vector<Message>& out) const {
    const auto& members = members_of(collective_.group_of(npu));
    const std::size_t rank = collective_.rank_of(npu);
    for (std::size_t offset = 1; offset < members.size(); ++offset)
      out.push_back({npu, members[(rank + offset) % members.size()], chunk, Stage::copy});
  }

  /// `npu` sends its contribution to the k-th chunk of every peer.
  void contribute(NpuId npu, GroupId group, std::uint32_t k, std::vector<Message>& out) const {
    const auto& members = members_of(group);
    const std::size_t rank = collective_.rank_of(npu);
    const std::size_t first = collective_.first_chunk(group).index();
    for (std::size_t offset = 1; offset < members.size(); ++offset) {
      const auto peer = (rank + offset) % members.size();
      out.push_back({npu, members[peer], ChunkId::at(first + peer * chunks_per_npu_ + k), Stage::reduce});
    }
  }

  std::shared_ptr<const Collective> shared_;  ///< with the program, which may end first
  const Collective& collective_;
  std::uint32_t chunks_per_npu_;
  std::vector<std::uint32_t> contributions_arrived_;  ///< per chunk, written by its owner alone; All-Reduce only
};

class DirectProgram final : public Program {
 public:
  explicit DirectProgram(const Collective& collective) : collective_(std::make_shared<Collective>(collective)) {}

  [[nodiscard]] std::unique_ptr<ProgramState> begin() const override {
    return std::make_unique<DirectState>(collective_);
  }
  [[nodiscard]] std::uint64_t messages() const override { return messages_of_all_pairs(*collective_); }

 private:
  std::shared_ptr<const Collective> collective_;
};

}  // namespace

Result<std::shared_ptr<const Program>> make_direct(const Topology& topology, const Collective& collective) {
  if (auto fits = check_fits("direct", topology, collective); !fits) return fits.errors();
  return std::shared_ptr<const Program>(std::make_shared<DirectProgram>(collective));
}

}  // namespace tenex
