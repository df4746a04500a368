// Idea: the pass of tenex/schedule/timing/player.hpp, in which a send is a path. Each hop starts as soon as the hop
// before it has arrived (or may leave a switch with virtual cut-through) and its link is free; links take their sends
// in planned order, so a link's next send is known when the pass comes to it. What is played is written link by link,
// and the order of all starts is found at the end. Without overlap sums are played first, then copies, from the end of
// the last sum on.
#include "simulation/replay/switched_pass.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "simulation/replay/play_record.hpp"
#include "simulation/replay/played_sends.hpp"
#include "tenex/base/graph/event_queue.hpp"
#include "tenex/schedule/timing/player.hpp"
#include "tenex/simulation/switched_replay.hpp"
#include "tenex/topology/hand_over.hpp"
#include "tenex/topology/slow_windows.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {

void order_by_turn(std::vector<Send>& sends, const UnwoundNetwork& unwound, std::size_t physical_links) {
  const auto first_link = [&](const Send& send) { return unwound.path(send.link).front().index(); };
  std::vector<std::uint32_t> turns(physical_links, 0);
  std::vector<std::pair<std::uint32_t, Send>> instant;
  for (auto first = sends.begin(), last = first; first != sends.end(); first = last) {
    instant.clear();
    for (; last != sends.end() && last->start == first->start; ++last)
      instant.emplace_back(turns[first_link(*last)]++, *last);
    for (const auto& each : instant) turns[first_link(each.second)] = 0;
    std::stable_sort(instant.begin(), instant.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::transform(instant.begin(), instant.end(), first, [](const auto& each) { return each.second; });
  }
}

Result<UnwoundSends> count_sends(const SwitchedInput& input) {
  const auto links = input.unwound.topology.links();
  UnwoundSends counted{std::vector<std::uint64_t>(links, 0)};
  SendBuffer buffer;
  for (std::size_t segment = 0; segment < input.schedule.segments(); ++segment) {
    input.schedule.read(segment, buffer);
    const auto& batch = buffer.batch;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (batch.link[i].index() >= links || batch.chunk[i].index() >= input.collective.chunks())
        return input_error({}, "a send is not one of the unwound network",
                           fmt::format("it takes link {} of {}", batch.link[i].value(), links),
                           "name the network that was unwound");
      if (!batch.message.empty() && batch.message[i].exists())
        return unsupported_error({}, "cannot play the schedule on switches", "some of its sends are hops of messages",
                                 "play a schedule of single chunks between neighbours");
      ++counted.of_link[batch.link[i].index()];
      counted.sums = counted.sums || batch.stage_of(i) == Stage::reduce;
    }
  }
  return counted;
}

namespace {

class SwitchedPass {
 public:
  explicit SwitchedPass(const SwitchedInput& input)
      : input_(input),
        network_(input.network),
        wires_(network_.wires()),
        hops_(network_, input.collective.chunk_sizes(), input.options.occupancy),
        hand_overs_(network_, input.collective.chunk_sizes()),
        record_(network_, input.collective, input.options),
        free_(physical_network(network_).links()),
        start_of_(network_.vertices()),
        holdings_(0, network_.npus() * input.collective.chunks()) {
    for (const auto& [npu, time] : input.options.start_delays) start_of_[vertex_of(npu).index()] = time;
    const auto& collective = input.collective;
    for (std::size_t npu = 0; npu < network_.npus(); ++npu) {
      holdings_.begin_empty(npu * collective.chunks(), collective.chunks());
      for (const auto& member : collective.memberships(NpuId::at(npu))) {
        const auto [first, count] = collective.held_by(member);
        holdings_.begin_held(npu * collective.chunks() + first, count);
      }
    }
  }

  std::optional<Simulation> run(const UnwoundSends& sends) {
    make_columns(sends);
    const bool apart = sends.sums && !input_.overlap;
    if (apart && !play_all(Stage::reduce)) return std::nullopt;
    copies_from_ = apart ? reduced_ : SimTime::zero();
    if (!play_all(apart ? std::optional(Stage::copy) : std::nullopt)) return std::nullopt;
    auto result = std::move(record_).finish([&](auto&& visit) { visit_all(visit); });
    if (input_.options.record_sends) result.sends = finish();
    return result;
  }

 private:
  /// Makes room for the sends of each link.
  void make_columns(const UnwoundSends& sends) {
    auto& first = played_.first;
    first.assign(network_.links() + 1, 0);
    bool messages = false;
    for (std::size_t l = 0; l < sends.of_link.size(); ++l) {
      const auto path = input_.paths[LinkId::at(l)];
      for (const auto hop : path) first[hop.index() + 1] += sends.of_link[l];
      messages = messages || path.size() > 1;
    }
    for (std::size_t link = 0; link < network_.links(); ++link) first[link + 1] += first[link];
    next_.assign(first.begin(), first.end() - 1);
    played_.start.resize(first.back());
    played_.chunk.resize(first.back());
    if (sends.sums) played_.stage.resize(first.back());
    if (messages) played_.message.resize(first.back(), MessageId::none());
    if (messages) played_.destination.resize(first.back(), NpuId::none());
  }

  /// Plays the sends of a stage, or all; false where the schedule is not of the kind that one pass plays.
  bool play_all(std::optional<Stage> stage) {
    SendBuffer buffer;
    std::vector<Send> sends;
    for (std::size_t segment = 0; segment < input_.schedule.segments(); ++segment) {
      input_.schedule.read(segment, buffer);
      sends.clear();
      for (std::size_t i = 0; i < buffer.batch.size(); ++i) sends.push_back(buffer.batch[i]);
      order_by_turn(sends, input_.unwound, free_.size());
      for (const Send& send : sends)
        if ((!stage || send.stage == *stage) && !play(send)) return false;
    }
    return true;
  }

