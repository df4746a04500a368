// The digits of every offset, with ties in turn.
#include "synthesis/pccl/orbit/exchange_ways.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <span>

#include "tenex/base/contract.hpp"

namespace tenex {

namespace {

bool is_ring(const TranslationDimension& dimension) { return dimension.farthest_hops > 1; }

/// The leg over `digit` positions of a dimension. `tie` is flipped where both ways round are as long.
ExchangeLeg leg_over(const TranslationDimension& dimension, std::uint32_t digit, bool& tie) {
  if (digit == 0) return {dimension.first_direction, 0};
  if (!is_ring(dimension)) return {dimension.first_direction + digit - 1, 1};
  const std::uint32_t back = dimension.size - digit;
  if (digit == back) tie = !tie;
  const bool upward = digit == back ? tie : digit < back;
  return upward ? ExchangeLeg{dimension.first_direction, digit} : ExchangeLeg{dimension.first_direction + 1, back};
}

/// A way as signed hops along each dimension.
using SignedWay = std::vector<std::int64_t>;

/// The shortest ways to an offset of a twisted group: every number of turns around the twisted rings, and along the
/// last one what then remains, both ways round where these are as long.
class TwistedWays {
 public:
  explicit TwistedWays(const TranslationGroup& group) : group_(group), way_(group.dimensions().size()) {
    const std::int64_t last = group.dimensions().back().size;
    for (const auto& dimension : group.dimensions()) turns_.push_back(1 + last / (2 * std::int64_t{dimension.size}));
  }

  const std::vector<SignedWay>& to(NpuId offset) {
    shortest_.clear();
    least_ = std::numeric_limits<std::int64_t>::max();
    turn(0, offset, 0, 0);
    return shortest_;
  }

 private:
  void turn(std::size_t i, NpuId offset, std::int64_t hops, std::int64_t carried) {
    const auto& dimension = group_.dimensions()[i];
    const std::int64_t size = dimension.size;
    const std::int64_t digit = offset.value() / dimension.stride % dimension.size;
    if (i + 1 == way_.size()) {
      const std::int64_t along = ((digit - carried) % size + size) % size;
      add(hops, along);
      if (2 * along >= size) add(hops, along - size);
      return;
    }
    const std::int64_t turns = dimension.carry > 0 ? turns_[i] : 1;
    for (std::int64_t t = -turns; t <= turns; ++t) {  // digit + t size hops go around t times
      way_[i] = digit + t * size;
      turn(i + 1, offset, hops + std::abs(way_[i]), carried + t * dimension.carry);
    }
  }
  void add(std::int64_t hops, std::int64_t along) {
    hops += std::abs(along);
    if (hops > least_) return;
    if (hops < least_) shortest_.clear();
    least_ = hops;
    way_.back() = along;
    shortest_.push_back(way_);
  }

  const TranslationGroup& group_;
  SignedWay way_;
  std::vector<std::int64_t> turns_;  ///< by dimension: the most on a shortest way
  std::vector<SignedWay> shortest_;
  std::int64_t least_ = 0;
};

ExchangeLeg leg_of(const TranslationDimension& dimension, std::int64_t hops) {
  return {dimension.first_direction + (hops < 0 ? 1U : 0U), static_cast<std::uint32_t>(std::abs(hops))};
}

/// How much a way adds to the sum of the squares of the loads, halved.
std::uint64_t added_by(const TranslationGroup& group, const std::vector<std::uint64_t>& load, const SignedWay& way) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < way.size(); ++i) {
    const ExchangeLeg leg = leg_of(group.dimensions()[i], way[i]);
    sum += leg.hops * (2 * load[leg.direction] + leg.hops);
  }
  return sum;
}

}  // namespace

bool has_exchange_ways(const TranslationGroup& group) {
  if (group.twisted()) return true;
  for (const auto& dimension : group.dimensions()) {
    if (dimension.directions != (is_ring(dimension) ? 2 : dimension.size - 1)) return false;
    for (std::uint32_t i = 0; i < dimension.directions; ++i) {
      const std::uint32_t step = is_ring(dimension) && i == 1 ? dimension.size - 1 : i + 1;
      if (group.directions()[dimension.first_direction + i].step != step) return false;
    }
  }
  return true;
}

