// Converts an iteration's terms (picoseconds) to the optimizer's time model (seconds).
#include "tenex/codesign/time_model.hpp"

#include <utility>

namespace tenex {
namespace {

double seconds(SimTime time) { return static_cast<double>(time.count()) / 1e12; }

TimeSum in_seconds(const VolumeSum& sum) {
  TimeSum result{seconds(sum.constant), {}};
  for (const auto& term : sum.terms) result.terms.push_back({term.weight, term.bytes});
  return result;
}

}  // namespace

TimeModel time_model(const IterationTerms& terms) {
  auto sum = in_seconds(terms.sum);
  TimeModel model{terms.dimensions, sum.constant, std::move(sum.terms), {}};
  for (const auto& overlap : terms.overlaps)
    model.overlaps.push_back({overlap.weight, in_seconds(overlap.first), in_seconds(overlap.second)});
  return model;
}

}  // namespace tenex
