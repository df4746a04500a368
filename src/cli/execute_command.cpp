// execute: a schedule on real buffers, a rank for each NPU, beside MPI's own collective.
//
// What is sent are messages from rank to rank. A rank does its part in the order of the schedule's times: it waits for
// what it receives, and a send does not wait for its receiver. The time is that of the slowest rank.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "mpi_session.hpp"
#include "report.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/exchange/execution.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex::cli {
namespace {

constexpr std::size_t kDefaultBytes = std::size_t{64} << 20;  ///< of a rank's data, where --elements says nothing

class MpiWire final : public Wire {
 public:
  void send(std::uint32_t to, std::uint32_t number, std::span<const std::byte> bytes) override {
    MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, static_cast<int>(to), static_cast<int>(number),
              MPI_COMM_WORLD, &requests_.emplace_back());
  }
  void receive(std::uint32_t from, std::uint32_t number, std::span<std::byte> bytes) override {
    MPI_Recv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, static_cast<int>(from), static_cast<int>(number),
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  /// Waits until all that was sent has left.
  void end() {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
  }

 private:
  std::vector<MPI_Request> requests_;
};

/// The median over repeats of the slowest rank's microseconds. Collective.
double median_us(std::int64_t repeats, const std::function<void()>& before, const std::function<void()>& timed) {
  std::vector<double> times;
  for (std::int64_t i = 0; i < repeats; ++i) {
    before();
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    timed();
    double took = (MPI_Wtime() - begin) * 1e6;
    MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    times.push_back(took);
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

/// The same collective by MPI's own function, on as many bytes; nullopt for elements that MPI does not add.
std::optional<double> mpi_us(const Execution& execution, int ranks, std::int64_t repeats) {
  const bool sums = reduces(execution.plan.kind);
  if (sums && execution.kind->name == "bf16") return std::nullopt;
  const MPI_Datatype type = !sums ? MPI_BYTE : execution.kind->name == "int32" ? MPI_INT32_T : MPI_FLOAT;
  const std::size_t whole = execution.plan.chunks * execution.elements * (sums ? 1 : execution.kind->bytes);
  const auto share = static_cast<int>(whole / static_cast<std::size_t>(ranks));
  std::vector<std::byte> from(execution.plan.chunks * execution.elements * execution.kind->bytes);
  std::vector<std::byte> to(from.size());
  const auto run = [&] {
    switch (execution.plan.kind) {
      case CollectiveKind::all_gather:
        MPI_Allgather(from.data(), share, type, to.data(), share, type, MPI_COMM_WORLD);
        break;
      case CollectiveKind::reduce_scatter:
        MPI_Reduce_scatter_block(from.data(), to.data(), share, type, MPI_SUM, MPI_COMM_WORLD);
        break;
      case CollectiveKind::all_to_all:
        MPI_Alltoall(from.data(), share, type, to.data(), share, type, MPI_COMM_WORLD);
        break;
      default:
        MPI_Allreduce(from.data(), to.data(), static_cast<int>(whole), type, MPI_SUM, MPI_COMM_WORLD);
    }
  };
  return median_us(
      repeats, [] {}, run);
}

Diagnostic not_as_many_ranks(const ScheduleFile& file, int ranks, const std::string& path) {
  return input_error({},
                     fmt::format("the schedule is for {} NPUs, and there {} {} rank{}", file.topology.npus(),
                                 ranks == 1 ? "is" : "are", ranks, ranks == 1 ? "" : "s"),
                     "a rank stands for an NPU",
                     fmt::format("mpirun -n {} tenex execute {}", file.topology.npus(), path));
}

/// Elements of a chunk: as asked for; else as many as the schedule's chunks have, within kDefaultBytes in all.
std::size_t elements_of(const ExecuteArguments& arguments, const ScheduleFile& file, const ElementKind& kind) {
  if (arguments.elements > 0) return static_cast<std::size_t>(arguments.elements);
  const auto bytes = static_cast<std::size_t>(file.collective.chunk_sizes().front().count());
  const std::size_t most = kDefaultBytes / file.collective.chunks() / kind.bytes;
  return std::clamp<std::size_t>(bytes / kind.bytes, 1, std::max<std::size_t>(1, most));
}

/// Why MPI or the memory cannot carry it; empty: they can.
Diagnostics too_large(const ExecuteArguments& arguments, const Execution& execution, std::uint32_t npu) {
  void* largest_tag = nullptr;
  int known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &largest_tag, &known);
  const auto tags = known != 0 ? static_cast<std::size_t>(*static_cast<int*>(largest_tag)) : 32767;
  if (execution.plan.moves.size() > tags)
    return {resource_error(fmt::format("{} messages, and MPI numbers {}", execution.plan.moves.size(), tags))};
  std::size_t chunks = execution.plan.chunks;
  for (const auto& move : execution.plan.moves) chunks = std::max(chunks, move.from.size());
  if (chunks * execution.elements * execution.kind->bytes > std::numeric_limits<int>::max())
    return {input_error({"--elements", 0, 0}, "messages beyond 2 GiB", "MPI counts in 31 bits", "give fewer")};
  const auto limit = memory_limit(arguments.memory, EvaluateOptions{}.memory_limit_bytes);
  if (!limit) return limit.errors();
  const std::size_t compared = 2 * execution.plan.chunks * execution.elements * execution.kind->bytes;  // mpi_us()
  if (const auto bytes = bytes_of_npu(execution, npu) + compared; bytes > *limit)
    return {resource_error(fmt::format("a rank needs {} bytes of {}: give fewer --elements", bytes, *limit))};
  return {};
}

/// What all ranks find. Collective.
ExitCode run_and_report(const ExecuteArguments& arguments, const MpiSession& mpi, const ScheduleFile& file,
                        SimTime modelled) {
  const ElementKind& kind = *find_element_kind(arguments.type);
  const auto execution = plan_execution(file, kind, elements_of(arguments, file, kind));
  const auto rank = static_cast<std::uint32_t>(mpi.rank());
  const auto errors = execution ? too_large(arguments, *execution, rank) : execution.errors();
  int first_refused = errors.empty() ? mpi.ranks() : mpi.rank();
  MPI_Allreduce(MPI_IN_PLACE, &first_refused, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first_refused < mpi.ranks()) return first_refused == mpi.rank() ? refuse(errors) : ExitCode::bad_input;
  NpuExecution npu(*execution, rank);
  MpiWire wire;
  const double time = median_us(
      arguments.repeats, [&] { npu.fill(); },
      [&] {
        npu.run(wire);
        wire.end();
      });
  const auto own = npu.compare();
  std::array<std::uint64_t, 2> compared{own.elements, own.wrong};
  MPI_Allreduce(MPI_IN_PLACE, compared.data(), 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  const auto mpi_time = mpi_us(*execution, mpi.ranks(), arguments.repeats);
  Report report;
  report.add("file", arguments.file.string());
  report.add("algorithm", file.algorithm);
  report.add("collective", std::string(to_string(file.collective.kind())));
  report.add_count("npus", mpi.ranks());
  report.add_count("chunks", static_cast<std::int64_t>(file.collective.chunks()));
  report.add("type", std::string(kind.name));
  report.add_count("elements_per_chunk", static_cast<std::int64_t>(execution->elements));
  report.add_count("compared_elements", static_cast<std::int64_t>(compared[0]));
  report.add_count("wrong_elements", static_cast<std::int64_t>(compared[1]));
  report.add_count("messages", static_cast<std::int64_t>(execution->plan.moves.size()));
  report.add_count("repeats", arguments.repeats);
  report.add("measured_us", time);
  if (mpi_time) report.add("mpi_collective_us", *mpi_time);
  report.add("modelled_us", static_cast<double>(modelled.count()) / kPicosecondsPerMicrosecond);
  if (mpi.rank() == 0) std::fputs((arguments.json ? to_json(report) : to_text(report)).c_str(), stdout);
  return compared[1] == 0 && compared[0] > 0 ? ExitCode::done : ExitCode::some_failed;
}

}  // namespace

std::vector<std::string> element_words() {
  std::vector<std::string> words;
  for (const ElementKind& kind : element_kinds()) words.emplace_back(kind.name);
  return words;
}

ExitCode execute(const ExecuteArguments& arguments) {
  MpiSession mpi;
  const auto refuse_once = [&](const Diagnostics& errors) {
    return mpi.end(mpi.rank() == 0 ? refuse(errors) : ExitCode::bad_input);
  };
  if (const auto mismatch = launcher_mismatch(mpi.ranks())) return refuse_once({*mismatch});
  const auto opened = load_schedule(arguments.file, arguments.memory, 1, Parts::refused);
  if (!opened) return refuse_once(opened.errors());
  if (!opened->as_recorded()) return refuse_once({changed_schedule(arguments.file.string(), *opened)});
  const ScheduleFile& file = opened->file;
  if (static_cast<std::size_t>(mpi.ranks()) != file.topology.npus())
    return refuse_once({not_as_many_ranks(file, mpi.ranks(), arguments.file.string())});
  VerifyOptions checks;
  checks.start_delays = file.start_delays;
  const auto verdict = verify({file.topology, file.collective, file.occupancy}, file.schedule, checks);
  if (!verdict.valid())
    return refuse_once(
        {input_error({arguments.file.string(), 0, 0},
                     verdict.outcome == Verification::skipped ? "the check of the schedule does not fit into the memory"
                                                              : "the schedule is not valid",
                     {}, "`tenex verify` says more")});
  return mpi.end(run_and_report(arguments, mpi, file, verdict.collective_time));
}

}  // namespace tenex::cli
