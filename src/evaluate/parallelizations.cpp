// The search of the module training, with a cache that points share.
#include "tenex/evaluate/parallelizations.hpp"

#include "evaluate/cache.hpp"

namespace tenex {

Result<HpSearch> search_parallelizations(const DesignPoint& point, const HpPins& pins, std::size_t most, int threads,
                                         Cache& cache) {
  return search_hp(point, pins, most, threads, cache.impl().training);
}

}  // namespace tenex
