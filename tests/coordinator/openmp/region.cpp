#include "coordinator/openmp/region.hpp"

#include <omp.h>

namespace tenex::testing {

int open_region(int threads) {
  int team = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp single
    team = omp_get_num_threads();
  }
  return team;
}

}  // namespace tenex::testing
