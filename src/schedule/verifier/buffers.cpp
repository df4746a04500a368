// All arrivals and sends of limited switches are listed, matched, and counted along time.
#include "schedule/verifier/buffers.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "schedule/vertex_roles.hpp"

namespace tenex::verifier {
namespace {

/// Something that comes to a switch or leaves it. Equal `vertex`, `chunk`, `stage` and `message`: the same thing.
struct Passage {
  VertexId vertex;
  std::uint32_t chunk = 0;  ///< or payload
  Stage stage = Stage::copy;
  MessageId message = MessageId::none();  ///< only while it passes the switch within a message
  SimTime time;   ///< of an arrival from which on it may leave the switch at the earliest, else of the start
  SimTime whole;  ///< of an arrival: when all of it is there
  bool leaves = false;

  [[nodiscard]] auto thing() const { return std::tuple(vertex, chunk, stage, message); }
  /// Arrivals come before starts at one instant.
  [[nodiscard]] auto order() const { return std::tuple(vertex, chunk, stage, message, time, leaves); }
};

/// A wait, as two steps of the number of waiting chunks.
struct Step {
  VertexId vertex;
  SimTime time;
  int change = 0;
};

bool is_limited(const Topology& topology, VertexId vertex) {
  return !topology.is_npu(vertex) && topology.switch_properties(vertex).buffer != kUnlimitedBuffer;
}

std::vector<Passage> list_passages(const Context& context, const Schedule& schedule) {
  const Topology& topology = context.topology();
  std::vector<Passage> passages;
  SendBuffer buffer;
  for (std::size_t segment = 0; segment < schedule.segments(); ++segment) {
    schedule.read(segment, buffer);
    for (std::size_t i = 0; i < buffer.batch.size(); ++i) {
      const Send send = buffer.batch[i];
      if (!context.link_exists(send) || !context.chunk_exists(send)) continue;
      // Messages begin and end at NPUs, so what passes a switch in a message stays in it.
      const auto add = [&](VertexId vertex, SimTime time, SimTime whole, bool leaves) {
        if (is_limited(topology, vertex))
          passages.push_back({vertex, send.chunk.value(), send.stage, send.message, time, whole, leaves});
      };
      const SimTime whole = context.arrival(send);
      const VertexId target = context.target(send);
      const SimTime head = saturating_sum(send.start, topology.alpha(send.link));
      add(target, context.passes_on_early(target) ? head : whole, whole, false);
      add(context.source(send), send.start, send.start, true);
    }
  }
  std::sort(passages.begin(), passages.end(), [](const Passage& a, const Passage& b) { return a.order() < b.order(); });
  return passages;
}

/// The waits of one thing at one switch.
void match(const Topology& topology, std::span<const Passage> passages, std::vector<Step>& steps) {
  const VertexId vertex = passages.front().vertex;
  const auto wait = [&](SimTime from, SimTime until) {
    if (from >= until) return;
    steps.push_back({vertex, from, +1});
    steps.push_back({vertex, until, -1});
  };
  const bool sums = passages.front().stage == Stage::reduce;
  const bool keeps = sums ? sum_role(topology, vertex) == SumRole::keeps : keeps_copies(topology, vertex);
  if (keeps && !passages.front().message.exists()) {
    SimTime whole = SimTime::max();  // of what is there first
    SimTime last;
    for (const Passage& passage : passages) {
      if (passage.leaves)
        last = std::max(last, passage.time);
      else
        whole = std::min(whole, passage.whole);
    }
    wait(whole, last);
    return;
  }
  const bool adds = sums && sum_role(topology, vertex) != SumRole::queues;
  std::vector<SimTime> waiting;
  std::size_t left = 0;
  for (const Passage& passage : passages) {
    if (!passage.leaves) {
      waiting.push_back(passage.whole);
    } else if (left < waiting.size()) {
      const auto first = waiting.begin() + static_cast<std::ptrdiff_t>(left);
      wait(adds ? *std::min_element(first, waiting.end()) : *first, passage.time);
      left = adds ? waiting.size() : left + 1;
    }
  }
}

std::vector<Step> list_steps(const Topology& topology, const std::vector<Passage>& passages) {
  std::vector<Step> steps;
  for (std::size_t begin = 0; begin < passages.size();) {
    std::size_t end = begin + 1;
    while (end < passages.size() && passages[end].thing() == passages[begin].thing()) ++end;
    match(topology, std::span(passages).subspan(begin, end - begin), steps);
    begin = end;
  }
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return std::pair(a.vertex, a.time) < std::pair(b.vertex, b.time); });
  return steps;
}

}  // namespace

std::vector<Overflow> find_overflows(const Context& context, const Schedule& schedule) {
  const Topology& topology = context.topology();
  bool any = false;
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v)
    any = any || is_limited(topology, VertexId::at(v));
  if (!any) return {};
  const std::vector<Step> steps = list_steps(topology, list_passages(context, schedule));
  std::vector<Overflow> overflows;
  std::int64_t waiting = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    waiting += step.change;
    const bool instant_ends =
        i + 1 == steps.size() || steps[i + 1].vertex != step.vertex || steps[i + 1].time != step.time;
    const bool known = !overflows.empty() && overflows.back().at == step.vertex;
    if (instant_ends && !known && waiting > topology.switch_properties(step.vertex).buffer)
      overflows.push_back({step.vertex, step.time, static_cast<std::uint64_t>(waiting)});
  }
  return overflows;
}

}  // namespace tenex::verifier
