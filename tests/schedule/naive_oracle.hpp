// The definition of a valid schedule, written as simply as possible: quadratic loops over whole transfers, sets of
// contributors as std::set. It shares nothing with the verifier: there are no events and no replay, and every question
// is answered by looking at all transfers. Where links are wires, no two sends are one signal: as if no switch copied
// or added. At a switch with virtual cut-through every byte is looked at: byte k of m comes at k / m of a link's
// serialization, and must not leave before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex::test {

struct OracleAnswer {
  bool valid = false;
  SimTime collective_time;  ///< where valid
  std::uint64_t waste = 0;  ///< where valid
};

class NaiveOracle {
 public:
  /// `last`: of partial sums that stay apart at a switch with virtual cut-through the one that is there whole last is
  /// sent on, else the first.
  NaiveOracle(const Instance& instance, const Schedule& schedule, bool last = true)
      : topology_(instance.topology),
        collective_(instance.collective),
        occupancy_(instance.occupancy),
        sends_(list_sends(schedule)),
        last_(last) {}

  OracleAnswer answer() {
    if (!sends_are_possible() || !links_are_exclusive() || !build_transfers() || !sources_hold() ||
        !sums_are_disjoint() || !postconditions_hold())
      return {};
    return {true, collective_time(), waste()};
  }

 private:
  /// A chunk that goes from one vertex's holdings into another's: a plain send, or a whole message.
  struct Transfer {
    VertexId source, target;
    ChunkId chunk;
    Stage stage;
    SimTime start, arrival;
    std::size_t first_send, last_send;  ///< positions in the sorted list
    std::set<std::uint32_t> contributions;
    std::optional<std::size_t> taken_from;  ///< the transfer that a switch without copy passes on
  };

  HopTime hop(const Send& send) const {
    return hop_time(topology_.classes()[topology_.class_of(send.link)], collective_.chunk_bytes(send.chunk),
                    occupancy_);
  }

  bool sends_are_possible() const {
    return std::all_of(sends_.begin(), sends_.end(), [&](const Send& send) {
      return send.link.index() < topology_.links() && send.chunk.index() < collective_.chunks() &&
             send.start >= SimTime::zero();
    });
  }

  /// A physical link during [from, until).
  struct Use {
    LinkId link;
    SimTime from, until;
  };
  std::vector<Use> uses(const Send& send) const {
    if (topology_.wires() == nullptr) return {{send.link, send.start, send.start + hop(send).busy}};
    const Topology& network = topology_.wires()->network();
    const SimTime serialization = hop(send).latency - topology_.alpha(send.link);
    std::vector<Use> all;
    for (const WireSpan& span : topology_.wires()->spans(send.link)) {
      const SimTime from = send.start + span.offset;
      const SimTime longer = occupancy_ == Occupancy::transfer ? network.alpha(span.link) : SimTime::zero();
      all.push_back({span.link, from, from + serialization + longer});
    }
    return all;
  }

  bool links_are_exclusive() const {
    for (const auto& a : sends_)
      for (const auto& b : sends_) {
        if (&a == &b) continue;
        for (const Use& one : uses(a))
          for (const Use& other : uses(b))
            if (one.link == other.link && one.from <= other.from && other.from < one.until) return false;
      }
    return true;
  }

  bool build_transfers() {
    std::map<std::uint32_t, std::vector<std::size_t>> hops;
    for (std::size_t i = 0; i < sends_.size(); ++i) {
      const auto& send = sends_[i];
      if (send.message.exists() != send.destination.exists()) return false;
      if (send.message.exists())
        hops[send.message.value()].push_back(i);
      else
        add_transfer({i});
    }
    for (const auto& [message, path] : hops) {
      if (!is_path(path)) return false;
      add_transfer(path);
    }
    std::sort(transfers_.begin(), transfers_.end(),
              [](const Transfer& a, const Transfer& b) { return a.first_send < b.first_send; });
    return true;
  }

  bool is_path(const std::vector<std::size_t>& path) const {
    const auto& first = sends_[path.front()];
    if (!topology_.is_npu(topology_.source(first.link)) || first.destination.index() >= topology_.npus()) return false;
    for (std::size_t i = 0; i < path.size(); ++i) {
      const auto& send = sends_[path[i]];
      if (send.chunk != first.chunk || send.stage != first.stage || send.destination != first.destination) return false;
      const bool there = topology_.target(send.link) == vertex_of(send.destination);
      if (there != (i + 1 == path.size())) return false;
      if (i == 0) continue;
      const auto& before = sends_[path[i - 1]];
      if (topology_.target(before.link) != topology_.source(send.link)) return false;
      if (!comes_in_time(before, send)) return false;
    }
    return true;
  }

