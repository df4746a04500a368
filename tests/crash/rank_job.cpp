// A job of several ranks without a launcher: it forks itself, and the ranks run lead() and follow() with messages over
// socket pairs. So a rank can be killed as under mpirun, in a fraction of the time.
//
//   crash_rank_job RANKS STUDY OUT SILENCE
//
// Prints `pid RANK PID` for each rank before they begin. Ends with rank 0's exit status when the last one has ended.
#include <fmt/core.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/rank_loop.hpp"
#include "tenex/coordinator/signals.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace {

using namespace tenex;  // NOLINT: a program of its own

constexpr int exit_error = 2;
constexpr int exit_drained = 3;

/// A star with rank 0 at its centre, which has a socket to each of the others. A message is a packet.
class SocketTransport final : public Transport {
 public:
  SocketTransport(std::size_t rank, std::vector<int> sockets)
      : rank_(rank), sockets_(std::move(sockets)), waiting_(sockets_.size()), reported_(sockets_.size(), false) {}

  [[nodiscard]] std::size_t rank() const override { return rank_; }
  [[nodiscard]] std::size_t size() const override { return sockets_.size(); }

  void send(std::size_t to, const RankMessage& message) override {
    waiting_[to].push_back(encode(message));
    push(to);
  }

  [[nodiscard]] std::optional<std::pair<std::size_t, RankMessage>> receive() override {
    for (std::size_t turn = 0; turn < sockets_.size(); ++turn) {
      const auto from = next_ = (next_ + 1) % sockets_.size();
      if (sockets_[from] < 0) continue;
      const auto bytes = ::recv(sockets_[from], nullptr, 0, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
      if (bytes > 0) {
        Words words(static_cast<std::size_t>(bytes) / sizeof(Words::value_type));
        (void)!::recv(sockets_[from], words.data(), static_cast<std::size_t>(bytes), MSG_DONTWAIT);
        return std::pair{from, decode(words)};
      }
      if (bytes == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) lose(from);
    }
    return std::nullopt;
  }

  [[nodiscard]] bool all_sent() override {
    bool all = true;
    for (std::size_t to = 0; to < waiting_.size(); ++to) {
      push(to);
      all = all && waiting_[to].empty();
    }
    return all;
  }

  [[nodiscard]] std::vector<std::size_t> failed_ranks() override { return std::exchange(failed_, {}); }
  void give_up(std::size_t rank) override { waiting_[rank].clear(); }

 private:
  void push(std::size_t to) {
    while (!waiting_[to].empty() && sockets_[to] >= 0) {
      const auto& words = waiting_[to].front();
      if (::send(sockets_[to], words.data(), words.size() * sizeof words[0], MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        if (errno != EAGAIN && errno != EWOULDBLOCK) lose(to);
        return;
      }
      waiting_[to].pop_front();
    }
  }

  /// Notes once that the rank is gone. Its earlier messages can still be read: its end of the socket closes after them.
  void lose(std::size_t rank) {
    if (!reported_[rank]) failed_.push_back(rank);
    reported_[rank] = true;
    waiting_[rank].clear();
  }

  std::size_t rank_;
  std::vector<int> sockets_;  ///< by rank; negative: none
  std::vector<std::deque<Words>> waiting_;
  std::vector<bool> reported_;
  std::vector<std::size_t> failed_;
  std::size_t next_ = 0;
};

RankSetup make_setup(const std::string& out, double silence, std::size_t rank, std::size_t ranks) {
  RunOptions options;
  options.out = out;
  options.threads = 1;
  options.quiet = true;
  options.memory_limit_bytes = std::size_t{1} << 30U;
  // A dead worker is detected by its socket, and a dead rank 0 by its silence. Rank 0 sends ALIVE every twelfth of its
  // own, which is longer: the others wait for several of these messages.
  options.silence_seconds = rank == 0 ? 3 * silence : silence;
  auto setup = resolve(options, static_cast<int>(ranks));
  setup.runner.announce_seconds = -1;  // announces every point, so its journal tells which were begun
  setup.nodes.node_of_rank.assign(ranks, 0);
  setup.nodes.share_of_rank.assign(ranks, options.memory_limit_bytes);
  return setup;
}

int run_rank(const Study& study, const std::string& out, double silence, SocketTransport transport) {
  const auto setup = make_setup(out, silence, transport.rank(), transport.size());
  const auto report = transport.rank() == 0 ? lead(study, setup, transport) : follow(study, setup, transport);
  if (!report.ok()) {
    if (transport.rank() == 0) fmt::print(stderr, "{}\n", to_string(report.errors()));
    return exit_error;
  }
  if (transport.rank() == 0) {
    fmt::print("evaluated {} lost_ranks {}\n", report->evaluated, report->lost_ranks);
    for (const auto& warning : report->warnings) fmt::print(stderr, "warning: {}\n", warning);
  }
  return report->interrupted ? exit_drained : 0;
}

/// Waits for all ranks; returns rank 0's status as a shell reports it.
int wait_for(const std::vector<pid_t>& pids) {
  int status_of_first = 0;
  for (const auto pid : pids) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (pid == pids.front()) status_of_first = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  return status_of_first;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return exit_error;
  block_run_signals();  // the ranks read their own signals; this process only waits for them
  const auto ranks = std::strtoul(argv[1], nullptr, 10);
  const auto study = read_study(argv[2], vocabulary());
  if (!study.ok()) {
    fmt::print(stderr, "{}\n", to_string(study.errors()));
    return exit_error;
  }
  std::vector<std::vector<int>> sockets(ranks, std::vector<int>(ranks, -1));
  for (std::size_t rank = 1; rank < ranks; ++rank) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return exit_error;
    sockets[0][rank] = pair[0];
    sockets[rank][0] = pair[1];
  }
  std::vector<pid_t> pids;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto pid = ::fork();
    if (pid == 0) {
      for (std::size_t other = 0; other < ranks; ++other)  // otherwise dead ranks would seem to live
        for (const int socket : sockets[other])
          if (other != rank && socket >= 0) ::close(socket);
      ::setenv("CRASH_MY_RANK", std::to_string(rank).c_str(), 1);
      const int code = run_rank(*study, argv[3], std::strtod(argv[4], nullptr), SocketTransport(rank, sockets[rank]));
      std::fflush(nullptr);
      std::_Exit(code);
    }
    pids.push_back(pid);
    fmt::print("pid {} {}\n", rank, pid);
    std::fflush(stdout);
  }
  for (const auto& row : sockets)
    for (const int socket : row)
      if (socket >= 0) ::close(socket);
  return wait_for(pids);
}
