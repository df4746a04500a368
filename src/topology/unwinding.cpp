// Switch unwinding (TACOS, section IV-G): the NPUs of a switch get direct links, as in a circulant graph.
//
// Switches that are joined with each other are one domain. Its sources are the NPUs with links into it and its sinks
// those with links out of it, both in id order. With degree d, the source at position i sends to the sinks at the
// positions i+1 .. i+d (mod their number), each over a shortest path of switches. A link that p of the paths take gives
// each of them a p-th of its bandwidth, and the slowest link of a path is the bandwidth of the new link. So a single
// switch of N NPUs becomes the paper's graph: i to i+1 .. i+d (mod N) with beta times d. The new links take the place
// of the NPU's link into the switch, so the order of the links stays by dimension.
#include <algorithm>
#include <limits>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "tenex/base/diagnostic.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/transform.hpp"
#include "tenex/topology/wires.hpp"
#include "topology/slow_links.hpp"

namespace tenex {

namespace {

constexpr auto kNone = std::numeric_limits<std::size_t>::max();

/// Switches joined with each other, and the NPUs at their edge.
struct SwitchDomain {
  bool single = true;             ///< it has one switch
  std::vector<VertexId> sources;  ///< NPUs with links into it, by id
  std::vector<VertexId> sinks;    ///< NPUs with links out of it, by id
  std::vector<LinkId> downs;      ///< the links out of it, by NPU
};

class Unwinder {
 public:
  Unwinder(const Topology& topology, std::uint32_t degree, const std::vector<Slowdown>& slowed)
      : topology_(topology),
        degree_(degree),
        domain_of_(topology.vertices(), kNone),
        load_(topology.links(), 0),
        added_alphas_(added_alphas(topology, slowed)) {}

  Result<UnwoundNetwork> run() {
    for (std::size_t v = topology_.npus(); v < topology_.vertices(); ++v)
      if (domain_of_[v] == kNone) collect(VertexId::at(v));
    for (std::size_t i = 0; i < topology_.links(); ++i) {
      const LinkId link = LinkId::at(i);
      if (!topology_.is_npu(topology_.source(link))) continue;
      if (topology_.is_npu(topology_.target(link)))
        append({link});
      else
        unwind(link);
    }
    return build();
  }

 private:
  /// Makes a domain of the switches that can be reached from this one in either direction.
  void collect(VertexId first) {
    SwitchDomain domain;
    std::vector<VertexId> switches{first};
    domain_of_[first.index()] = domains_.size();
    const auto add = [&](VertexId neighbour, std::vector<VertexId>& ends) {
      if (topology_.is_npu(neighbour)) return ends.push_back(neighbour);
      if (domain_of_[neighbour.index()] != kNone) return;
      domain_of_[neighbour.index()] = domains_.size();
      switches.push_back(neighbour);
    };
    for (std::size_t i = 0; i < switches.size(); ++i) {
      const auto hub = switches[i];
      for (const LinkId link : topology_.in_links(hub)) add(topology_.source(link), domain.sources);
      for (const LinkId link : topology_.out_links(hub)) {
        add(topology_.target(link), domain.sinks);
        if (topology_.is_npu(topology_.target(link))) domain.downs.push_back(link);
      }
    }
    for (auto* ends : {&domain.sources, &domain.sinks}) {
      std::sort(ends->begin(), ends->end());
      ends->erase(std::unique(ends->begin(), ends->end()), ends->end());
    }
    std::sort(domain.downs.begin(), domain.downs.end(), [&](LinkId a, LinkId b) {
      return std::pair(topology_.target(a), a) < std::pair(topology_.target(b), b);
    });
    domain.single = switches.size() == 1;
    domains_.push_back(std::move(domain));
  }

