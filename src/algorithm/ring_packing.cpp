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
/// Then as many as fit, of the rates at which a link carries up to this number, until the searches took so many
/// exchanges: about a second.
constexpr std::uint32_t kMostOnALink = 6;
constexpr std::uint64_t kMostExchanges = 2'500'000;
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

/// What limits the rings of a network, found once.
struct Limits {
  explicit Limits(const RingNetwork& of) : network(of), cuts(of.cuts()), symmetric(of.symmetric()) {}

  /// No larger total rate is possible.
  [[nodiscard]] std::int64_t rate_bound() const {
    auto bound = INT64_MAX;
    for (const auto& cut : cuts) {
      std::int64_t total = 0;
      for (const auto link : cut) total += network.capacities()[link];
      bound = std::min(bound, total);
    }
    return bound;
  }
  /// Whether simple counts allow `count` cycles of a rate. Each takes a link of every cut; two members with links both
  /// ways are neighbours in each cycle once.
  [[nodiscard]] bool allow(std::uint32_t count, std::int64_t rate) const {
    const auto uses = [&](std::uint32_t link) {
      return std::min<std::int64_t>(network.capacities()[link] / rate, count);
    };
    for (const auto& cut : cuts) {
      std::int64_t sum = 0;
      for (const auto link : cut) sum += uses(link);
      if (sum < count) return false;
    }
    const auto n = network.members();
    std::int64_t total = 0;  // uses of first links, less those of a link that the link back forbids
    std::set<std::uint32_t> first;
    for (std::uint32_t a = 0; a < network.arcs().size(); ++a) {
      const auto [from, to] = network.arcs()[a];
      const auto links = network.links(a);
      if (first.insert(links.front()).second) total += uses(links.front());
      const auto back = network.arc(to, from);
      if (n > 2 && from < to && links.size() == 1 && back != RingNetwork::kNoArc && network.links(back).size() == 1)
        total -= std::max<std::int64_t>(0, uses(links.front()) + uses(network.links(back).front()) - count);
    }
    return total >= std::int64_t{count} * n;
  }

  const RingNetwork& network;
  std::vector<std::vector<std::uint32_t>> cuts;
  bool symmetric;
};

/// The numbers of rings to try, increasing.
std::set<std::uint32_t> counts_to_try(const RingNetwork& network, std::int64_t bound, std::uint32_t most) {
  std::set<std::uint32_t> counts;
  if (network.members() <= kMostForOptimum) {
    for (std::uint32_t count = 1; count <= std::min(most, kEveryCountTo); ++count) counts.insert(count);
  } else {
    std::ranges::copy_if(kCounts, std::inserter(counts, counts.end()), [&](auto count) { return count <= most; });
  }
  const auto slowest = *std::ranges::min_element(network.capacities());
  const auto full = bound / slowest;  // one ring per slowest link
  if (full <= most && full > 0) counts.insert(static_cast<std::uint32_t>(full));
  return counts;
}

/// The range of total rates that are worth a search: above the best one found, and possible.
struct Worth {
  std::int64_t above;
  std::int64_t possible;
};

/// The best rings of one rate for a number of rings; none that is not worth it.
RingPacking equal_rings(const Limits& limits, std::uint32_t count, Worth worth) {
  const auto& network = limits.network;
  RingPacking best;
  int tried = 0;
  for (const auto rate : rates_of(network, count)) {
    if (rate * count <= std::max(worth.above, best.rate()) || tried == rates_to_try(network, count)) break;
    if (rate * count > worth.possible || !limits.allow(count, rate)) continue;
    ++tried;
    for (const bool both_ways : {true, false}) {
      const bool even = limits.symmetric && count % 2 == 0 && network.members() > 2;
      if (both_ways && !even) continue;
      if (!both_ways && even && network.members() > kMostForOptimum) continue;
      RingPacking found{find_equal_rings(network, {count, rate, both_ways})};
      const bool all = found.rings.size() == count;
      if (found.rate() > std::max(worth.above, best.rate())) best = std::move(found);
      if (all) return best;
    }
  }
  return best;
}

