// Expected costs of points. This process estimates each point at most once, when it is first needed.
//
// Estimating may take a while (a machine file, a large shape), so the thread that passes messages never does it. Rank
// 0's lease queue needs all points and has threads estimate them (start_all); a point runner estimates the points that
// were leased to it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "tenex/design/study.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex {

using EstimatePoint = std::function<Estimate(const DesignPoint&)>;

/// Thread-safe. O(points) memory.
class Estimates {
 public:
  /// `study` must outlive it.
  Estimates(const Study& study, EstimatePoint estimate_point);
  /// Ends the threads of start_all() after their current points.
  ~Estimates();
  Estimates(const Estimates&) = delete;
  Estimates& operator=(const Estimates&) = delete;

  /// The estimate of one point, made now unless it is known. Zero where making it throws.
  [[nodiscard]] Estimate of(std::uint32_t point);

  /// The point's kind (cost_model.hpp), known after of() was called for it.
  [[nodiscard]] std::uint32_t kind(std::uint32_t point) const;

  /// Estimates these points on `threads` threads and returns at once. Call it again only when all_known().
  void start_all(std::vector<std::uint32_t> points, int threads);
  /// Whether start_all() is done, or was not called.
  [[nodiscard]] bool all_known() const { return running_ == 0; }

 private:
  void work();

  const Study& study_;
  EstimatePoint estimate_point_;
  mutable std::mutex mutex_;
  std::vector<Estimate> values_;
  std::vector<std::uint32_t> kinds_;
  std::vector<bool> known_;

  std::vector<std::uint32_t> wanted_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::size_t> running_ = 0;
  std::atomic<bool> stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tenex