  /// Chooses the paths that replace an NPU's link into a switch.
  void unwind(LinkId up) {
    const SwitchDomain& domain = domains_[domain_of_[topology_.target(up).index()]];
    const VertexId npu = topology_.source(up);
    const auto& sinks = domain.sinks;
    const bool receives = std::binary_search(sinks.begin(), sinks.end(), npu);
    const std::size_t others = sinks.size() - (receives ? 1 : 0);
    // Where there are more sinks than sources, the degree rises until every sink is somebody's.
    const std::size_t share = (sinks.size() + domain.sources.size() - 1) / domain.sources.size();
    const auto degree = std::min(std::max<std::size_t>(degree_, share), others);
    const auto found = std::lower_bound(domain.sources.begin(), domain.sources.end(), npu);
    const auto at = static_cast<std::size_t>(found - domain.sources.begin());
    const std::size_t start = at * sinks.size() / domain.sources.size();
    std::size_t made = 0;
    for (std::size_t step = 1; made < degree; ++step) {
      const VertexId sink = sinks[(start + step) % sinks.size()];
      if (sink == npu) continue;
      ++made;
      if (auto path = find_path(domain, up, sink); !path.empty()) append(path);
    }
  }

  /// A shortest path that begins with `up`; of several, at each switch the link that the fewest paths take so far.
  /// Empty: no path leads to the sink.
  std::vector<LinkId> find_path(const SwitchDomain& domain, LinkId up, VertexId sink) {
    const auto less_busy = [&](LinkId a, LinkId b) {
      return std::pair(load_[a.index()], a) < std::pair(load_[b.index()], b);
    };
    const auto [first, last] = downs_of(domain, sink);
    if (domain.single) return {up, *std::min_element(first, last, less_busy)};
    find_distances(first, last);
    std::vector<LinkId> path{up};
    for (VertexId at = topology_.target(up); at != sink; at = topology_.target(path.back())) {
      const auto here = distance_[at.index()];
      if (here == kNone) return {};
      LinkId best = LinkId::none();
      for (const LinkId link : topology_.out_links(at)) {
        const VertexId next = topology_.target(link);
        const bool closer = here == 1 ? next == sink : !topology_.is_npu(next) && distance_[next.index()] == here - 1;
        if (closer && (!best.exists() || less_busy(link, best))) best = link;
      }
      path.push_back(best);
    }
    return path;
  }

  [[nodiscard]] std::pair<std::vector<LinkId>::const_iterator, std::vector<LinkId>::const_iterator> downs_of(
      const SwitchDomain& domain, VertexId sink) const {
    const auto first = std::partition_point(domain.downs.begin(), domain.downs.end(),
                                            [&](LinkId down) { return topology_.target(down) < sink; });
    const auto last =
        std::partition_point(first, domain.downs.end(), [&](LinkId down) { return topology_.target(down) == sink; });
    return {first, last};
  }

  /// The number of links from each switch to the NPU of these links out of switches.
  void find_distances(std::vector<LinkId>::const_iterator first, std::vector<LinkId>::const_iterator last) {
    distance_.assign(topology_.vertices(), kNone);
    std::queue<VertexId> next;
    const auto reach = [&](VertexId vertex, std::size_t distance) {
      if (topology_.is_npu(vertex) || distance_[vertex.index()] != kNone) return;
      distance_[vertex.index()] = distance;
      next.push(vertex);
    };
    for (; first != last; ++first) reach(topology_.source(*first), 1);
    for (; !next.empty(); next.pop())
      for (const LinkId link : topology_.in_links(next.front()))
        reach(topology_.source(link), distance_[next.front().index()] + 1);
  }

  void append(const std::vector<LinkId>& path) {
    for (const LinkId link : path) ++load_[link.index()];
    hops_.insert(hops_.end(), path.begin(), path.end());
    begins_.push_back(hops_.size());
  }

  [[nodiscard]] Result<UnwoundNetwork> build() {
    TopologyBuilder builder(topology_.npus());
    for (std::size_t p = 0; p + 1 < begins_.size(); ++p) {
      const auto path = std::span<const LinkId>(hops_).subspan(begins_[p], begins_[p + 1] - begins_[p]);
      if (path.size() == 1) {
        builder.add_link(topology_.link(path.front()));
        continue;
      }
      const auto shared = slowest(path);
      const auto& slow = topology_.classes()[topology_.class_of(shared)];
      const auto load = load_[shared.index()];
      const Bandwidth bandwidth = slow.bandwidth / static_cast<std::int64_t>(load);
      if (bandwidth == Bandwidth::zero()) return no_bandwidth(path.front(), slow.bandwidth, load);
      builder.add_link(
          {topology_.source(path.front()), topology_.target(path.back()), alpha_of(path), bandwidth, slow.slowdown});
    }
    const bool single =
        std::all_of(domains_.begin(), domains_.end(), [](const SwitchDomain& each) { return each.single; });
    if (const auto& shape = topology_.shape(); single && shape && shape->is_product())
      builder.declare_unwound_shape({*shape, degree_});
    auto built = std::move(builder).build();
    if (!built) return built.errors();
    return UnwoundNetwork{*std::move(built), std::move(hops_), std::move(begins_)};
  }

