// Faults of a topology.
//
// Philox4x32-10 is called once for each candidate: its key is the seed, its counter (lesser end, greater end, number
// among parallel links, draw), with an end that no vertex has for NPUs. The 64 leading bits are the candidate's rank.
// The rank has no other input, so it does not depend on what else the network has or on the order of its links.
#include "tenex/topology/faults.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include <fmt/core.h>

#include "tenex/base/bitset.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/base/random.hpp"
#include "topology/missing_link.hpp"

namespace tenex {

namespace {

constexpr std::uint32_t kNoVertex = 0xFFFFFFFFU;
constexpr std::string_view kOnlyWhatExists = "only what exists can fail";

/// The links of a pair, or the one link.
struct FailingPair {
  std::uint32_t lesser = 0;
  std::uint32_t greater = 0;
  std::uint32_t parallel = 0;  ///< its number among the pairs of these ends
  LinkId up;                   ///< from the lesser end; none() if there is none
  LinkId down;
};

std::vector<FailingPair> link_pairs(const Topology& topology) {
  struct End {
    std::uint32_t lesser;
    std::uint32_t greater;
    bool down;
    LinkId link;
  };
  std::vector<End> ends;
  ends.reserve(topology.links());
  for (std::size_t i = 0; i < topology.links(); ++i) {
    const auto source = topology.source(LinkId::at(i)).value();
    const auto target = topology.target(LinkId::at(i)).value();
    ends.push_back({std::min(source, target), std::max(source, target), source > target, LinkId::at(i)});
  }
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) {
    return std::tuple(a.lesser, a.greater, a.down, a.link) < std::tuple(b.lesser, b.greater, b.down, b.link);
  });
  std::vector<FailingPair> pairs;
  for (std::size_t first = 0; first < ends.size();) {
    const auto& [lesser, greater, down, link] = ends[first];
    const std::size_t begin = pairs.size();
    std::size_t downs = 0;
    for (; first < ends.size() && ends[first].lesser == lesser && ends[first].greater == greater; ++first) {
      if (ends[first].down && downs < pairs.size() - begin) {
        pairs[begin + downs++].down = ends[first].link;
        continue;
      }
      pairs.push_back(
          {lesser, greater, static_cast<std::uint32_t>(pairs.size() - begin), LinkId::none(), LinkId::none()});
      (ends[first].down ? pairs.back().down : pairs.back().up) = ends[first].link;
      if (ends[first].down) ++downs;
    }
  }
  return pairs;
}

/// The pairs that join two switches.
std::vector<FailingPair> switch_link_pairs(const Topology& topology) {
  auto pairs = link_pairs(topology);
  std::erase_if(pairs, [&](const FailingPair& pair) { return pair.lesser < topology.npus(); });
  return pairs;
}

std::uint64_t rank_of(std::uint32_t a, std::uint32_t b, std::uint32_t parallel, std::uint32_t draw,
                      std::uint64_t seed) {
  const auto bits = philox({a, b, parallel, draw},
                           {static_cast<std::uint32_t>(seed & 0xFFFFFFFFU), static_cast<std::uint32_t>(seed >> 32U)});
  return std::uint64_t{bits[0]} << 32U | bits[1];
}

/// The `amount` candidates of least rank, sorted.
std::vector<std::size_t> least(const std::vector<std::uint64_t>& ranks, std::size_t amount) {
  std::vector<std::size_t> order(ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  amount = std::min(amount, order.size());
  const auto before = [&](std::size_t a, std::size_t b) { return std::tuple(ranks[a], a) < std::tuple(ranks[b], b); };
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(amount), order.end(), before);
  order.resize(amount);
  std::sort(order.begin(), order.end());
  return order;
}

/// Collects the links that fail.
class Breaker {
 public:
  Breaker(const Topology& topology, std::uint64_t seed)
      : topology_(topology), seed_(seed), broken_(topology.links(), false) {}

  void apply(const NetworkFault& fault) {
    switch (fault.kind) {
      case NetworkFault::Kind::link:
        between(VertexId(fault.first), VertexId(fault.second));
        between(VertexId(fault.second), VertexId(fault.first));
        return;
      case NetworkFault::Kind::one_way:
        return between(VertexId(fault.first), VertexId(fault.second));
      case NetworkFault::Kind::drawn_links:
        return draw_pairs(fault, link_pairs(topology_));
      case NetworkFault::Kind::drawn_switch_links:
        return draw_pairs(fault, switch_link_pairs(topology_));
      case NetworkFault::Kind::whole_switch:
        return all_of(VertexId(fault.first));
      case NetworkFault::Kind::parallel_link:
        one_of(VertexId(fault.first), VertexId(fault.second), fault.amount);
        one_of(VertexId(fault.second), VertexId(fault.first), fault.amount);
        return;
      case NetworkFault::Kind::nic:
      case NetworkFault::Kind::leaf:
      case NetworkFault::Kind::spine:
      case NetworkFault::Kind::plane:
        ensure(false, "an element that is still a name");
        return;
      case NetworkFault::Kind::npu:
      case NetworkFault::Kind::drawn_npus:
        return;  // failed_npus() names them
    }
  }
  void all_of(VertexId vertex) {
    for (const LinkId link : topology_.out_links(vertex)) broken_[link.index()] = true;
    for (const LinkId link : topology_.in_links(vertex)) broken_[link.index()] = true;
  }
  [[nodiscard]] const std::vector<bool>& broken() const { return broken_; }

