// Hops: what arrives early can bring little, because contributions travel hop by hop. This joins latency and bandwidth.
//
// Bound: for every NPU v, the least T with sum over its in-links e of sum over k = 1 .. n-1 of count_e(T - t_k) >=
// (n-1) K, where count_e(x) = 1 + floor(x / b_e) for x >= 0, else 0.
//
// n NPUs reduce, and v must end with K sums (All-Reduce: all nc; Reduce-Scatter: its c; Reduce: the root's c). Take any
// valid schedule that ends at T; an NPU may send partial sums or whole inputs, to one or many, in any order.
// (1) Each of v's sums needs the contributions of n - 1 others. Each is in some send that arrives at v by T, as the
// chunk's sum is made of what arrived. So over all arrivals of all chunks, the numbers of contributions in them add up
// to (n-1) K at least.
// (2) An arrival at time t has few of them. Its send, over any switches, left an NPU p at some s <= t - d, d being the
// least latency of link e from an NPU, and had what p had by then: the contributions of members u from which a message
// of a chunk reaches p by s. Let N(s) be the largest number of these over all NPUs p (p itself counts if it is a
// member), and tau_k the first s with N(s) >= k. Besides, a contribution is no sooner at v than a message from its NPU.
// So the arrival has k contributions or more only if t >= t_k = max(d + tau_k, distance of the k-th nearest member).
// (3) Arrivals over link e are b_e apart. So those at t_k or later, by T, are at most count_e(T - t_k). The number
// of contributions in all arrivals is the sum over k of the number of arrivals that have k or more. Where a switch of
// the network adds sums, an arrival may join what several NPUs sent, and only the distance to v holds.
//
// On FC(n) this says: with less than two hops of time every arrival brings one input, so n - 1 whole inputs must come
// in; with more, arrivals in the second hop may bring all. FC(4), 1 us, 1 GB/s, 2,000 B in many chunks: an in-link
// delivers B (T - 1 us), of which B (T - 2 us) may count threefold: 3 (T - 1) + 2 * 3 (T - 2) >= 3 * 2, T = 7/3 us. A
// third of the data in one shot beside two thirds in two shots takes just that.
//
// Outward, with every link reversed: what v has (All-Reduce: its contributions to nc chunks; All-Gather: c chunks;
// Broadcast: the root's c) must reach n - 1 others each, and a send that leaves late reaches few of them by T: one hop
// leads to one NPU p, unless a switch copies, and from there to those near it. The proof is the same, backward in time.
//
// Sends of several chunks (BoundProblem::single_chunks) are cut into parts in a row, as capacity.hpp says; a part ends
// at most 1 ps before the beta*m that distances count. Over switches with virtual cut-through a send of M chunks takes
// ceil(M x_i) on its i-th link, x_i being the exact beta*m, and begins on link i + 1 at least alpha_i + max(0, ceil(M
// x_i) - ceil(M x_(i+1))) after it began on link i. From link j on, the slowest, these differences add up to M (x_j -
// x_L) - 1 at least, so that the first part over the last link L ends, floor(x_L) later, no sooner than sum(alpha) +
// ceil(x_j) - 3 ps after the send began. Distances are those of a message that takes a whole path at once
// (BoundProblem::searched()): sum(alpha) + ceil(x_j). A send never arrives sooner than one chunk, so N(s) holds. The
// rule is its own mirror in time.
//
// Encoding: t_k as levels of equal times. One search where translations map every NPU to every other, else one from
// each NPU; no bound where these are too many, as N is a largest number over all NPUs. Where links have opposites, an
// All-Reduce has one bound inward and outward.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bound/demand.hpp"
#include "bound/methods.hpp"
#include "tenex/topology/distance.hpp"
#include "tenex/topology/transform.hpp"
#include "tenex/topology/translation.hpp"

