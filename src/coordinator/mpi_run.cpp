// MPI, all of it: a transport by Isend, Test and Improbe on MPI_COMM_WORLD, and the entrance that uses it.
//
// Nothing blocks: a message is received only when its envelope is here (a matched receive then ends at once), sends are
// tested until they are gone. The one collective, at the start, finds out how many ranks share the host. Only the
// calling thread uses MPI (FUNNELED).
#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <list>

#include "tenex/coordinator/coordinator.hpp"
#include "tenex/coordinator/rank_loop.hpp"
#include "tenex/coordinator/resources.hpp"

namespace tenex {

namespace {

constexpr int message_tag = 7;

class MpiTransport final : public Transport {
 public:
  MpiTransport() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  [[nodiscard]] std::size_t rank() const override { return static_cast<std::size_t>(rank_); }
  [[nodiscard]] std::size_t size() const override { return static_cast<std::size_t>(size_); }

  void send(std::size_t to, const RankMessage& message) override {
    auto& sending = sending_.emplace_back();
    sending.words = encode(message);
    MPI_Isend(sending.words.data(), static_cast<int>(sending.words.size()), MPI_UINT64_T, static_cast<int>(to),
              message_tag, MPI_COMM_WORLD, &sending.request);
  }

  [[nodiscard]] std::optional<std::pair<std::size_t, RankMessage>> receive() override {
    forget_sent();
    int arrived = 0;
    MPI_Message envelope = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, message_tag, MPI_COMM_WORLD, &arrived, &envelope, &status);
    if (arrived == 0) return std::nullopt;
    int count = 0;
    MPI_Get_count(&status, MPI_UINT64_T, &count);
    Words words(static_cast<std::size_t>(count));
    MPI_Mrecv(words.data(), count, MPI_UINT64_T, &envelope, &status);
    return std::pair{static_cast<std::size_t>(status.MPI_SOURCE), decode(words)};
  }

  [[nodiscard]] bool all_sent() override {
    forget_sent();
    return sending_.empty();
  }

 private:
  struct Sending {
    Words words;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void forget_sent() {
    std::erase_if(sending_, [](Sending& sending) {
      int done = 0;
      MPI_Test(&sending.request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
  }

  int rank_ = 0;
  int size_ = 1;
  std::list<Sending> sending_;  ///< a list: buffers must not move
};

int count_ranks_on_host() {
  MPI_Comm host = MPI_COMM_NULL;
  int ranks = 1;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_size(host, &ranks);
  MPI_Comm_free(&host);
  return ranks;
}

void warn_of_affinity(const RunOptions& options, const RankSetup& setup, int ranks_on_host) {
  const bool chosen = options.threads > 0 || std::getenv("OMP_NUM_THREADS") != nullptr;
  const auto warning = affinity_warning(setup.engine.threads, chosen, affinity_cores(), host_cores(), ranks_on_host);
  if (warning && !options.quiet) fmt::print(stderr, "{}\n", *warning);
}

}  // namespace

Result<RunReport> run_with_mpi(const Study& study, const RunOptions& options) {
  MpiTransport transport;
  const int ranks_on_host = count_ranks_on_host();
  const auto setup = resolve(options, ranks_on_host);
  if (transport.rank() > 0) return follow(study, setup, transport);
  warn_of_affinity(options, setup, ranks_on_host);
  return lead(study, setup, transport);
}

}  // namespace tenex