std::uint32_t exchange_hops(const TranslationDimension& dimension, std::uint32_t digit) {
  if (!is_ring(dimension)) return digit == 0 ? 0 : 1;
  return std::min(digit, dimension.size - digit);
}

std::optional<std::size_t> uneven_ring(const TranslationGroup& group, const OrbitChunks& chunks) {
  if (group.twisted()) return std::nullopt;
  for (std::size_t i = 0; i < group.dimensions().size(); ++i) {
    const auto& dimension = group.dimensions()[i];
    if (!is_ring(dimension) || dimension.size % 2 != 0) continue;
    std::uint64_t ties = 0;
    for (std::uint32_t delta = 0; delta < group.npus(); ++delta)
      if (delta / dimension.stride % dimension.size == dimension.size / 2 && chunks.has(delta * chunks.each))
        ties += chunks.each;
    if (ties % 2 == 1) return i;
  }
  return std::nullopt;
}

ExchangeWays::ExchangeWays(const TranslationGroup& group, const OrbitChunks& chunks,
                           std::optional<std::size_t> coset_ring)
    : cosets(coset_ring ? 2 : 1),
      coset_dimension(coset_ring.value_or(0)),
      numbers(chunks.numbers(group.npus())),
      jobs(cosets * numbers),
      dimensions(group.dimensions().size()),
      load(group.directions().size(), 0) {
  TENEX_EXPECTS(has_exchange_ways(group), "a group that has ways");
  legs.reserve(jobs * dimensions);
  if (group.twisted()) {
    add_twisted_legs(group, chunks);
    return;
  }
  for (std::size_t coset = 0; coset < cosets; ++coset) {
    std::vector<char> tie(dimensions, coset == 0 ? 0 : 1);
    for (std::uint32_t number = 0; number < numbers; ++number)
      for (std::size_t i = 0; i < dimensions; ++i) {
        const auto& dimension = group.dimensions()[i];
        const std::uint32_t digit = chunks.has(number) ? number / chunks.each / dimension.stride % dimension.size : 0;
        bool turn = tie[i] != 0;
        legs.push_back(leg_over(dimension, digit, turn));
        tie[i] = turn ? 1 : 0;
        load[legs.back().direction] += legs.back().hops;
      }
  }
}

/// A first pass in order, and passes that move a job to the way that then is best, until none moves.
void ExchangeWays::add_twisted_legs(const TranslationGroup& group, const OrbitChunks& chunks) {
  constexpr int kPasses = 8;
  TwistedWays ways(group);
  legs.resize(jobs * dimensions);
  for (std::size_t job = 0; job < jobs; ++job)
    for (std::size_t i = 0; i < dimensions; ++i) legs[job * dimensions + i] = leg_of(group.dimensions()[i], 0);
  bool moved = true;
  for (int pass = 0; pass < kPasses && moved; ++pass) {
    moved = false;
    const std::vector<SignedWay>* shortest = nullptr;
    for (std::uint32_t number = 0; number < numbers; ++number) {
      if (!chunks.has(number)) continue;
      if (shortest == nullptr || number % chunks.each == 0) shortest = &ways.to(NpuId(number / chunks.each));
      const std::span<ExchangeLeg> own(legs.data() + number * dimensions, dimensions);
      for (const ExchangeLeg& leg : own) load[leg.direction] -= leg.hops;
      const SignedWay& best =
          *std::ranges::min_element(*shortest, {}, [&](const SignedWay& way) { return added_by(group, load, way); });
      for (std::size_t i = 0; i < dimensions; ++i) {
        const ExchangeLeg leg = leg_of(group.dimensions()[i], best[i]);
        moved = moved || leg.hops != own[i].hops || (leg.hops > 0 && leg.direction != own[i].direction);
        own[i] = leg;
        load[leg.direction] += leg.hops;
      }
    }
  }
}

std::vector<std::uint64_t> ExchangeWays::load_of(const OrbitPorts& ports) const {
  std::vector<std::uint64_t> sums(ports.size(), 0);
  for (std::size_t direction = 0; direction < load.size(); ++direction)
    sums[ports.port_of[direction]] += load[direction];
  return sums;
}

}  // namespace tenex