  void add_transfer(const std::vector<std::size_t>& path) {
    const auto& first = sends_[path.front()];
    const auto& last = sends_[path.back()];
    transfers_.push_back({topology_.source(first.link),
                          topology_.target(last.link),
                          first.chunk,
                          first.stage,
                          first.start,
                          last.start + hop(last).latency,
                          path.front(),
                          path.back(),
                          {},
                          {}});
  }

  SimTime serialization(const Send& send) const { return hop(send).latency - topology_.alpha(send.link); }
  bool passes_early(VertexId vertex) const {
    return !is_npu(vertex) && topology_.switch_properties(vertex).forwarding == Forwarding::virtual_cut_through;
  }
  /// Whether all that `in` brings comes before it leaves with `out`.
  bool comes_in_time(const Send& in, const Send& out) const {
    const SimTime first = in.start + topology_.alpha(in.link);
    if (!passes_early(topology_.target(in.link))) return first + serialization(in) <= out.start;
    const std::int64_t bytes = collective_.chunk_bytes(in.chunk).count();
    for (std::int64_t k = 0; k <= bytes; ++k) {
      const auto comes = first.count() * bytes + serialization(in).count() * k;
      const auto leaves = out.start.count() * bytes + serialization(out).count() * k;
      if (comes > leaves) return false;
    }
    return true;
  }
  bool in_time(const Transfer& in, const Transfer& out) const {
    return comes_in_time(sends_[in.last_send], sends_[out.first_send]);
  }

  bool is_npu(VertexId vertex) const { return topology_.is_npu(vertex); }
  bool copies(VertexId vertex) const { return is_npu(vertex) || topology_.switch_properties(vertex).copy; }
  bool adds(VertexId vertex) const { return is_npu(vertex) || topology_.switch_properties(vertex).reduce; }

  std::set<std::uint32_t> own(VertexId vertex, ChunkId chunk) const {
    if (is_npu(vertex) && collective_.contributes(npu_of(vertex), chunk)) return {vertex.value()};
    return {};
  }
  std::set<std::uint32_t> everybody(ChunkId chunk) const {
    std::set<std::uint32_t> all;
    for (const auto member : collective_.groups()[collective_.group_of(chunk).index()].members)
      all.insert(member.value());
    return all;
  }

