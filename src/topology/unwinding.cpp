// Switch unwinding (TACOS, section IV-G): a switch of N NPUs becomes a circulant graph of direct links.
//
// With degree d, NPU i sends to i+1 .. i+d (mod N, in id order) over links of the same alpha that share its bandwidth:
// beta times d. The new links take the place of the NPU's link into the switch, so the order of the links stays by
// dimension.
#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "tenex/base/diagnostic.hpp"
#include "tenex/topology/transform.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {

namespace {

/// One NPU on a switch and its two links.
struct Attachment {
  VertexId npu;
  LinkId up;
  LinkId down;
};

/// The link class with the longer serialization.
const LinkClass& slower(const LinkClass& a, const LinkClass& b) {
  __extension__ using Wide = __int128;
  return static_cast<Wide>(a.bandwidth.count()) * b.slowdown <= static_cast<Wide>(b.bandwidth.count()) * a.slowdown ? a
                                                                                                                    : b;
}

class Unwinder {
 public:
  Unwinder(const Topology& topology, std::uint32_t degree) : topology_(topology), degree_(degree) {}

  Result<UnwoundNetwork> run() {
    for (std::size_t v = topology_.npus(); v < topology_.vertices(); ++v) collect(VertexId::at(v));
    if (!errors_.empty()) return errors_;
    TopologyBuilder builder(topology_.npus());
    for (std::size_t i = 0; i < topology_.links(); ++i) {
      const LinkId link = LinkId::at(i);
      if (!topology_.is_npu(topology_.source(link))) continue;
      if (topology_.is_npu(topology_.target(link))) {
        builder.add_link(topology_.link(link));
        origins_.push_back({link, LinkId::none()});
      } else {
        unwind(link, builder);
      }
    }
    if (!errors_.empty()) return errors_;
    if (const auto& shape = topology_.shape(); shape && shape->is_product())
      builder.declare_unwound_shape({*shape, degree_});
    auto built = std::move(builder).build();
    if (!built) return built.errors();
    return UnwoundNetwork{*std::move(built), std::move(origins_)};
  }

 private:
  /// Lists the NPUs attached to a switch in id order and reports a switch that cannot be unwound.
  void collect(VertexId hub) {
    std::map<VertexId, Attachment> attached;
    const auto add = [&](LinkId link, VertexId neighbour, LinkId Attachment::*end) {
      if (!topology_.is_npu(neighbour)) {
        report(hub, fmt::format("is attached to switch vertex {}", neighbour.value()), "only NPUs may be attached");
        return;
      }
      Attachment& attachment = attached[neighbour];
      attachment.npu = neighbour;
      if ((attachment.*end).exists()) {
        report(hub, fmt::format("has parallel links with NPU {}", neighbour.value()), "one link each way is expected");
      }
      attachment.*end = link;
    };
    for (const LinkId link : topology_.in_links(hub)) add(link, topology_.source(link), &Attachment::up);
    for (const LinkId link : topology_.out_links(hub)) add(link, topology_.target(link), &Attachment::down);
    auto& members = members_.emplace_back();
    for (const auto& [npu, attachment] : attached) {
      if (!attachment.up.exists() || !attachment.down.exists()) {
        report(hub, fmt::format("is joined with NPU {} one way only", npu.value()), "one link each way is expected");
      }
      members.push_back(attachment);
    }
  }

  /// Adds the links that replace an NPU's link into a switch.
  void unwind(LinkId up, TopologyBuilder& builder) {
    const auto& members = members_[topology_.target(up).index() - topology_.npus()];
    const VertexId npu = topology_.source(up);
    const auto found = std::lower_bound(members.begin(), members.end(), npu,
                                        [](const Attachment& member, VertexId id) { return member.npu < id; });
    const auto at = static_cast<std::size_t>(found - members.begin());
    const std::size_t degree = std::min<std::size_t>(degree_, members.size() - 1);
    for (std::size_t step = 1; step <= degree; ++step) {
      const Attachment& other = members[(at + step) % members.size()];
      const LinkClass& shared =
          slower(topology_.classes()[topology_.class_of(up)], topology_.classes()[topology_.class_of(other.down)]);
      const Bandwidth bandwidth = shared.bandwidth / static_cast<std::int64_t>(degree);
      if (bandwidth == Bandwidth::zero()) {
        report(topology_.target(up), fmt::format("leaves NPU {} no bandwidth", npu.value()),
               fmt::format("{} B/s over {} links round to zero", shared.bandwidth.count(), degree));
        return;
      }
      builder.add_link({npu, other.npu, topology_.alpha(up), bandwidth, shared.slowdown});
      origins_.push_back({up, other.down});
    }
  }

  /// Reports only the first problem: users repair the machine or give up unwinding, not one link after the other.
  void report(VertexId hub, std::string_view problem, std::string_view why) {
    if (!errors_.empty()) return;
    errors_.push_back(input_error(
        {}, fmt::format("switch vertex {} cannot be unwound: it {}", hub.value(), problem), std::string(why),
        "use an algorithm that sends over switches, such as pccl or a textbook one, or another topology"));
  }

  const Topology& topology_;
  std::uint32_t degree_;
  std::vector<std::vector<Attachment>> members_;  // by switch
  std::vector<UnwoundLink> origins_;              // by new link
  Diagnostics errors_;
};

}  // namespace

Result<UnwoundNetwork> unwind_with_origins(const Topology& topology, std::uint32_t degree) {
  ensure(topology.wires() == nullptr, "switches are unwound before wires are made");
  if (degree == 0) {
    return input_error({}, "an unwinding degree of 0", "every NPU needs an out-link", "use a degree of at least 1");
  }
  return Unwinder(topology, degree).run();
}

Result<Topology> unwind_switches(const Topology& topology, std::uint32_t degree) {
  if (degree > 0 && topology.switches() == 0) return topology;
  auto unwound = unwind_with_origins(topology, degree);
  if (!unwound) return unwound.errors();
  return std::move(unwound->topology);
}

}  // namespace tenex