/// A number of rings of a rate.
struct Number {
  std::uint32_t count;
  std::int64_t rate;
  [[nodiscard]] std::int64_t total() const { return count * rate; }
};

/// For rates of whole rings on links of each capacity, the most rings that simple counts allow, and the most both ways;
/// those of the largest total rate first.
std::vector<Number> most_allowed(const Limits& limits, std::int64_t bound, std::uint32_t most) {
  std::vector<Number> numbers;
  for (const auto rate : rates_of(limits.network, kMostOnALink)) {
    auto count = static_cast<std::uint32_t>(std::min<std::int64_t>(most, bound / rate));
    while (count > 0 && !limits.allow(count, rate)) --count;
    if (count > 0) numbers.push_back({count, rate});
    if (limits.symmetric && count % 2 != 0 && count > 1) numbers.push_back({count - 1, rate});
  }
  std::ranges::stable_sort(numbers, std::greater<>(), &Number::total);
  return numbers;
}

/// The best rings of one rate, as many as are found; none that is not worth it.
RingPacking many_rings(const Limits& limits, std::uint32_t most, Worth worth) {
  RingPacking best;
  std::uint64_t exchanges = 0;
  for (const auto& number : most_allowed(limits, worth.possible, most)) {
    if (number.total() <= std::max(worth.above, best.rate()) || exchanges > kMostExchanges) break;
    const bool both_ways = limits.symmetric && number.count % 2 == 0 && limits.network.members() > 2;
    RingPacking found{find_equal_rings(limits.network, {number.count, number.rate, both_ways, true})};
    exchanges += first_exchanges(limits.network, both_ways ? number.count / 2 : number.count);
    if (found.rate() > std::max(worth.above, best.rate())) best = std::move(found);
  }
  return best;
}

}  // namespace

std::int64_t RingPacking::rate() const {
  std::int64_t total = 0;
  for (const auto& ring : rings) total += ring.rate;
  return total;
}

std::uint32_t most_packed_rings(const RingNetwork& network) {
  constexpr std::uint32_t kMostOfOptimum = 4096;
  return network.members() > kMostForOptimum ? kMostEqualRings : kMostOfOptimum;
}

std::vector<RingPacking> pack_rings(const RingNetwork& network, std::uint32_t most_rings) {
  std::vector<RingPacking> packings;
  if (network.members() < 2 || network.arcs().empty()) return packings;
  std::optional<RingPacking> optimum;
  if (network.members() <= kMostForOptimum && most_rings >= kEveryCountTo) optimum = best_rings(network);
  // The optimum's rates are rounded down: equal rings may have a millionth more, and are as good with less.
  const auto slack = [](std::int64_t rate) { return rate / 1'000'000; };
  const Limits limits(network);
  const auto bound = limits.rate_bound();
  auto possible = bound;
  if (optimum) possible = std::min(possible, optimum->rate() + slack(optimum->rate()));
  const auto best = [&] { return packings.empty() ? 0 : packings.back().rate(); };
  for (const auto count : counts_to_try(network, bound, std::min(most_rings, kMostEqualRings))) {
    if (best() >= possible - 2 * slack(possible)) break;
    auto packing = equal_rings(limits, count, {best(), possible});
    if (!packing.rings.empty()) packings.push_back(std::move(packing));
  }
  if (!optimum && best() < possible) {
    auto packing = many_rings(limits, std::min(most_rings, kMostEqualRings), {best(), possible});
    if (!packing.rings.empty()) packings.push_back(std::move(packing));
  }
  if (optimum && best() + slack(best()) < optimum->rate() && optimum->rings.size() <= most_rings)
    packings.push_back(std::move(*optimum));
  return packings;
}

}  // namespace tenex
