// Places the ends of regions by counting what they cut, and finds clusters by breadth-first search.
#include "synthesis/tacos/coarse/tight_npus.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "synthesis/tacos/coarse/streams.hpp"

namespace tenex {
namespace {

constexpr std::size_t kMostAround = 8;
constexpr std::int64_t kTightWeight = 1024;  ///< of a link between tight NPUs; a group that is cut weighs 1

class Finder {
 public:
  explicit Finder(const StreamProblem& problem)
      : problem_(problem), npus_(static_cast<std::uint32_t>(problem.block_of.size())) {
    std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
    for (std::uint32_t npu = 0; npu < npus_; ++npu) least = std::min(least, ports(npu));
    for (std::uint32_t npu = 0; npu < npus_; ++npu) tight_.push_back(ports(npu) == least);
  }

  TightNpus find(std::uint32_t region_size) {
    cut_regions(region_size);
    found_.around_begin.push_back(0);
    for (std::uint32_t npu = 0; npu < npus_; ++npu) {
      if (tight(npu)) look_around(npu);
      found_.around_begin.push_back(static_cast<std::uint32_t>(found_.around.size()));
    }
    return std::move(found_);
  }

 private:
  std::uint32_t ports(std::uint32_t npu) const {
    std::uint32_t usable = 0;
    for (auto slot = problem_.slot_begin[npu]; slot < problem_.slot_begin[npu + 1]; ++slot)
      usable += problem_.joins_group(problem_.source[slot], npu) ? 1U : 0U;
    return usable;
  }
  bool tight(std::uint32_t npu) const { return tight_[npu]; }

  /// Places the ends of regions, which may move by a quarter of a region.
  void cut_regions(std::uint32_t size) {
    // Per end: groups that have NPUs on both sides, and links between tight NPUs.
    std::vector<std::int64_t> cut(std::size_t{npus_} + 1, 0);
    const auto count = [&](std::uint32_t low, std::uint32_t high, std::int64_t weight) {
      cut[low + 1] += weight;
      cut[high + 1] -= weight;
    };
    std::vector<std::uint32_t> lowest(problem_.group_begin.size() - 1, npus_);
    std::vector<std::uint32_t> highest(lowest.size(), 0);
    for (std::uint32_t npu = 0; npu < npus_; ++npu) {
      const auto group = problem_.group_of[npu];
      lowest[group] = std::min(lowest[group], npu);
      highest[group] = npu;
      for (auto slot = problem_.slot_begin[npu]; tight(npu) && slot < problem_.slot_begin[npu + 1]; ++slot) {
        const auto source = problem_.source[slot];
        if (problem_.joins_group(source, npu) && tight(source))
          count(std::min(source, npu), std::max(source, npu), kTightWeight);
      }
    }
    for (std::size_t group = 0; group < lowest.size(); ++group) count(lowest[group], highest[group], 1);
    for (std::size_t end = 1; end < cut.size(); ++end) cut[end] += cut[end - 1];
    found_.region_begin.push_back(0);
    while (npus_ - found_.region_begin.back() > size) {
      const std::uint32_t wanted = found_.region_begin.back() + size;
      std::uint32_t best = wanted;
      for (std::uint32_t by = 0; by <= size / 4; ++by)
        for (const auto end : {wanted - by, wanted + by})
          if (end < npus_ && cut[end] < cut[best]) best = end;
      found_.region_begin.push_back(best);
    }
    found_.region_begin.push_back(npus_);
    for (std::uint32_t region = 0; region + 1 < found_.region_begin.size(); ++region)
      found_.region_of.resize(found_.region_begin[region + 1], region);
  }

  /// Searches breadth first, through tight NPUs only.
  void look_around(std::uint32_t npu) {
    const std::size_t first = found_.around.size();
    const auto add_sources = [&](std::uint32_t target) {
      for (auto slot = problem_.slot_begin[target]; slot < problem_.slot_begin[target + 1]; ++slot) {
        const auto source = problem_.source[slot];
        const bool seen = std::find(found_.around.begin() + static_cast<std::ptrdiff_t>(first), found_.around.end(),
                                    source) != found_.around.end();
        if (!seen && source != npu && problem_.joins_group(source, npu) &&
            found_.region_of[source] == found_.region_of[npu])
          found_.around.push_back(source);
      }
    };
    add_sources(npu);
    for (std::size_t i = first; i < found_.around.size() && found_.around.size() < first + kMostAround; ++i)
      if (tight(found_.around[i])) add_sources(found_.around[i]);
  }

  const StreamProblem& problem_;
  std::uint32_t npus_;
  std::vector<bool> tight_;
  TightNpus found_;
};

}  // namespace

TightNpus find_tight_npus(const StreamProblem& problem, std::uint32_t region_size) {
  return Finder(problem).find(region_size);
}

}  // namespace tenex
