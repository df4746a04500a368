// Computes the progress. See the header for the model.
#include "coordinator/work_progress.hpp"

#include <algorithm>
#include <cmath>

namespace tenex {

namespace {

constexpr double most_of_a_point = 0.9;   ///< largest fraction of a running point that counts as done
constexpr double weight_of_prior = 0.02;  ///< weight of the estimates, as a fraction of the run's expected work

bool is_sound(double seconds) { return seconds > 0 && std::isfinite(seconds); }

/// The work that a point has done so far, in seconds of one thread.
double worked(const PointAtWork& point) { return point.elapsed * (point.threaded ? point.threads : 1); }

/// The learned factors, weighted with the estimates.
class LearnedFactors {
 public:
  LearnedFactors(const WorkAtHand& work) : costs_(work.costs) {
    for (const auto& point : work.running)
      if (worked(point) > point.expected) costs_.add({point.kind, 1, point.expected, worked(point)});
    const double known = costs_.expected();
    const double prior = weight_of_prior * work.expected->total();
    weight_ = known > 0 ? known / (known + prior) : 0;
  }

  [[nodiscard]] double of(std::uint32_t kind) const { return std::pow(costs_.factor(kind), weight_); }

 private:
  LearnedCosts costs_;
  double weight_ = 0;
};

/// Seconds that a running point still needs.
double left_of(const PointAtWork& point, double factor) {
  const double whole = factor * point.expected / (point.threaded ? point.threads : 1);
  return std::max(whole, point.elapsed / most_of_a_point) - point.elapsed;
}

}  // namespace

void ExpectedWork::add(std::uint32_t kind, double seconds, int threads) {
  if (!is_sound(seconds)) return;
  auto& sums = kinds_[kind];
  sums.left += seconds;
  sums.added += seconds;
  sums.occupied += seconds * threads;
  total_ += seconds;
}

void ExpectedWork::end(std::uint32_t kind, double seconds) {
  const auto sums = kinds_.find(kind);
  if (sums != kinds_.end() && is_sound(seconds)) sums->second.left -= seconds;
}

WorkOutlook look_ahead(const WorkAtHand& work) {
  WorkOutlook outlook;
  const LearnedFactors factors(work);
  const int threads = std::max(1, work.threads);
  double done = work.occupied;
  double left = 0;     // thread-seconds
  double longest = 0;  // seconds
  std::unordered_map<std::uint32_t, double> running;
  for (const auto& point : work.running) {
    const double seconds = left_of(point, factors.of(point.kind));
    outlook.running_left.push_back(seconds);
    running[point.kind] += point.expected;
    done += point.elapsed * point.threads;
    left += seconds * point.threads;
    longest = std::max(longest, seconds);
  }
  const double running_only = longest;
  for (const auto& [kind, sums] : work.expected->kinds()) {
    const auto at_work = running.find(kind);
    const double waiting = sums.left - (at_work == running.end() ? 0.0 : at_work->second);
    // Sums of many small numbers may end slightly beside 0.
    if (waiting > 1e-9 * sums.added) left += factors.of(kind) * waiting * sums.occupied / sums.added;
  }
  const auto& next = work.longest_waiting;
  longest = std::max(longest, factors.of(next.kind) * next.expected / (next.threaded ? next.threads : 1));
  outlook.seconds_left = work.draining ? running_only : std::max(left / threads, longest);
  outlook.fraction = left > 0 ? done / (done + left) : 1;
  return outlook;
}

}  // namespace tenex
