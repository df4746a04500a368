// A program under mpirun that measures MPI_Allreduce and prints the times as OSU's benchmark of All-Reduce does with
// -f: the mean, the least and the largest over ranks of each rank's mean. Its argument names a file for what OSU's does
// not say: the time of all iterations of a size with all that lies between them, in us.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdio>
#include <vector>

namespace {

constexpr int kLeastBytes = 4;
constexpr int kMostBytes = 1 << 22;
constexpr int kIterations = 20;
constexpr int kWarmUp = 3;
constexpr double kMicro = 1e6;

struct Times {
  double mean_us = 0;   // of one iteration on this rank
  double whole_us = 0;  // from before any rank begins the first until all have ended the last
};

Times measure(const std::vector<float>& in, std::vector<float>& out, int count) {
  double sum = 0;
  const double first = MPI_Wtime();
  for (int i = -kWarmUp; i < kIterations; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    MPI_Allreduce(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (i >= 0) sum += MPI_Wtime() - begin;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return {.mean_us = sum / kIterations * kMicro, .whole_us = (MPI_Wtime() - first) * kMicro};
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0)
    std::printf(
        "\n# OSU MPI Allreduce Latency Test v7.3\n# Datatype: MPI_FLOAT.\n"
        "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n");
  std::FILE* const wholes = rank == 0 && argc > 1 ? std::fopen(argv[1], "w") : nullptr;
  const std::vector<float> in(kMostBytes / sizeof(float), 1.0F);
  std::vector<float> out(in.size());
  for (int bytes = kLeastBytes; bytes <= kMostBytes; bytes *= 4) {
    const auto own = measure(in, out, bytes / static_cast<int>(sizeof(float)));
    double sum = 0;
    double least = 0;
    double most = 0;
    MPI_Reduce(&own.mean_us, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&own.mean_us, &least, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&own.mean_us, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("%-10d %18.2f %17.2f %17.2f %11d\n", bytes, sum / ranks, least, most, kIterations);
    if (wholes != nullptr) std::fprintf(wholes, "%d %.2f\n", bytes, own.whole_us);
  }
  if (wholes != nullptr) std::fclose(wholes);
  MPI_Finalize();
  return 0;
}