  bool play(const Send& send) {
    const auto chunks = input_.collective.chunks();
    const auto& ends = input_.unwound.topology;
    const auto source = ends.source(send.link);
    const auto target = ends.target(send.link);
    const auto there = holdings_.take(source.index() * chunks + send.chunk.index(), send.stage);
    if (!holdings_.is_time(there)) return false;
    auto ready = picoseconds(static_cast<std::int64_t>(there));
    if (send.stage == Stage::copy) ready = std::max(ready, copies_from_);
    const auto path = input_.paths[send.link];
    auto hop = send;
    if (path.size() > 1) {
      hop.message = MessageId(messages_++);
      hop.destination = npu_of(target);
    }
    const auto size_class = input_.collective.size_class(send.chunk);
    for (std::size_t i = 0; i < path.size(); ++i) {
      hop.link = path[i];
      hop.start = std::max(ready, start_of_[network_.source(hop.link).index()]);
      ready = take_link(hop);
      if (i + 1 < path.size()) ready -= hand_overs_.lead(hop.link, path[i + 1], size_class);
    }
    if (send.stage == Stage::reduce) reduced_ = std::max(reduced_, ready);
    return holdings_.deliver(target.index() * chunks + send.chunk.index(), send.stage,
                             static_cast<std::uint64_t>(ready.count()));
  }

  /// One hop, at the earliest at its start; returns its arrival.
  SimTime take_link(Send& hop) {
    if (wires_ == nullptr) {
      hop.start = std::max(hop.start, free_[hop.link.index()]);
    } else {
      for (const auto& span : wires_->spans(hop.link))
        hop.start = std::max(hop.start, free_[span.link.index()] - span.offset);
    }
    const auto times = times_of(hop.link, hop.chunk, hop.start);
    if (wires_ == nullptr) {
      free_[hop.link.index()] = hop.start + times.busy;
    } else {
      const bool transfer = input_.options.occupancy == Occupancy::transfer;
      for (const auto& span : wires_->spans(hop.link))
        free_[span.link.index()] = hop.start + span.offset + times.latency - network_.alpha(hop.link) +
                                   (transfer ? wires_->network().alpha(span.link) : SimTime::zero());
    }
    record_.note(hop, times);
    keep(hop);
    return hop.start + times.latency;
  }
  [[nodiscard]] HopTime times_of(LinkId link, ChunkId chunk, SimTime start) const {
    return hops_.at(network_.class_of(link), input_.collective.size_class(chunk), start);
  }

  void keep(const Send& hop) {
    const auto position = next_[hop.link.index()]++;
    played_.start[position] = hop.start;
    played_.chunk[position] = hop.chunk;
    if (!played_.stage.empty()) played_.stage[position] = hop.stage;
    if (played_.message.empty()) return;
    played_.message[position] = hop.message;
    played_.destination[position] = hop.destination;
  }

  template <class Visit>
  void visit_all(Visit&& visit) const {
    for (std::size_t link = 0; link < network_.links(); ++link)
      for (auto i = played_.first[link]; i < played_.first[link + 1]; ++i)
        visit(played_.start[i], times_of(LinkId::at(link), played_.chunk[i], played_.start[i]).busy);
  }

  /// The played sends in the order of their starts.
  Schedule finish() {
    played_.order.reserve(played_.size());
    next_.assign(played_.first.begin(), played_.first.end() - 1);
    EventQueue fronts(network_.links());
    const auto put = [&](std::uint32_t link) {
      if (next_[link] < played_.first[link + 1]) fronts.put(link, played_.start[next_[link]]);
    };
    for (std::uint32_t link = 0; link < network_.links(); ++link) put(link);
    std::vector<std::uint32_t> instant;
    do {
      for (auto link = fronts.pop(); link != EventQueue::kNone; link = fronts.pop()) instant.push_back(link);
      std::ranges::sort(instant);
      for (const auto link : instant) {
        played_.note_start(next_[link]++, LinkId(link), fronts.now());
        put(link);
      }
      instant.clear();
    } while (fronts.advance());
    return make_played_schedule(std::move(played_), {});
  }

  const SwitchedInput& input_;
  const Topology& network_;
  const Wires* wires_;
  StartedHops hops_;
  HandOvers hand_overs_;
  PlayRecord record_;
  std::vector<SimTime> free_;      ///< by physical link
  std::vector<SimTime> start_of_;  ///< by vertex
  SendPlayer<std::uint64_t> holdings_;
  PlayedSends played_;
  std::vector<std::uint64_t> next_;  ///< of each link, in the columns
  std::uint32_t messages_ = 0;
  SimTime reduced_;      ///< when the last partial sum so far arrives
  SimTime copies_from_;  ///< no final value leaves before
};

}  // namespace

std::optional<Simulation> play_in_pass(const SwitchedInput& input, const UnwoundSends& sends) {
  return SwitchedPass(input).run(sends);
}

std::uint64_t bytes_of_play(std::uint64_t hops, std::uint64_t npus, std::uint64_t chunks) {
  return hops * (kPlayedBytes + kPlayedBytesOfHop) + npus * chunks * sizeof(std::uint64_t);
}

}  // namespace tenex
