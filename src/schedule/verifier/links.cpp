// Two sends on one physical link at once are one signal where a switch copies or adds, else an overlap.
//
// A signal that is copied: both sends start at one vertex at one time, carry the same thing at the same speed, and have
// taken the same links so far; where their paths part, a switch copies. A signal that is a sum: both carry partial sums
// of one chunk to one vertex, at the same speed and arriving at one time, over the same links from here on; where their
// paths have met, a switch adds.
#include "schedule/verifier/links.hpp"

#include <fmt/format.h>

#include <span>

#include "schedule/verifier/findings.hpp"

namespace tenex::verifier {

LinkOccupancy::LinkOccupancy(const Context& context) : context_(context), wires_(context.topology().wires()) {
  if (wires_ == nullptr) {
    busy_until_.assign(context.topology().links(), SimTime::of(std::numeric_limits<SimTime::Rep>::min()));
    return;
  }
  taken_.resize(wires_->network().links());
  for (std::size_t wire = 0; wire < wires_->size(); ++wire) check_wire(LinkId::at(wire));
}

void LinkOccupancy::check_wire(LinkId wire) const {
  const Topology& network = wires_->network();
  const Link claimed = context_.topology().link(wire);
  const auto spans = wires_->spans(wire);
  SimTime alpha;
  __extension__ using Wide = __int128;
  bool as_slow_as_one = false;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Link link = network.link(spans[i].link);
    ensure(spans[i].offset == alpha, "a wire's offset is the sum of the alphas before it");
    alpha += link.alpha;
    const Wide here = Wide{link.slowdown} * claimed.bandwidth.count();
    const Wide there = Wide{claimed.slowdown} * link.bandwidth.count();
    ensure(here <= there, "a wire is as slow as its slowest link");
    as_slow_as_one = as_slow_as_one || (link.slowdown == claimed.slowdown && link.bandwidth == claimed.bandwidth);
    if (i == 0) continue;
    ensure(network.source(spans[i].link) == network.target(spans[i - 1].link), "a wire's links form a path");
    ensure(!network.is_npu(link.source) && network.switch_properties(link.source).forwarding == Forwarding::cut_through,
           "a wire passes cut-through switches only");
  }
  ensure(claimed.alpha == alpha && as_slow_as_one,
         "a wire has the alpha of its path and the speed of its slowest link");
  for (const auto& [end, vertex] : {std::pair(claimed.source, network.source(spans.front().link)),
                                    std::pair(claimed.target, network.target(spans.back().link))})
    ensure(context_.topology().is_npu(end) ? end == vertex : !network.is_npu(vertex), "a wire joins its ends");
}

std::optional<std::string> LinkOccupancy::take_link(const Send& send) {
  auto& until = busy_until_[send.link.index()];
  const SimTime before = until;
  until = std::max(until, saturating_sum(send.start, context_.hop(send).busy));
  if (before <= send.start) return std::nullopt;
  return fmt::format("the link is busy with another send until {}", text_of(before));
}

SimTime LinkOccupancy::serialization(const Send& send) const {
  return context_.hop(send).latency - context_.topology().alpha(send.link);
}

std::optional<std::string> LinkOccupancy::take_path(const Send& send) {
  std::optional<std::string> problem;
  const auto spans = wires_->spans(send.link);
  for (std::uint32_t i = 0; i < spans.size(); ++i) {
    const SimTime from = saturating_sum(send.start, spans[i].offset);
    SimTime busy = serialization(send);
    if (context_.occupancy() == Occupancy::transfer)
      busy = saturating_sum(busy, wires_->network().alpha(spans[i].link));
    const Taken own{from, saturating_sum(from, busy), send, i};
    auto& others = taken_[spans[i].link.index()];
    // What ended before this send starts meets neither this send nor a later one.
    std::erase_if(others, [&](const Taken& other) { return other.until <= send.start; });
    for (const Taken& other : others) {
      if (problem || other.until <= own.from || own.until <= other.from) continue;
      const Sharing shared = sharing(other, own);
      if (shared == Sharing::fine) continue;
      problem = fmt::format("link {} of the network ({} -> {}), on its path, is busy with another send until {}{}",
                            spans[i].link.value(), wires_->network().source(spans[i].link).value(),
                            wires_->network().target(spans[i].link).value(), text_of(other.until),
                            shared == Sharing::needs_copy     ? "; they are one signal only where a switch copies"
                            : shared == Sharing::needs_reduce ? "; they are one signal only where a switch reduces"
                                                              : "");
    }
    others.push_back(own);
  }
  return problem;
}

LinkOccupancy::Sharing LinkOccupancy::sharing(const Taken& a, const Taken& b) const {
  if (a.send.chunk != b.send.chunk || a.send.stage != b.send.stage || a.send.link == b.send.link ||
      a.send.message.exists() || b.send.message.exists() || a.from != b.from ||
      serialization(a.send) != serialization(b.send))
    return Sharing::none;
  if (const Sharing shared = of_one_source(a, b); shared != Sharing::none) return shared;
  return a.send.stage == Stage::reduce ? of_one_target(a, b) : Sharing::none;
}

LinkOccupancy::Sharing LinkOccupancy::of_one_source(const Taken& a, const Taken& b) const {
  const auto first = wires_->spans(a.send.link);
  const auto second = wires_->spans(b.send.link);
  const auto [at, other] = std::mismatch(first.begin(), first.end(), second.begin(), second.end());
  const auto same = static_cast<std::uint32_t>(at - first.begin());
  if (same <= a.span || same <= b.span || a.send.start != b.send.start) return Sharing::none;
  // The first links are the same, so `same` is at least 1. A path that ends where the other goes on ends at a holder.
  const Topology& network = wires_->network();
  const VertexId fork = network.target(first[same - 1].link);
  if (at == first.end() || other == second.end()) return Sharing::none;
  return network.switch_properties(fork).copy ? Sharing::fine : Sharing::needs_copy;
}

LinkOccupancy::Sharing LinkOccupancy::of_one_target(const Taken& a, const Taken& b) const {
  const auto first = wires_->spans(a.send.link);
  const auto second = wires_->spans(b.send.link);
  const auto by_link = [](const WireSpan& x, const WireSpan& y) { return x.link == y.link; };
  const auto [at, other] = std::mismatch(first.rbegin(), first.rend(), second.rbegin(), second.rend(), by_link);
  const auto same = static_cast<std::size_t>(at - first.rbegin());
  if (first.size() - a.span > same || second.size() - b.span > same) return Sharing::none;
  if (context_.arrival(a.send) != context_.arrival(b.send)) return Sharing::none;
  if (at == first.rend() || other == second.rend()) return Sharing::none;
  const Topology& network = wires_->network();
  const VertexId joint = network.source(first[first.size() - same].link);
  return network.switch_properties(joint).reduce ? Sharing::fine : Sharing::needs_reduce;
}

}  // namespace tenex::verifier