namespace tenex {

namespace {

constexpr std::size_t kMostVisits = std::size_t{1} << 24;      ///< of links: a quarter of a second
constexpr std::size_t kMostKeptCounts = std::size_t{1} << 18;  ///< some 4 MB
constexpr std::int64_t kNeverArrives = std::numeric_limits<std::int64_t>::max();

/// From a time on, arrivals may have so many contributions more.
struct ContributionLevel {
  std::int64_t from = 0;
  std::int64_t contributions = 0;
  auto operator<=>(const ContributionLevel&) const = default;
};

/// Links with equal hops and equal levels.
struct LinkArrivals {
  std::vector<ContributionLevel> levels;
  std::int64_t busy = 1;
  std::int64_t links = 0;
  auto operator<=>(const LinkArrivals&) const = default;
};

bool arrivals_suffice(const std::vector<LinkArrivals>& arrivals, std::int64_t time, std::int64_t needed) {
  __extension__ using Wide = __int128;
  Wide missing = needed;
  for (const auto& [levels, busy, links] : arrivals)
    for (const auto& [from, contributions] : levels) {
      if (from > time) break;
      missing -= Wide{(time - from) / busy + 1} * links * contributions;
      if (missing <= 0) return true;
    }
  return false;
}

SimTime least_time(const std::vector<LinkArrivals>& arrivals, std::int64_t needed) {
  std::int64_t low = 0;  // not enough: every hop takes time
  std::int64_t high = kNeverArrives / 2;
  if (!arrivals_suffice(arrivals, high, needed)) return SimTime::max();
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (arrivals_suffice(arrivals, middle, needed) ? high : low) = middle;
  }
  return picoseconds(high);
}

/// The members nearest to an NPU first: how many there are at each distance.
struct NearMembers {
  std::vector<std::pair<std::int64_t, std::int64_t>> counts;  ///< distance, members
  std::int64_t nearest = kNeverArrives;                       ///< the distance of the nearest other NPU
};

/// The bound of one group in one direction. Words are those of sums that come inward.
class GroupHops {
 public:
  /// `translations`: of the network; null if it has none.
  GroupHops(const BoundProblem& problem, GroupId group, Direction direction, const Topology& searched,
            const TranslationGroup* translations)
      : problem_(problem),
        group_(group),
        direction_(direction),
        searched_(searched),
        members_(problem.collective.groups()[group.index()].members),
        size_(problem.collective.chunk_bytes(problem.collective.first_chunk(group))),
        slack_(problem.single_chunks      ? 0
               : problem.follows_chunks() ? 1
                                          : 3),
        translations_(translations),
        alike_(translations != nullptr && members_.size() == problem.network.npus()) {
    if (translations_ != nullptr) from_zero_ = arrival_times(searched_, VertexId::at(0), size_);
    for (std::size_t s = problem.network.npus(); s < problem.network.vertices(); ++s) {
      const auto& properties = problem.network.switch_properties(VertexId::at(s));
      joins_ = joins_ || (direction == Direction::inward ? properties.reduce : properties.copy);
    }
  }

  [[nodiscard]] SimTime bound() {
    const auto& collective = problem_.collective;
    if (!joins_) find_near();
    const bool rooted = has_root(collective.kind());
    const std::uint32_t first = rooted ? collective.root(group_) : 0;
    const auto last = rooted || alike_ ? first + 1 : static_cast<std::uint32_t>(members_.size());
    SimTime largest;
    std::set<std::pair<std::int64_t, std::vector<LinkArrivals>>> seen;
    for (std::uint32_t rank = first; rank < last; ++rank) {
      const std::int64_t sums = npu_demand(collective, group_, rank).in(direction_);
      const auto needed = sums * static_cast<std::int64_t>(members_.size() - 1);
      auto arrivals = arrivals_at(members_[rank]);
      if (needed == 0 || !seen.emplace(needed, arrivals).second) continue;
      largest = std::max(largest, least_time(arrivals, needed));
    }
    return largest;
  }

 private:
  /// tau_k, for as many k as an NPU needs.
  void find_near() {
    const std::size_t searches = alike_ ? 1 : problem_.network.npus();
    near_.assign(members_.size() - 1, kNeverArrives);
    kept_.resize(searches);
    std::size_t counts = 0;
    for (std::size_t npu = 0; npu < searches; ++npu) {
      if (is_isolated(problem_.network, VertexId::at(npu))) continue;
      auto members = members_near(NpuId::at(npu));
      std::size_t k = 0;
      for (const auto& [distance, count] : members.counts)
        for (std::int64_t i = 0; i < count && k < near_.size(); ++i, ++k) near_[k] = std::min(near_[k], distance);
      counts += members.counts.size();
      if (counts <= kMostKeptCounts) kept_[npu] = std::move(members);
    }
  }

  /// From one search for each NPU, or, where translations map every NPU to every other, from one for all.
  [[nodiscard]] NearMembers members_near(NpuId npu) const {
    const bool moves = translations_ != nullptr;
    const auto own = moves ? std::vector<SimTime>() : arrival_times(searched_, vertex_of(npu), size_);
    const auto& arrival = moves ? from_zero_ : own;
    const std::size_t center = moves ? 0 : npu.index();
    const bool differs = moves && !alike_;  // else the differences of all NPUs are all NPUs
    NearMembers near;
    for (std::size_t other = 0; other < problem_.network.npus(); ++other)
      if (other != center) near.nearest = std::min(near.nearest, arrival[other].count());
    std::unordered_map<std::int64_t, std::int64_t> counts;  // few distances, as links are mostly alike
    for (const NpuId member : members_)
      ++counts[arrival[(differs ? translations_->subtract(member, npu) : member).index()].count()];
    near.counts.assign(counts.begin(), counts.end());
    std::ranges::sort(near.counts);
    return near;
  }

