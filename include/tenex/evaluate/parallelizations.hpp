// A search over the parallelizations of a training point.
#pragma once

#include <cstddef>

#include "tenex/base/diagnostic.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/training/hp_search.hpp"

namespace tenex {

/// search_hp() with the cache of points. Errors: its.
[[nodiscard]] Result<HpSearch> search_parallelizations(const DesignPoint& point, const HpPins& pins, std::size_t most,
                                                       int threads, Cache& cache);

}  // namespace tenex
