#include "coordinator/estimates.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "tenex/coordinator/cost_model.hpp"

namespace tenex {

Estimates::Estimates(const Study& study, EstimatePoint estimate_point)
    : study_(study),
      estimate_point_(std::move(estimate_point)),
      values_(study.points.size()),
      kinds_(study.points.size(), 0),
      known_(study.points.size(), false) {}

Estimates::~Estimates() {
  stopping_ = true;
  for (auto& thread : threads_) thread.join();
}

Estimate Estimates::of(std::uint32_t point) {
  {
    const std::lock_guard lock(mutex_);
    if (known_[point]) return values_[point];
  }
  Estimate made;
  const auto& design = study_.points[point];
  const auto kind = kind_of(design);
  try {  // without the lock: two threads may both make it, with the same result
    made = estimate_point_(design);
  } catch (const std::exception&) {
    // There is no memory to estimate in: the estimate is zero, and the row will show what the evaluation meets.
  }
  const std::lock_guard lock(mutex_);
  values_[point] = made;
  kinds_[point] = kind;
  known_[point] = true;
  return made;
}

std::uint32_t Estimates::kind(std::uint32_t point) const {
  const std::lock_guard lock(mutex_);
  return kinds_[point];
}

void Estimates::start_all(std::vector<std::uint32_t> points, int threads) {
  for (auto& thread : threads_) thread.join();
  threads_.clear();
  wanted_ = std::move(points);
  next_ = 0;
  const auto count = std::min(wanted_.size(), static_cast<std::size_t>(std::max(1, threads)));
  running_ = count;
  for (std::size_t t = 0; t < count; ++t) threads_.emplace_back([this] { work(); });
}

void Estimates::work() {
  for (auto i = next_++; i < wanted_.size() && !stopping_; i = next_++) (void)of(wanted_[i]);
  --running_;
}

}  // namespace tenex
