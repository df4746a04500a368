#include "tenex/execution/algorithm_table.hpp"

#include <algorithm>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

const std::vector<const AlgorithmTraits*>& algorithm_traits() {
  static const AlgorithmTraits best{
      .name = kBestOfAll,
      .description = "the best of all for the point, by trials",
      .family = AlgorithmFamily::any,
      .reads = {.attempts = true, .routes = true, .switches = true, .phases = true, .stops = true}};
  static const std::vector<const AlgorithmTraits*> table = [] {
    std::vector<const AlgorithmTraits*> entries;
    for (const auto& algorithm : algorithms()) entries.push_back(&algorithm);
    entries.push_back(&auto_algorithm());
    for (const auto& synthesizer : synthesizers()) entries.push_back(&synthesizer);
    entries.push_back(&best);
    return entries;
  }();
  return table;
}

const AlgorithmTraits& traits_of(std::string_view algorithm) {
  const auto found = std::ranges::find(algorithm_traits(), algorithm, &AlgorithmTraits::name);
  ensure(found != algorithm_traits().end(), "an algorithm that no registry has");
  return **found;
}

}  // namespace tenex
