#include "mpi_session.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string_view>
#include <system_error>
#include <thread>

#include "commands.hpp"

namespace tenex::cli {
namespace {

// MPI counts are of type int.
constexpr std::size_t largest_piece = std::size_t{1} << 30;
constexpr std::size_t longest_text = std::size_t{1} << 16;

// Waits in a sleep: a blocking collective operation would keep this core busy while rank 0 reads a large study.
void wait_for(MPI_Request request) {
  int done = 0;
  for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); done == 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void broadcast_piece(void* data, int count, MPI_Datatype type) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(data, count, type, 0, MPI_COMM_WORLD, &request);
  wait_for(request);
}

}  // namespace

std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return {};
  const std::string name(text.data());
  return name.substr(0, name.find('\n'));
}

bool under_launcher() {
  constexpr std::array variables{"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"};
  return std::ranges::any_of(variables, [](const char* name) { return std::getenv(name) != nullptr; });
}

bool first_of_launch() {
  // MPI's own variables first: where mpirun uses Slurm to start its daemons, those of Slurm number the daemons.
  // PMIX_RANK after the others: MPI_Init of Open MPI sets it to 0 in a process that it takes for its only one.
  constexpr std::array ranks{"OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
  for (const char* const name : ranks)
    if (const char* const rank = std::getenv(name)) return rank == std::string_view("0");
  const char* const task = std::getenv("SLURM_STEP_ID") != nullptr ? std::getenv("SLURM_PROCID") : nullptr;
  return task == nullptr || task == std::string_view("0");
}

std::optional<Diagnostic> launcher_mismatch(int mpi_ranks) {
  if (mpi_ranks > 1) return std::nullopt;
  constexpr std::array sizes{"OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
  const auto* const known = std::ranges::find_if(sizes, [](const char* name) { return std::getenv(name) != nullptr; });
  if (known == sizes.end()) return std::nullopt;
  const std::string name = *known;
  // A batch script has Slurm's variables of the job, but is no task of a step.
  if (name == "SLURM_STEP_NUM_TASKS" && std::getenv("SLURM_STEP_ID") == nullptr) return std::nullopt;
  const std::string_view text = std::getenv(*known);
  int processes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), processes);
  if (error != std::errc() || end != text.data() + text.size() || processes <= 1) return std::nullopt;
  return environment_error(
      fmt::format("MPI has 1 rank, and the launcher started {} processes", processes),
      fmt::format("{}={}, but the launcher does not work with {}: each process would run the whole study", name,
                  processes, mpi_library()),
      fmt::format("start the ranks with the mpirun of this MPI library, or with an --mpi of srun that it knows "
                  "(`srun --mpi=list`); to run such a process alone on purpose, unset {}",
                  name));
}

void tell_exit_code(int code) {
  // The rank from the environment and not from MPI: a command that is refused ends before MPI_Init.
  const char* const file = std::getenv("TENEX_EXIT_CODE");
  if (file == nullptr || *file == '\0') return;
  if (under_launcher() && first_of_launch()) std::ofstream(file) << code << '\n';
}

MpiSession::MpiSession() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  ensure(provided >= MPI_THREAD_FUNNELED, "MPI provides no MPI_THREAD_FUNNELED");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
}

MpiSession::~MpiSession() {
  if (!abandoned_) MPI_Finalize();
}

std::string MpiSession::broadcast(std::string bytes) const {
  std::uint64_t size = bytes.size();
  broadcast_piece(&size, 1, MPI_UINT64_T);
  bytes.resize(size);
  for (std::size_t at = 0; at < bytes.size(); at += largest_piece) {
    const auto count = static_cast<int>(std::min(largest_piece, bytes.size() - at));
    broadcast_piece(bytes.data() + at, count, MPI_BYTE);
  }
  return bytes;
}

std::vector<std::string> MpiSession::gather(std::string text) const {
  text.resize(std::min(text.size(), longest_text));
  const int size = static_cast<int>(text.size());
  const auto ranks = rank_ == 0 ? static_cast<std::size_t>(ranks_) : 0;
  std::vector<int> sizes(ranks);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Igather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
  wait_for(request);
  std::vector<int> offsets(ranks);
  std::exclusive_scan(sizes.begin(), sizes.end(), offsets.begin(), 0);
  std::string all(ranks == 0 ? 0 : static_cast<std::size_t>(offsets.back() + sizes.back()), '\0');
  MPI_Igatherv(text.data(), size, MPI_BYTE, all.data(), sizes.data(), offsets.data(), MPI_BYTE, 0, MPI_COMM_WORLD,
               &request);
  wait_for(request);
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < ranks; ++r)
    texts.push_back(all.substr(static_cast<std::size_t>(offsets[r]), static_cast<std::size_t>(sizes[r])));
  return texts;
}

void MpiSession::abandon() {
  // Told at once: at the end it would stand between lines of the result.
  if (!abandoned_ && rank_ == 0)
    std::fprintf(stderr,
                 "a rank was lost: the others take its points, and when all rows are stored MPI is aborted, because it "
                 "would wait for that rank\n");
  abandoned_ = true;
}

ExitCode MpiSession::end(ExitCode code) const {
  if (rank_ > 0) return ExitCode::done;
  if (abandoned_) {
    tell_exit_code(static_cast<int>(code));
    (void)printed_whole();
    abort(static_cast<int>(code));
  }
  return code;
}

void MpiSession::abort(int code) const {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

}  // namespace tenex::cli