  /// The latencies of all links but the last, and what a straggler adds to the last one's.
  [[nodiscard]] SimTime alpha_of(std::span<const LinkId> path) const {
    SimTime alpha = added_alphas_.empty() ? SimTime::zero() : added_alphas_[path.back().index()];
    for (const LinkId link : path.first(path.size() - 1)) alpha = saturating_sum(alpha, topology_.alpha(link));
    return alpha;
  }

  /// The first link of the path with the longest serialization at its share of the bandwidth.
  [[nodiscard]] LinkId slowest(std::span<const LinkId> path) const {
    __extension__ using Wide = __int128;
    LinkId found = path.front();
    const auto per_byte = [&](LinkId link, LinkId other) {
      const auto& mine = topology_.classes()[topology_.class_of(link)];
      return static_cast<Wide>(mine.slowdown) * static_cast<Wide>(load_[link.index()]) *
             topology_.classes()[topology_.class_of(other)].bandwidth.count();
    };
    for (const LinkId link : path.subspan(1))
      if (per_byte(link, found) > per_byte(found, link)) found = link;
    return found;
  }

  [[nodiscard]] Diagnostic no_bandwidth(LinkId up, Bandwidth bandwidth, std::size_t load) const {
    return input_error(
        {},
        fmt::format("switch vertex {} cannot be unwound: it leaves NPU {} no bandwidth", topology_.target(up).value(),
                    topology_.source(up).value()),
        fmt::format("{} B/s over {} links round to zero", bandwidth.count(), load),
        "use an algorithm that sends over switches, such as pccl or a textbook one, or another topology");
  }

  const Topology& topology_;
  std::uint32_t degree_;
  std::vector<std::size_t> domain_of_;  // by vertex
  std::vector<SwitchDomain> domains_;
  std::vector<std::size_t> load_;      // by link: the paths that take it
  std::vector<SimTime> added_alphas_;  // by link; empty: none
  std::vector<std::size_t> distance_;  // by vertex, to the sink of the latest search
  std::vector<LinkId> hops_;           // of all paths
  std::vector<std::size_t> begins_{0};
};

}  // namespace

Result<UnwoundNetwork> unwind_with_origins(const Topology& topology, std::uint32_t degree,
                                           const std::vector<Slowdown>& slowed) {
  ensure(topology.wires() == nullptr, "switches are unwound before wires are made");
  if (degree == 0) {
    return input_error({}, "an unwinding degree of 0", "every NPU needs an out-link", "use a degree of at least 1");
  }
  return Unwinder(topology, degree, slowed).run();
}

std::size_t longest_path(const UnwoundNetwork& unwound) {
  std::size_t most = 1;
  for (std::size_t l = 0; l < unwound.topology.links(); ++l) most = std::max(most, unwound.path(LinkId::at(l)).size());
  return most;
}

std::size_t most_paths_over_a_link(const UnwoundNetwork& unwound) {
  std::vector<std::size_t> paths;
  for (const LinkId link : unwound.hops) {
    if (link.index() >= paths.size()) paths.resize(link.index() + 1, 0);
    ++paths[link.index()];
  }
  return paths.empty() ? 1 : *std::max_element(paths.begin(), paths.end());
}

Result<Topology> unwind_switches(const Topology& topology, std::uint32_t degree, const std::vector<Slowdown>& slowed) {
  if (degree > 0 && topology.switches() == 0) return topology;
  auto unwound = unwind_with_origins(topology, degree, slowed);
  if (!unwound) return unwound.errors();
  return std::move(unwound->topology);
}

}  // namespace tenex
