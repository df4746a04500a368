// Numbers of chunks are tried as powers of two, until two in a row gain less than half a percent; then halves of the
// two gaps beside the best number. What a pipeline loses while it fills is in proportion to a chunk, so each doubling
// gains half of what the one before did. An algorithm that would not pass its rival with four times as much is left,
// and no number weighs more than four times as much is worth (eight boxes of a DGX-H100, All-Reduce of 256 KiB by
// trees: 32 chunks gain 0.3 %, 64 would gain 0.2 % for as much work as all before together). Both rules wait until the
// numbers tried have weighed something: where chunks do not divide evenly among links, times stay on a plateau (six of
// the GPUs of an MI300X, All-Reduce of 1 GiB by pccl: 5.59 ms with 1, 2 and 4 chunks, 4.20 with 8, 4.02 with 64). No
// plateau is as high as four times the best time: there the rule does not wait. An algorithm that takes as long as its
// rival to the picosecond with every number that both tried, and does so with two numbers in a row that take unlike
// times, does the same as that one (trees, themis and direct over one switch), so it is left, too. Two equal times
// alone may be two optima: on amd_1ch, All-Reduce of 16 KiB, trees and tacos agree with 4 and 8 chunks, not with 1, 2
// and 16, and trees is 2.5 % shorter with 256.
//
// Conditions that differ in size are cut alike: so many chunks of the largest, and of others as many as make theirs no
// larger.
#include "evaluate/chunk_search.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <vector>

#include "tenex/design/point_collective.hpp"
#include "tenex/execution/build.hpp"

namespace tenex {
namespace {

/// Powers of two whose works together weigh no more are all tried, whatever they gain.
constexpr double kFreeWeight = 0.5;
/// Unless the rival's time is so many times shorter.
constexpr std::int64_t kHopeless = 4;
/// Two numbers of chunks in a row that do not gain this share end the search for larger ones.
constexpr std::int64_t kLeastGain = 200;
/// How often the gaps beside the best number of chunks are halved, and what part of the time that is taken to gain at
/// most.
constexpr int kRefinements = 2;
constexpr std::int64_t kMostOfRefinement = 8;
/// All further doublings together are taken to gain at most so many times what the better one of the last two did.
constexpr std::int64_t kMostGainLeft = 4;

}  // namespace

std::optional<double> weight_of_chunks(const DesignPoint& point, std::int64_t chunks, Estimator& estimator,
                                       std::size_t memory_limit_bytes, double most) {
  const auto trial = with_chunks(point, chunks);
  if (chunks > 1 && !build_point_collective(trial, point.topology.npus())) return std::nullopt;
  const auto expected = estimator.cost(trial);
  const bool fits = expected.bytes <= memory_limit_bytes && expected.weight <= std::min(most, kMostWeightOfChunks);
  return fits || chunks == 1 ? std::optional(expected.weight) : std::nullopt;
}

ChunkSearch::ChunkSearch(Trials& trials, const DesignPoint& point, Estimator& estimator, std::size_t memory_limit_bytes)
    : trials_(trials),
      point_(point),
      estimator_(estimator),
      memory_limit_bytes_(memory_limit_bytes),
      unlike_(largest_of_unlike_conditions(point).has_value()) {}

/// Whether the algorithm, as its last doublings gained, may still pass its rival.
bool ChunkSearch::is_left() const {
  const auto& rival = trials_.rival();
  return !rival || !least_ || std::max(gain_, last_gain_) > (*least_ - rival->time) / kMostGainLeft;
}

/// What further numbers may save at most, as a part of the least time: some times what the last doublings did.
double ChunkSearch::part_left() const {
  const auto gain = std::max(gain_, last_gain_);
  if (!least_ || gain >= *least_ / kMostGainLeft) return 1;
  return static_cast<double>(kMostGainLeft) * static_cast<double>(gain.count()) / static_cast<double>(least_->count());
}

/// Whether all numbers that both tried, the last two among them, take exactly as long by the rival, and are on no
/// plateau.
bool ChunkSearch::copies_rival() const {
  const auto& rival = trials_.rival();
  if (!rival || rival->times == nullptr || times_.size() < 2) return false;
  const auto last = std::prev(times_.end());
  const auto before = std::prev(last);
  if (last->second == before->second) return false;
  if (!rival->times->contains(last->first) || !rival->times->contains(before->first)) return false;
  return std::ranges::all_of(times_, [&](const auto& own) {
    const auto found = rival->times->find(own.first);
    return found == rival->times->end() || found->second == own.second;
  });
}

void ChunkSearch::advance(double most) {
  while (doubles_) {
    const auto& rival = trials_.rival();
    const bool hopeless = rival && least_ && *least_ / kHopeless > rival->time;
    const bool free = !hopeless && weight_ <= kFreeWeight;
    doubles_ =
        next_ <= kMostAutomaticChunks && (free || (poor_ < 2 && is_left())) && !copies_rival() && !trials_.ended();
    if (!doubles_) return;
    // Where amounts differ much, pieces of the largest divide nothing else until they are small.
    if (!free && unlike_) {
      doubles_ = false;
      return attempt_finest(next_);
    }
    if (next_ > 1 && !weight_of_chunks(point_, next_, estimator_, memory_limit_bytes_, most)) {
      doubles_ = weight_of_chunks(point_, next_, estimator_, memory_limit_bytes_).has_value();
      return;
    }
    const auto before = least_;
    doubles_ = attempt(next_);
    if (!doubles_) return;
    next_ *= 2;
    last_gain_ = gain_;
    gain_ = before ? *before - *least_ : SimTime::max();
    poor_ = before && gain_ < *before / kLeastGain ? poor_ + 1 : 0;
  }
}

void ChunkSearch::finish() {
  advance(std::numeric_limits<double>::max());
  if (copies_rival()) return;
  const auto is_near = [&] {
    return !trials_.rival() || *least_ - *least_ / kMostOfRefinement <= trials_.rival()->time;
  };
  for (int round = 0; !unlike_ && round < kRefinements && least_ && is_near() && !trials_.ended(); ++round) refine();
}

/// False if no larger number need be tried.
bool ChunkSearch::attempt(std::int64_t chunks) {
  if (times_.contains(chunks)) return true;
  const double most = trials_.most_weight(part_left());
  const auto weight = weight_of_chunks(point_, chunks, estimator_, memory_limit_bytes_, most);
  if (!weight) return false;
  weight_ += *weight;
  const auto time = trials_.run(with_chunks(point_, chunks));
  if (!time) return false;
  times_.emplace(chunks, *time);
  least_ = least_ ? std::min(*least_, *time) : *time;
  return true;
}

/// The largest power of two from `least` on that can be afforded.
void ChunkSearch::attempt_finest(std::int64_t least) {
  for (std::int64_t chunks = kMostAutomaticChunks; chunks >= least; chunks /= 2)
    if (attempt(chunks)) return;
}

/// The middles of the gaps beside the best number.
void ChunkSearch::refine() {
  const auto best = trials_.best()->chunks;
  const auto here = times_.find(best);
  std::vector<std::int64_t> middles;
  if (here != times_.begin()) middles.push_back((std::prev(here)->first + best) / 2);
  if (std::next(here) != times_.end()) middles.push_back((std::next(here)->first + best + 1) / 2);
  for (const auto chunks : middles)
    if (!trials_.ended()) attempt(chunks);
}

}  // namespace tenex