 private:
  void between(VertexId from, VertexId to) {
    for (const LinkId link : topology_.out_links(from))
      if (topology_.target(link) == to) broken_[link.index()] = true;
  }
  void one_of(VertexId from, VertexId to, std::int64_t number) {
    for (const LinkId link : topology_.out_links(from))
      if (topology_.target(link) == to && number-- == 0) broken_[link.index()] = true;
  }
  void draw_pairs(const NetworkFault& fault, const std::vector<FailingPair>& pairs) {
    std::vector<std::uint64_t> ranks;
    ranks.reserve(pairs.size());
    for (const FailingPair& pair : pairs)
      ranks.push_back(rank_of(pair.lesser, pair.greater, pair.parallel, fault.draw, seed_));
    for (const std::size_t chosen : least(ranks, amount_of(fault, pairs.size())))
      for (const LinkId link : {pairs[chosen].up, pairs[chosen].down})
        if (link.exists()) broken_[link.index()] = true;
  }

  const Topology& topology_;
  std::uint64_t seed_;
  std::vector<bool> broken_;
};

bool has_link(const Topology& topology, VertexId from, VertexId to) {
  const auto links = topology.out_links(from);
  return std::any_of(links.begin(), links.end(), [&](LinkId link) { return topology.target(link) == to; });
}

std::optional<Diagnostic> refuse_link(const Topology& topology, const NetworkFault& fault) {
  const VertexId from(fault.first);
  const VertexId to(fault.second);
  for (const VertexId end : {from, to})
    if (end.index() >= topology.vertices()) return missing_vertex(topology, end);
  const bool one_way = fault.kind == NetworkFault::Kind::one_way;
  if (has_link(topology, from, to) || (!one_way && has_link(topology, to, from))) return std::nullopt;
  return missing_link(topology, from, to, one_way, kOnlyWhatExists);
}

std::optional<Diagnostic> refuse_count(const NetworkFault& fault, std::size_t total, std::string_view what) {
  if (fault.is_share || amount_of(fault, total) <= total) return std::nullopt;
  return input_error({}, fmt::format("{} {} cannot fail", fault.amount, what), fmt::format("there are {}", total));
}

}  // namespace

bool draws(const NetworkFaults& faults) {
  return std::any_of(faults.begin(), faults.end(), [](const NetworkFault& fault) { return fault.is_drawn(); });
}

NetworkFault::Kind fault_of(NetworkElement element) {
  switch (element) {
    case NetworkElement::npu:
      return NetworkFault::Kind::npu;
    case NetworkElement::nic:
      return NetworkFault::Kind::nic;
    case NetworkElement::leaf:
      return NetworkFault::Kind::leaf;
    case NetworkElement::spine:
      return NetworkFault::Kind::spine;
    case NetworkElement::plane:
      return NetworkFault::Kind::plane;
    case NetworkElement::link:
      return NetworkFault::Kind::link;
  }
  return NetworkFault::Kind::npu;
}

Result<NetworkFaults> resolve_elements(const Topology& built, const NetworkFaults& faults) {
  if (std::ranges::none_of(faults, &NetworkFault::is_named)) return faults;
  const NetworkElements elements(built);
  NetworkFaults resolved;
  Diagnostics errors;
  const auto fail_switch = [&](VertexId hub) {
    resolved.push_back({.kind = NetworkFault::Kind::whole_switch, .first = hub.value()});
  };
  for (const NetworkFault& fault : faults) {
    const auto element = std::ranges::find(kNetworkElements, fault.kind, fault_of);
    if (!fault.is_named()) {
      resolved.push_back(fault);
    } else if (const std::size_t count = elements.count(*element); fault.first >= count) {
      errors.push_back(input_error({}, fmt::format("{} {} does not exist", to_string(*element), fault.first),
                                   count == 0 ? fmt::format("the network has no {}", to_string(*element))
                                              : fmt::format("they are 0 to {}", count - 1)));
    } else if (*element == NetworkElement::nic) {
      const NicLink& nic = elements.nics()[fault.first];
      resolved.push_back({.kind = NetworkFault::Kind::parallel_link,
                          .first = nic.from.value(),
                          .second = nic.hub.value(),
                          .amount = nic.parallel});
    } else if (*element == NetworkElement::plane) {
      std::ranges::for_each(elements.planes()[fault.first], fail_switch);
    } else {
      fail_switch((*element == NetworkElement::leaf ? elements.leaves() : elements.spines())[fault.first]);
    }
  }
  if (!errors.empty()) return errors;
  return resolved;
}

