// Faults on purpose, one for each sanitizer, so that one that is off or turned down is noticed; and two OpenMP
// programs, with and without a race, that tell whether the runtime reports its barriers to ThreadSanitizer (Archer).
//
//   planted leak|use_after_free|overflow|race|openmp_race|openmp_clean
#include <omp.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 2;

/// Out of the optimizer's sight.
int opaque(int value) {
  volatile int hidden = value;
  return hidden;
}

int leak() {
  const int* lost = new int(opaque(1));
  const int kept = *lost;
  lost = nullptr;
  return kept - 1;
}

int use_after_free() {
  const int* number = new int(opaque(1));
  delete number;
  return *number;
}

int overflow() { return opaque(INT_MAX) + opaque(1) == 0 ? 1 : 0; }

int race() {
  int count = 0;
  const auto add = [&] {
    for (int i = 0; i < 1000; ++i) ++count;
  };
  std::thread other(add);
  add();
  other.join();
  return count < 0 ? 1 : 0;
}

/// Every thread writes its own cell and then reads its neighbour's; a barrier between the two makes that correct.
int neighbours(bool with_barrier) {
  std::vector<int> cells(kThreads, 0);
  int sum = 0;
#pragma omp parallel num_threads(kThreads) reduction(+ : sum)
  {
    const auto own = static_cast<std::size_t>(omp_get_thread_num());
    for (int i = 0; i < 1000; ++i) {
      cells[own] = i;
      if (with_barrier) {
#pragma omp barrier
      }
      sum += cells[(own + 1) % kThreads];
      if (with_barrier) {
#pragma omp barrier
      }
    }
  }
  return sum < 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view fault = argc == 2 ? argv[1] : "";
  if (fault == "leak") return leak();
  if (fault == "use_after_free") return use_after_free();
  if (fault == "overflow") return overflow();
  if (fault == "race") return race();
  if (fault == "openmp_race") return neighbours(false);
  if (fault == "openmp_clean") return neighbours(true);
  std::fputs("no such fault\n", stderr);
  return 2;
}