  /// Transfers into (vertex, chunk) of a stage, in order of arrival.
  std::vector<std::size_t> into(VertexId vertex, ChunkId chunk, Stage stage) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < transfers_.size(); ++i)
      if (transfers_[i].target == vertex && transfers_[i].chunk == chunk && transfers_[i].stage == stage)
        found.push_back(i);
    std::sort(found.begin(), found.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(transfers_[a].arrival, transfers_[a].last_send) <
             std::pair(transfers_[b].arrival, transfers_[b].last_send);
    });
    return found;
  }
  /// How many transfers of the same stage left the same vertex with the same chunk before.
  std::size_t sent_before(std::size_t i) const {
    std::size_t count = 0;
    for (std::size_t j = 0; j < i; ++j)
      if (transfers_[j].source == transfers_[i].source && transfers_[j].chunk == transfers_[i].chunk &&
          transfers_[j].stage == transfers_[i].stage)
        ++count;
    return count;
  }
  /// The start of the last such transfer, if any.
  std::optional<SimTime> last_sum_sent_before(std::size_t i) const {
    std::optional<SimTime> last;
    for (std::size_t j = 0; j < i; ++j)
      if (transfers_[j].source == transfers_[i].source && transfers_[j].chunk == transfers_[i].chunk &&
          transfers_[j].stage == Stage::reduce)
        last = transfers_[j].start;
    return last;
  }

  /// Whether the transfers out of a vertex that passes each arrival on once can be matched with arrivals.
  bool matches(std::size_t i, const std::vector<std::size_t>& arrived, std::set<std::size_t>& tried,
               std::map<std::size_t, std::size_t>& out_of) const {
    for (const auto j : arrived) {
      if (!in_time(transfers_[j], transfers_[i]) || !tried.insert(j).second) continue;
      if (out_of.contains(j) && !matches(out_of[j], arrived, tried, out_of)) continue;
      out_of[j] = i;
      return true;
    }
    return false;
  }
  bool all_match(VertexId vertex, ChunkId chunk) {
    const auto arrived = into(vertex, chunk, Stage::copy);
    std::map<std::size_t, std::size_t> out_of;
    for (std::size_t i = 0; i < transfers_.size(); ++i) {
      if (transfers_[i].source != vertex || transfers_[i].chunk != chunk || transfers_[i].stage != Stage::copy)
        continue;
      std::set<std::size_t> tried;
      if (!matches(i, arrived, tried, out_of)) return false;
    }
    for (const auto& [in, out] : out_of) transfers_[out].taken_from = in;
    return true;
  }
  /// The partial sums that a transfer takes along from a switch with virtual cut-through: all that come in time and are
  /// there yet; of those that stay apart one.
  bool takes_sums(std::size_t i, std::set<std::size_t>& taken) {
    auto& transfer = transfers_[i];
    const bool apart = !adds(transfer.source);
    auto arrived = into(transfer.source, transfer.chunk, Stage::reduce);
    if (apart && last_) std::ranges::reverse(arrived);
    for (const auto j : arrived) {
      if (!in_time(transfers_[j], transfer) || (!copies(transfer.source) && taken.contains(j))) continue;
      if (apart && transfer.taken_from) break;
      for (const auto who : transfers_[j].contributions)
        if (!transfer.contributions.insert(who).second) return false;
      taken.insert(j);
      transfer.taken_from = j;
    }
    return !transfer.contributions.empty();
  }
  bool final_at(const Transfer& transfer) const {
    for (const auto j : into(transfer.source, transfer.chunk, Stage::copy))
      if (in_time(transfers_[j], transfer)) return true;
    if (!adds(transfer.source)) return false;
    std::set<std::uint32_t> sum;
    for (const auto j : into(transfer.source, transfer.chunk, Stage::reduce))
      if (in_time(transfers_[j], transfer))
        sum.insert(transfers_[j].contributions.begin(), transfers_[j].contributions.end());
    return reduces(collective_.kind()) && sum == everybody(transfer.chunk);
  }

  /// Finds what the source of every transfer has at its start, in order of start.
  bool sources_hold() {
    std::set<std::size_t> taken;
    for (std::size_t i = 0; i < transfers_.size(); ++i) {
      auto& transfer = transfers_[i];
      if (passes_early(transfer.source)) {
        const bool held = transfer.stage == Stage::reduce ? takes_sums(i, taken)
                          : copies(transfer.source)       ? final_at(transfer)
                                                    : all_match(transfer.source, transfer.chunk) || final_at(transfer);
        if (!held) return false;
        continue;
      }
      const auto arrived = into(transfer.source, transfer.chunk, transfer.stage);
      const bool one_by_one = transfer.stage == Stage::copy ? !copies(transfer.source) : !adds(transfer.source);
      if (one_by_one) {
        const auto turn = sent_before(i);
        if (turn >= arrived.size() || transfers_[arrived[turn]].arrival > transfer.start) return false;
        transfer.taken_from = arrived[turn];
        transfer.contributions = transfers_[arrived[turn]].contributions;
      } else if (transfer.stage == Stage::reduce) {
        transfer.contributions = own(transfer.source, transfer.chunk);
        const auto emptied = copies(transfer.source) ? std::nullopt : last_sum_sent_before(i);
        for (const auto j : arrived)
          if (transfers_[j].arrival <= transfer.start && (!emptied || transfers_[j].arrival > *emptied))
            transfer.contributions.insert(transfers_[j].contributions.begin(), transfers_[j].contributions.end());
        if (transfer.contributions.empty()) return false;
      } else {
        const auto since = final_since(transfer.source, transfer.chunk);
        if (!since || *since > transfer.start) return false;
      }
    }
    return true;
  }

  std::optional<SimTime> copied_since(VertexId vertex, ChunkId chunk) const {
    if (is_npu(vertex) && collective_.holds_at_start(npu_of(vertex), chunk)) return SimTime::zero();
    const auto copies_in = into(vertex, chunk, Stage::copy);
    return copies_in.empty() ? std::nullopt : std::optional(transfers_[copies_in.front()].arrival);
  }
  /// The time from which the vertex's own sum is complete.
  std::optional<SimTime> summed_since(VertexId vertex, ChunkId chunk) const {
    if (!reduces(collective_.kind()) || !adds(vertex)) return std::nullopt;
    auto sum = own(vertex, chunk);
    for (const auto i : into(vertex, chunk, Stage::reduce)) {
      sum.insert(transfers_[i].contributions.begin(), transfers_[i].contributions.end());
      if (sum == everybody(chunk)) return transfers_[i].arrival;
    }
    return std::nullopt;
  }
  std::optional<SimTime> final_since(VertexId vertex, ChunkId chunk) const {
    const auto copied = copied_since(vertex, chunk);
    const auto summed = summed_since(vertex, chunk);
    if (!copied || !summed) return copied ? copied : summed;
    return std::min(*copied, *summed);
  }

  bool sums_are_disjoint() const {
    for (std::uint32_t v = 0; v < topology_.vertices(); ++v)
      for (std::uint32_t c = 0; c < collective_.chunks(); ++c) {
        const VertexId vertex(v);
        const ChunkId chunk(c);
        if (!adds(vertex) || passes_early(vertex)) continue;
        auto sum = own(vertex, chunk);
        std::optional<SimTime> emptied;
        for (const auto i : into(vertex, chunk, Stage::reduce)) {
          const auto& arriving = transfers_[i];
          if (!copies(vertex))
            for (const auto& out : transfers_)  // a sum that was sent away is no longer there
              if (out.source == vertex && out.chunk == chunk && out.stage == Stage::reduce &&
                  out.start < arriving.arrival && (!emptied || out.start > *emptied)) {
                sum.clear();
                emptied = out.start;
              }
          for (const auto who : arriving.contributions)
            if (!sum.insert(who).second) return false;
          const auto copied = copied_since(vertex, chunk);
          if (copies(vertex) && copied && *copied < arriving.arrival) return false;
        }
      }
    return true;
  }

  bool postconditions_hold() const {
    for (std::uint32_t npu = 0; npu < topology_.npus(); ++npu)
      for (std::uint32_t c = 0; c < collective_.chunks(); ++c)
        if (collective_.must_hold(NpuId(npu), ChunkId(c)) && !final_since(VertexId(npu), ChunkId(c))) return false;
    return true;
  }

  /// Whether a copy is useful: it is the receiver's first final value, and the receiver needs or sends it.
  bool is_useful(std::size_t i) const {
    const auto& transfer = transfers_[i];
    if (transfer.stage == Stage::reduce) return is_useful_sum(i);
    if (!copies(transfer.target))
      return std::any_of(transfers_.begin(), transfers_.end(),
                         [&](const Transfer& next) { return next.taken_from == i; });
    const auto summed = summed_since(transfer.target, transfer.chunk);
    if (summed && *summed <= transfer.arrival) return false;
    if (is_npu(transfer.target) && collective_.holds_at_start(npu_of(transfer.target), transfer.chunk)) return false;
    if (into(transfer.target, transfer.chunk, Stage::copy).front() != i) return false;
    if (is_npu(transfer.target) && collective_.must_hold(npu_of(transfer.target), transfer.chunk)) return true;
    return std::any_of(transfers_.begin(), transfers_.end(), [&](const Transfer& next) {
      return next.source == transfer.target && next.chunk == transfer.chunk && next.stage == Stage::copy;
    });
  }
  /// Whether a partial sum is useful: its receiver sends it on, in a sum or as the complete one, or must hold the sum
  /// that it completes or is a part of.
  bool is_useful_sum(std::size_t i) const {
    const auto& transfer = transfers_[i];
    if (!adds(transfer.target))
      return std::any_of(transfers_.begin(), transfers_.end(),
                         [&](const Transfer& next) { return next.taken_from == i; });
    const auto summed = summed_since(transfer.target, transfer.chunk);
    const bool needed = is_npu(transfer.target) && collective_.must_hold(npu_of(transfer.target), transfer.chunk);
    if (needed && summed && transfer.arrival <= *summed) return true;
    return std::any_of(transfers_.begin(), transfers_.end(), [&](const Transfer& next) {
      if (next.source != transfer.target || next.chunk != transfer.chunk) return false;
      return passes_early(next.source) ? in_time(transfer, next) : next.start >= transfer.arrival;
    });
  }
  SimTime collective_time() const {
    SimTime last;
    for (std::size_t i = 0; i < transfers_.size(); ++i)
      if (is_useful(i)) last = std::max(last, transfers_[i].arrival);
    return last;
  }
  std::uint64_t waste() const {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < transfers_.size(); ++i) count += is_useful(i) ? 0 : 1;
    return count;
  }

  const Topology& topology_;
  const Collective& collective_;
  Occupancy occupancy_;
  std::vector<Send> sends_;
  bool last_;
  std::vector<Transfer> transfers_;
};

}  // namespace tenex::test