std::size_t amount_of(const NetworkFault& fault, std::size_t total) {
  if (!fault.is_share) return static_cast<std::size_t>(fault.amount);
  return (total * static_cast<std::size_t>(fault.amount) + kWholeShare / 2) / kWholeShare;
}

std::vector<NpuId> failed_npus(const NetworkFaults& faults, std::size_t npus, std::uint64_t seed) {
  Bitset failed(npus);
  for (const NetworkFault& fault : faults) {
    if (fault.kind == NetworkFault::Kind::npu && fault.first < npus) failed.set(fault.first);
    if (fault.kind != NetworkFault::Kind::drawn_npus) continue;
    std::vector<std::uint64_t> ranks;
    for (std::size_t npu = 0; npu < npus; ++npu)
      ranks.push_back(rank_of(static_cast<std::uint32_t>(npu), kNoVertex, 0, fault.draw, seed));
    for (const std::size_t chosen : least(ranks, amount_of(fault, npus))) failed.set(chosen);
  }
  std::vector<NpuId> list;
  for (std::size_t npu = 0; npu < npus; ++npu)
    if (failed.test(npu)) list.push_back(NpuId::at(npu));
  return list;
}

std::string few_of(std::span<const NpuId> npus) {
  TENEX_EXPECTS(!npus.empty(), "an NPU");
  constexpr std::size_t kShown = 4;
  std::string text = npus.size() == 1 ? "NPU " : "NPUs ";
  for (std::size_t i = 0; i < std::min(npus.size(), kShown); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", npus[i].value());
  return npus.size() > kShown ? fmt::format("{} and {} more", text, npus.size() - kShown) : text;
}

std::size_t count_link_pairs(const Topology& topology) { return link_pairs(topology).size(); }

std::size_t count_switch_link_pairs(const Topology& topology) { return switch_link_pairs(topology).size(); }

std::optional<Diagnostic> refuse_fault(const Topology& topology, const NetworkFault& fault) {
  const VertexId first(fault.first);
  switch (fault.kind) {
    case NetworkFault::Kind::link:
    case NetworkFault::Kind::one_way:
    case NetworkFault::Kind::parallel_link:
      return refuse_link(topology, fault);
    case NetworkFault::Kind::nic:
    case NetworkFault::Kind::leaf:
    case NetworkFault::Kind::spine:
    case NetworkFault::Kind::plane:
      break;
    case NetworkFault::Kind::drawn_links:
      if (fault.is_share || amount_of(fault, 0) <= topology.links() / 2) return std::nullopt;
      return refuse_count(fault, count_link_pairs(topology), "link pairs");
    case NetworkFault::Kind::drawn_switch_links:
      if (const auto pairs = count_switch_link_pairs(topology); pairs > 0)
        return refuse_count(fault, pairs, "link pairs between switches");
      return input_error({}, "no link joins two switches", std::string(kOnlyWhatExists),
                         "draw among all links: links 1% draw 2");
    case NetworkFault::Kind::drawn_npus:
      return refuse_count(fault, topology.npus(), "NPUs");
    case NetworkFault::Kind::npu:
      if (first.index() < topology.npus()) return std::nullopt;
      return input_error({}, fmt::format("NPU {} does not exist", fault.first),
                         fmt::format("NPUs are 0 to {}", topology.npus() - 1));
    case NetworkFault::Kind::whole_switch:
      if (topology.switches() == 0)
        return input_error({}, fmt::format("switch {} does not exist", fault.first), "there is no switch");
      if (first.index() >= topology.npus() && first.index() < topology.vertices()) return std::nullopt;
      return input_error({}, fmt::format("switch {} does not exist", fault.first),
                         fmt::format("switches are vertices {} to {}", topology.npus(), topology.vertices() - 1));
  }
  return std::nullopt;
}

Result<FaultyTopology> with_faults(const Topology& topology, const NetworkFaults& faults, std::uint64_t seed) {
  Diagnostics errors;
  for (const NetworkFault& fault : faults)
    if (auto error = refuse_fault(topology, fault)) errors.push_back(*std::move(error));
  if (!errors.empty()) return errors;
  Breaker breaker(topology, seed);
  for (const NetworkFault& fault : faults) breaker.apply(fault);
  for (const NpuId npu : failed_npus(faults, topology.npus(), seed)) breaker.all_of(vertex_of(npu));
  const auto& broken = breaker.broken();
  const auto count = static_cast<std::size_t>(std::count(broken.begin(), broken.end(), true));
  return FaultyTopology{topology.without(broken), count};
}

}  // namespace tenex
