// All use of MPI: a transport by Isend, Test and Improbe on MPI_COMM_WORLD, and run_with_mpi().
//
// No call blocks: a message is received only when its envelope is here (a matched receive then ends at once), and sends
// are tested until they are done. Collective operations at the start find out which ranks share a node. Only the
// calling thread uses MPI (FUNNELED).
//
// A rank may die during the run (`mpirun --enable-recovery` lets the others continue). Some transports of MPI then
// report an error when something is sent to that rank, which must not end this rank too. Most report nothing, and the
// send may never complete.
#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <utility>
#include <vector>

#include "coordinator/rank_loop.hpp"
#include "tenex/coordinator/coordinator.hpp"
#include "tenex/coordinator/resources.hpp"

namespace tenex {

namespace {

constexpr int message_tag = 7;

class MpiTransport final : public Transport {
 public:
  MpiTransport() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }

  [[nodiscard]] std::size_t rank() const override { return static_cast<std::size_t>(rank_); }
  [[nodiscard]] std::size_t size() const override { return static_cast<std::size_t>(size_); }

  void send(std::size_t to, const RankMessage& message) override {
    auto& sending = sending_.emplace_back();
    sending.words = encode(message);
    sending.to = to;
    const int code = MPI_Isend(sending.words.data(), static_cast<int>(sending.words.size()), MPI_UINT64_T,
                               static_cast<int>(to), message_tag, MPI_COMM_WORLD, &sending.request);
    if (code == MPI_SUCCESS) return;
    failed_.push_back(to);
    sending_.pop_back();
  }

  [[nodiscard]] std::optional<std::pair<std::size_t, RankMessage>> receive() override {
    forget_sent();
    int arrived = 0;
    MPI_Message envelope = MPI_MESSAGE_NULL;
    MPI_Status status;
    const int probed = MPI_Improbe(MPI_ANY_SOURCE, message_tag, MPI_COMM_WORLD, &arrived, &envelope, &status);
    if (probed != MPI_SUCCESS || arrived == 0) return std::nullopt;
    int count = 0;
    MPI_Get_count(&status, MPI_UINT64_T, &count);
    Words words(static_cast<std::size_t>(count));
    const auto source = static_cast<std::size_t>(status.MPI_SOURCE);
    if (MPI_Mrecv(words.data(), count, MPI_UINT64_T, &envelope, &status) != MPI_SUCCESS) {
      failed_.push_back(source);
      return std::nullopt;
    }
    return std::pair{source, decode(words)};
  }

  [[nodiscard]] bool all_sent() override {
    forget_sent();
    return sending_.empty();
  }

  [[nodiscard]] std::vector<std::size_t> failed_ranks() override { return std::exchange(failed_, {}); }

  void give_up(std::size_t rank) override {
    for (auto it = sending_.begin(); it != sending_.end();) {
      const auto next = std::next(it);
      if (it->to == rank) given_up_.splice(given_up_.end(), sending_, it);
      it = next;
    }
  }

 private:
  struct Sending {
    std::size_t to = 0;
    Words words;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void forget_sent() {
    std::erase_if(sending_, [this](Sending& sending) {
      int done = 0;
      if (MPI_Test(&sending.request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) return done != 0;
      failed_.push_back(sending.to);
      return true;
    });
  }

  int rank_ = 0;
  int size_ = 1;
  std::list<Sending> sending_;   ///< a list, because buffers must not move
  std::list<Sending> given_up_;  ///< sends to dead ranks: MPI may still use their buffers
  std::vector<std::size_t> failed_;
};

/// The communicator of the ranks that share this one's node.
class NodeRanks {
 public:
  NodeRanks() {
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node_);
    MPI_Comm_size(node_, &ranks_);
  }
  ~NodeRanks() { MPI_Comm_free(&node_); }
  NodeRanks(const NodeRanks&) = delete;
  NodeRanks& operator=(const NodeRanks&) = delete;

  [[nodiscard]] int ranks() const { return ranks_; }

  /// The node and the memory share of every rank. Nodes are numbered by their first rank. Collective.
  [[nodiscard]] NodeMap map(int rank, int size, std::size_t share) const {
    int first = rank;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, node_);
    const std::array<std::uint64_t, 2> mine{static_cast<std::uint64_t>(first), share};
    std::vector<std::uint64_t> all(2 * static_cast<std::size_t>(size));
    MPI_Allgather(mine.data(), 2, MPI_UINT64_T, all.data(), 2, MPI_UINT64_T, MPI_COMM_WORLD);
    NodeMap map;
    for (std::size_t r = 0; r < all.size(); r += 2) {
      map.node_of_rank.push_back(static_cast<std::uint32_t>(all[r]));
      map.share_of_rank.push_back(all[r + 1]);
    }
    return map;
  }

 private:
  MPI_Comm node_ = MPI_COMM_NULL;
  int ranks_ = 1;
};

/// The memory that all ranks of the node may use together.
std::size_t memory_of_node(const NodeMap& map, std::size_t rank) {
  std::size_t bytes = 0;
  for (std::size_t r = 0; r < map.node_of_rank.size(); ++r)
    if (map.node_of_rank[r] == map.node_of_rank[rank]) bytes += map.share_of_rank[r];
  return bytes;
}

void warn_of_affinity(const RunOptions& options, const RankSetup& setup, int ranks_on_host) {
  const bool chosen = options.threads > 0 || std::getenv("OMP_NUM_THREADS") != nullptr;
  const auto warning = affinity_warning(setup.runner.threads, chosen, affinity_cores(), host_cores(), ranks_on_host);
  if (warning && !options.quiet) fmt::print(stderr, "{}\n", *warning);
}

}  // namespace

Result<RunReport> run_with_mpi(const Study& study, const RunOptions& options) {
  MpiTransport transport;
  auto setup = RankSetup{};
  int ranks_on_host = 1;
  {
    const NodeRanks node;  // freed before the run, because a rank may be dead after it
    ranks_on_host = node.ranks();
    setup = resolve(options, ranks_on_host);
    setup.nodes = node.map(static_cast<int>(transport.rank()), static_cast<int>(transport.size()),
                           setup.runner.memory_limit_bytes);
  }
  setup.runner.node_memory_bytes = memory_of_node(setup.nodes, transport.rank());
  // A launcher that continues without rank 0 waits for ranks of other hosts until they end by MPI_Abort.
  setup.leave_the_dead = [](int code) { MPI_Abort(MPI_COMM_WORLD, code); };
  if (transport.rank() > 0) return follow(study, setup, transport);
  warn_of_affinity(options, setup, ranks_on_host);
  return lead(study, setup, transport);
}

}  // namespace tenex
