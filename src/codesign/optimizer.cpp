// The schemes by name, and the functions that they share.
#include "tenex/codesign/optimizer.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "codesign/region_data.hpp"
#include "codesign/splitting.hpp"

namespace tenex {
namespace {

struct SchemeEntry {
  SplitScheme scheme;
  std::string_view name;
  Result<BandwidthSplit> (*split)(const codesign::SplitCase&);
};

constexpr std::array kSchemes{
    SchemeEntry{SplitScheme::perf_opt, "perf_opt", codesign::split_for_time},
    SchemeEntry{SplitScheme::perf_per_cost, "perf_per_cost", codesign::split_for_time_and_cost},
    SchemeEntry{SplitScheme::equal, "equal", codesign::split_equally},
};

}  // namespace

std::string_view to_string(SplitScheme scheme) { return kSchemes[static_cast<std::size_t>(scheme)].name; }

Result<BandwidthSplit> split_bandwidth(SplitScheme scheme, const TimeModel& model, const BandwidthRegion& region,
                                       const CostRates* rates, const SplitOptions& options) {
  ensure(model.dimensions == region.dimensions(), "a workload and its constraints speak of one network");
  ensure(rates == nullptr || rates->per_gigabyte_per_second.size() == model.dimensions,
         "a network has one price per dimension");
  const TimeModel collapsed = collapse(model);
  return kSchemes[static_cast<std::size_t>(scheme)].split({collapsed, region, rates, options});
}

namespace codesign {

BandwidthSplit rounded_split(const SplitCase& given, std::span<const double> bandwidth) {
  auto rounded = given.region.round(bandwidth);
  BandwidthSplit split;
  split.bandwidth = std::move(rounded.bandwidth);
  split.exact = rounded.exact;
  split.time = time_at(given.model, split.bandwidth);
  if (given.rates != nullptr) split.cost = network_cost(*given.rates, split.bandwidth);
  return split;
}

double relative_gap(double upper, double lower) { return upper > 0 ? std::max(0.0, (upper - lower) / upper) : 0.0; }

ConvexProblem time_problem(const SplitCase& given) {
  ConvexProblem problem = given.region.data().polytope;
  const auto add = [&problem](const std::vector<TimeTerm>& terms, double weight) {
    for (const auto& term : terms)
      for (const double volume : term.volumes) problem.volumes.push_back(weight * term.weight * volume);
  };
  add(given.model.terms, 1);
  for (const auto& overlap : given.model.overlaps) {
    for (const auto* side : {&overlap.first, &overlap.second}) {
      add(side->terms, overlap.weight);
      problem.sides.push_back({side->terms.size(), overlap.weight * side->constant});
    }
  }
  return problem;
}

}  // namespace codesign
}  // namespace tenex