  /// What may arrive over the links of an NPU, which is a member.
  [[nodiscard]] std::vector<LinkArrivals> arrivals_at(NpuId npu) const {
    const bool kept = npu.index() < kept_.size() && !kept_[npu.index()].counts.empty();
    auto [counts, nearest] = kept ? kept_[npu.index()] : members_near(npu);
    --counts.front().second;  // itself
    std::vector<std::int64_t> links_of_class(problem_.topology.classes().size(), 0);
    for (const LinkId link : links_of(problem_.topology, vertex_of(npu), direction_))
      ++links_of_class[problem_.topology.class_of(link)];
    std::vector<LinkArrivals> arrivals;
    for (std::size_t k = 0; k < links_of_class.size(); ++k) {
      if (links_of_class[k] == 0) continue;
      const HopTime hop = problem_.hop(k, size_);
      const std::int64_t latency = std::max(hop.latency.count(), nearest - slack_);
      arrivals.push_back({levels_of(latency, counts), hop.busy.count(), links_of_class[k]});
    }
    std::ranges::sort(arrivals);
    return arrivals;
  }

  /// The times t_k of links with this latency from an NPU.
  [[nodiscard]] std::vector<ContributionLevel> levels_of(
      std::int64_t latency, const std::vector<std::pair<std::int64_t, std::int64_t>>& counts) const {
    std::vector<ContributionLevel> levels;
    std::size_t k = 0;
    for (const auto& [distance, count] : counts)
      for (std::int64_t i = 0; i < count; ++i, ++k) {
        std::int64_t from = std::max(latency, distance - slack_);
        if (!joins_) from = std::max(from, near_[k] > kNeverArrives - latency ? kNeverArrives : near_[k] + latency);
        if (levels.empty() || levels.back().from != from) levels.push_back({from, 0});
        ++levels.back().contributions;
      }
    return levels;
  }

  const BoundProblem& problem_;
  GroupId group_;
  Direction direction_;
  const Topology& searched_;
  const std::vector<NpuId>& members_;
  Bytes size_;
  std::int64_t slack_;  ///< in ps
  const TranslationGroup* translations_;
  bool alike_;                      ///< every NPU sees the same
  std::vector<SimTime> from_zero_;  ///< from NPU 0, where there are translations
  bool joins_ = false;              ///< a switch adds sums, or copies
  std::vector<std::int64_t> near_;
  std::vector<NearMembers> kept_;  ///< by NPU, as many as fit
};

/// Whether the collective has sums that end at an NPU (inward), or values that spread from one (outward).
bool concerns(CollectiveKind kind, Direction direction) {
  if (kind == CollectiveKind::all_reduce) return true;
  if (direction == Direction::inward) return kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::reduce;
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::broadcast;
}

/// Whether the bound is the same outward as inward: backward in time, an All-Reduce is one again, and the network is
/// the same where links have opposites.
bool is_its_mirror(const BoundProblem& problem, const std::optional<TranslationGroup>& translations) {
  if (problem.collective.kind() != CollectiveKind::all_reduce) return false;
  if (problem.network.switches() > 0 || problem.topology.varies()) return false;
  return translations ? translations->two_way() : opposite_links(problem.topology).has_value();
}

}  // namespace

std::optional<SimTime> hops_bound(const BoundProblem& problem) {
  const auto& collective = problem.collective;
  if (!problem.has_parts()) return std::nullopt;
  Topology other;
  const Topology& network = problem.searched(other);
  std::optional<SimTime> bound;
  std::size_t visits = 0;
  const auto translations = TranslationGroup::of(problem.topology);
  for (const auto direction : {Direction::inward, Direction::outward}) {
    if (!concerns(collective.kind(), direction)) continue;
    if (direction == Direction::outward && bound && is_its_mirror(problem, translations)) continue;
    const Topology turned = direction == Direction::inward ? network.reversed() : Topology();
    const Topology& searched = direction == Direction::inward ? turned : network;
    for (std::size_t g = 0; g < collective.groups().size(); ++g) {
      const auto members = collective.groups()[g].members.size();
      if (members < 2) continue;
      const bool alike = translations && members == problem.topology.npus();
      visits += (alike ? 2 : problem.topology.npus() + members) * searched.links();
      if (visits > kMostVisits) return bound;
      bound = std::max(
          bound.value_or(SimTime::zero()),
          GroupHops(problem, GroupId::at(g), direction, searched, translations ? &*translations : nullptr).bound());
    }
  }
  return bound;
}

}  // namespace tenex
