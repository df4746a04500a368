// The choice among searches for rings (ring_packing.hpp).
#include "algorithm/ring_packing.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <set>

namespace tenex {
namespace {

/// The most rings of one rate that are sought: more would need more chunks per NPU than studies have.
constexpr std::uint32_t kMostEqualRings = 64;
/// On larger networks these numbers of rings are tried, and one ring per slowest link.
constexpr std::array<std::uint32_t, 8> kCounts = {1, 2, 3, 4, 6, 8, 12, 16};
/// On small ones, every number up to this one.
constexpr std::uint32_t kEveryCountTo = 16;
/// The rates that are tried for a number of rings: searches for many rings on large networks are long.
int rates_to_try(const RingNetwork& network, std::uint32_t count) {
  return network.members() <= kMostForOptimum || count <= 4 ? 3 : 1;
}

/// The rates at which some link carries one cycle more than at a rate slightly larger, decreasing.
std::set<std::int64_t, std::greater<>> rates_of(const RingNetwork& network, std::uint32_t count) {
  std::set<std::int64_t, std::greater<>> rates;
  const std::set<std::int64_t> distinct(network.capacities().begin(), network.capacities().end());
  for (const auto capacity : distinct)
    for (std::uint32_t i = 1; i <= count; ++i)
      if (capacity / i > 0) rates.insert(capacity / i);
  return rates;
}

/// Whether simple counts allow `count` cycles of a rate. Every member is left and entered by each cycle; two members
/// with links both ways are neighbours in each cycle once.
bool counts_allow(const RingNetwork& network, std::uint32_t count, std::int64_t rate) {
  const auto uses = [&](std::uint32_t link) {
    return std::min<std::int64_t>(network.capacities()[link] / rate, count);
  };
  const auto n = network.members();
  std::vector<std::set<std::uint32_t>> out(n);
  std::vector<std::set<std::uint32_t>> in(n);
  std::int64_t lost = 0;  // uses of a link that the link back forbids
  for (std::uint32_t a = 0; a < network.arcs().size(); ++a) {
    const auto [from, to] = network.arcs()[a];
    const auto links = network.links(a);
    out[from].insert(links.front());
    in[to].insert(links.back());
    const auto back = network.arc(to, from);
    if (n > 2 && from < to && links.size() == 1 && back != RingNetwork::kNoArc && network.links(back).size() == 1)
      lost += std::max<std::int64_t>(0, uses(links.front()) + uses(network.links(back).front()) - count);
  }
  std::int64_t total = -lost;
  for (const auto* sides : {&out, &in})
    for (const auto& side : *sides) {
      std::int64_t sum = 0;
      for (const auto link : side) sum += uses(link);
      if (sum < count) return false;
      if (sides == &out) total += sum;
    }
  return total >= std::int64_t{count} * n;
}

/// The numbers of rings to try, increasing.
std::set<std::uint32_t> counts_to_try(const RingNetwork& network, std::uint32_t most) {
  std::set<std::uint32_t> counts;
  if (network.members() <= kMostForOptimum) {
    for (std::uint32_t count = 1; count <= std::min(most, kEveryCountTo); ++count) counts.insert(count);
  } else {
    std::ranges::copy_if(kCounts, std::inserter(counts, counts.end()), [&](auto count) { return count <= most; });
  }
  const auto slowest = *std::ranges::min_element(network.capacities());
  const auto full = network.rate_bound() / slowest;  // one ring per slowest link
  if (full <= most && full > 0) counts.insert(static_cast<std::uint32_t>(full));
  return counts;
}

/// The range of total rates that are worth a search: above the best one found, and possible.
struct Worth {
  std::int64_t above;
  std::int64_t possible;
};

/// The best rings of one rate for a number of rings; none that is not worth it.
RingPacking equal_rings(const RingNetwork& network, std::uint32_t count, Worth worth, bool symmetric) {
  RingPacking best;
  int tried = 0;
  for (const auto rate : rates_of(network, count)) {
    if (rate * count <= std::max(worth.above, best.rate()) || tried == rates_to_try(network, count)) break;
    if (rate * count > worth.possible || !counts_allow(network, count, rate)) continue;
    ++tried;
    for (const bool both_ways : {true, false}) {
      if (both_ways && (!symmetric || count % 2 != 0 || network.members() < 3)) continue;
      RingPacking found{find_equal_rings(network, {count, rate, both_ways})};
      const bool all = found.rings.size() == count;
      if (found.rate() > std::max(worth.above, best.rate())) best = std::move(found);
      if (all) return best;
    }
  }
  return best;
}

}  // namespace

std::int64_t RingPacking::rate() const {
  std::int64_t total = 0;
  for (const auto& ring : rings) total += ring.rate;
  return total;
}

std::vector<RingPacking> pack_rings(const RingNetwork& network, std::uint32_t most_rings) {
  std::vector<RingPacking> packings;
  if (network.members() < 2 || network.arcs().empty()) return packings;
  std::optional<RingPacking> optimum;
  if (network.members() <= kMostForOptimum && most_rings >= kEveryCountTo) optimum = best_rings(network);
  // The optimum's rates are rounded down: equal rings may have a millionth more, and are as good with less.
  const auto slack = [](std::int64_t rate) { return rate / 1'000'000; };
  auto possible = network.rate_bound();
  if (optimum) possible = std::min(possible, optimum->rate() + slack(optimum->rate()));
  const auto best = [&] { return packings.empty() ? 0 : packings.back().rate(); };
  const bool symmetric = network.symmetric();
  for (const auto count : counts_to_try(network, std::min(most_rings, kMostEqualRings))) {
    if (best() >= possible - 2 * slack(possible)) break;
    auto packing = equal_rings(network, count, {best(), possible}, symmetric);
    if (!packing.rings.empty()) packings.push_back(std::move(packing));
  }
  if (optimum && best() + slack(best()) < optimum->rate() && optimum->rings.size() <= most_rings)
    packings.push_back(std::move(*optimum));
  return packings;
}

}  // namespace tenex
