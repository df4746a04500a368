// Internal to evaluate: the contents of a Cache.
#pragma once

#include "tenex/evaluate/evaluate.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/training/training_cache.hpp"

namespace tenex {

class Cache::Impl {
 public:
  explicit Impl(std::size_t limit_bytes) : execution(limit_bytes), training(limit_bytes, execution) {}
  ExecutionCache execution;
  TrainingCache training;
};

}  // namespace tenex
