// Internal to evaluate: the number of chunks of a point that leaves it open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "evaluate/trials.hpp"
#include "tenex/base/units.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex {

/// Numbers of chunks that weigh more are left out, except 1.
inline constexpr double kMostWeightOfChunks = 60;

/// What a number of chunks is expected to weigh; nullopt if it cannot be tried: the collective does not have so many,
/// or they are expected to weigh more than `most`, or to take too much memory. One chunk always can.
[[nodiscard]] std::optional<double> weight_of_chunks(const DesignPoint& point, std::int64_t chunks,
                                                     Estimator& estimator, std::size_t memory_limit_bytes,
                                                     double most = kMostWeightOfChunks);

/// Tries numbers of chunks of one algorithm. All that it is given outlives it.
class ChunkSearch {
 public:
  ChunkSearch(Trials& trials, const DesignPoint& point, Estimator& estimator, std::size_t memory_limit_bytes);

  /// Tries powers of two, one at least, until one weighs more or the search is over.
  void advance(double most);
  /// Tries all that is left, then the middles beside the best number.
  void finish();
  [[nodiscard]] const std::map<std::int64_t, SimTime>& times() const { return times_; }

 private:
  [[nodiscard]] bool is_left() const;
  [[nodiscard]] double part_left() const;
  [[nodiscard]] bool copies_rival() const;
  bool attempt(std::int64_t chunks);
  void attempt_finest(std::int64_t least);
  void refine();

  Trials& trials_;
  const DesignPoint& point_;
  Estimator& estimator_;
  std::size_t memory_limit_bytes_;
  bool unlike_;  ///< conditions differ in size
  std::map<std::int64_t, SimTime> times_;
  std::optional<SimTime> least_;
  double weight_ = 0;  ///< of all numbers tried
  std::int64_t next_ = 1;
  int poor_ = 0;  ///< numbers in a row that gained little
  SimTime gain_ = SimTime::max();
  SimTime last_gain_ = SimTime::max();
  bool doubles_ = true;  ///< larger powers of two may still be tried
};

}  // namespace tenex
