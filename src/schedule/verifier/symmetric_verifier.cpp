// Checks the premise for all links, then the orbits in two passes: partial sums, then copies, which depend on complete
// sums. The orbits of an All-to-All are checked chunk by chunk, with one table of NPUs for all chunks.
#include "tenex/schedule/verifier/symmetric_verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schedule/storage/orbits.hpp"
#include "schedule/verifier/orbit_links.hpp"
#include "schedule/verifier/verdict_contract.hpp"
#include "tenex/base/bitset.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/base/csr.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/units.hpp"
#include "tenex/schedule/views/relayed.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {

namespace {

constexpr SimTime kNever = SimTime::max();

/// Whether every link is that of its (source, direction): its ends and its class match. O(links).
bool translations_hold(const Topology& topology, const TranslationGroup& group) {
  if (topology.npus() != group.npus() || topology.switches() != 0 || topology.links() != group.links()) return false;
  for (std::size_t i = 0; i < topology.links(); ++i) {
    const LinkId link = LinkId::at(i);
    const auto departure = group.departure(link);
    if (departure.direction >= group.directions().size() || group.link(departure) != link) return false;  // one to one
    if (topology.source(link) != vertex_of(departure.source)) return false;
    if (topology.target(link) != vertex_of(group.neighbour(departure.source, departure.direction))) return false;
    if (topology.class_of(link) != group.directions()[departure.direction].link_class) return false;
  }
  return true;
}

class OrbitReplay {
 public:
  OrbitReplay(const Instance& instance, const SymmetricStorage& storage, OrbitLinks links, std::size_t max_findings)
      : storage_(storage),
        group_(storage.group()),
        links_(std::move(links)),
        latency_(direction_latencies(instance, group_)),
        kind_(instance.collective.kind()),
        max_findings_(max_findings),
        held_since_(group_.npus() * (storage.chunks().of_pairs ? 1 : storage.chunks().each), kNever) {
    verdict_.reduction_check = reduces(kind_) ? "in_tree" : "none";
    verdict_.sends = storage.sends();
  }

  Verdict run() {
    check_links();
    if (storage_.chunks().of_pairs)
      check_pairs();
    else
      check_items();
    if (verdict_.violations > 0)
      verdict_.outcome = Verification::invalid;
    else
      verdict_.outcome = skipped_ ? Verification::skipped : Verification::valid;
    if (skipped_) verdict_.reduction_check = "skipped";
    return std::move(verdict_);
  }

 private:
  std::size_t item(NpuId offset, std::uint32_t number) const { return item_of(offset, number, group_.npus()); }

  template <class Message>
  void add(Violation violation, const std::optional<OrbitSend>& orbit, Message&& message) {
    ++verdict_.violations;
    if (verdict_.findings.size() >= max_findings_) return;
    Send send;
    if (orbit) {  // the orbit's send into NPU 0
      const NpuId source = group_.origin(NpuId(0), orbit->direction);
      const NpuId owner = group_.subtract(NpuId(0), orbit->offset);
      send = {orbit->start, group_.link({source, orbit->direction}), storage_.chunk(owner, orbit->number),
              orbit->stage};
    }
    verdict_.findings.push_back({violation, send, message() + ", and so for every NPU"});
  }

  void check_links() {
    busy_until_.assign(links_.roles, SimTime::zero());
    const std::uint32_t* const first = links_.first.data();
    const bool direct = links_.uses.size() == group_.directions().size();  // a link of its own for each direction
    for (const auto& orbit : storage_.orbits()) {
      const bool possible = orbit.start >= SimTime::zero();
      if (!possible) add(Violation::negative_start, orbit, [] { return std::string("time begins at 0s"); });
      if (direct) {
        take(orbit, orbit.direction, possible);
        continue;
      }
      bool free = possible;
      for (std::uint32_t i = first[orbit.direction]; i < first[orbit.direction + 1]; ++i) free = take(orbit, i, free);
    }
  }

  /// Takes the link of use `i` for an orbit's send; if `free`, it must be so. Returns whether all is well.
  bool take(const OrbitSend& orbit, std::uint32_t i, bool free) {
    const RoleUse& use = links_.uses[i];
    SimTime& until = busy_until_[use.role];
    const SimTime from = orbit.start + use.offset;
    const bool overlaps = free && from < until;
    if (overlaps) report_overlap(orbit, i, until);
    until = std::max(until, from + use.busy);
    return free && !overlaps;
  }

  /// The link of use `i` is busy when the orbit's send would take it.
  void report_overlap(const OrbitSend& orbit, std::uint32_t i, SimTime until) {
    const bool over_switch = links_.first[orbit.direction + 1] - links_.first[orbit.direction] > 1;
    const std::string_view end = i == links_.first[orbit.direction] ? " to the switch" : " from the switch";
    add(Violation::link_overlap, orbit, [&] {
      return fmt::format("the link{} is busy with another send until {}", over_switch ? end : "", to_string(until));
    });
  }

  /// All collectives but All-to-All: all chunks of NPU 0 at all NPUs.
  void check_items() {
    if (reduces(kind_)) check_sums();
    for (std::uint32_t k = 0; k < storage_.chunks().each; ++k)
      held_since_[item(NpuId(0), k)] = reduces(kind_) ? last_sum_[item(NpuId(0), k)] : SimTime::zero();
    for (const auto& orbit : storage_.orbits()) copy(orbit);
    check_postconditions();
  }

  /// The in-tree rule: when each NPU sends its sum, and when the last part of the sum arrives.
  void check_sums() {
    last_sum_.assign(held_since_.size(), SimTime::zero());
    std::vector<SimTime> sent_at(held_since_.size(), kNever);
    for (const auto& orbit : storage_.orbits()) {
      if (orbit.stage != Stage::reduce) continue;
      const NpuId source = source_offset(group_, orbit);
      SimTime& sent = sent_at[item(source, orbit.number)];
      if (source == NpuId(0) || sent != kNever) skipped_ = true;
      sent = orbit.start;
      SimTime& last = last_sum_[item(orbit.offset, orbit.number)];
      last = std::max(last, orbit.start + latency_[orbit.direction]);
      verdict_.collective_time = std::max(verdict_.collective_time, last);
    }
    if (skipped_) return;
    for (std::uint32_t k = 0; k < storage_.chunks().each; ++k)
      for (std::size_t offset = 1; offset < group_.npus(); ++offset) {
        const std::size_t at = item(NpuId::at(offset), k);
        if (sent_at[at] == kNever)
          add(Violation::missing_contribution, {},
              [&] { return fmt::format("NPU {} never sends its part of the sum of chunk {} of NPU 0", offset, k); });
        else if (sent_at[at] < last_sum_[at])
          add(Violation::missing_contribution, {}, [&] {
            return fmt::format("NPU {} sends its sum of chunk {} of NPU 0 at {}, before a part of it arrives at {}",
                               offset, k, to_string(sent_at[at]), to_string(last_sum_[at]));
          });
      }
  }

  /// A send of a final value; its source must hold the value by then.
  void copy(const OrbitSend& orbit) {
    if (orbit.stage != Stage::copy) {
      if (!reduces(kind_))
        add(Violation::source_lacks_chunk, orbit, [] { return std::string("there are no sums in this collective"); });
      return;
    }
    if (kind_ == CollectiveKind::reduce_scatter) skipped_ = true;  // no NPU needs it, unless as a relay
    const NpuId source = source_offset(group_, orbit);
    const SimTime since = held_since_[item(source, orbit.number)];
    if (since > orbit.start && !skipped_)
      add(reduces(kind_) ? Violation::incomplete_sum : Violation::source_lacks_chunk, orbit, [&] {
        const std::string when = since == kNever ? "" : " until " + to_string(since);
        return fmt::format("the source does not hold the final value of the chunk{}", when);
      });
    SimTime& there = held_since_[item(orbit.offset, orbit.number)];
    const SimTime arrival = orbit.start + latency_[orbit.direction];
    if (there != kNever) verdict_.waste += group_.npus();
    there = std::min(there, arrival);
  }

  void check_postconditions() {
    if (kind_ == CollectiveKind::reduce_scatter || skipped_) return;
    for (std::uint32_t k = 0; k < storage_.chunks().each; ++k)
      for (std::size_t offset = 1; offset < group_.npus(); ++offset) {
        const SimTime since = held_since_[item(NpuId::at(offset), k)];
        if (since == kNever)
          add(Violation::missing_postcondition, {},
              [&] { return fmt::format("NPU {} ends without chunk {} of NPU 0, which it must hold", offset, k); });
        else
          verdict_.collective_time = std::max(verdict_.collective_time, since);
      }
  }

  /// All-to-All: one chunk of NPU 0 after the other.
  void check_pairs() {
    const auto orbits = storage_.orbits();
    const auto of_chunk = Csr<std::uint32_t>::group(
        storage_.chunks().numbers(group_.npus()), orbits.size(), [&](std::size_t i) { return orbits[i].number; },
        [](std::size_t i) { return static_cast<std::uint32_t>(i); });
    forwards_ = Bitset(group_.npus());
    for (std::size_t number = 0; number < of_chunk.rows(); ++number) {
      const NpuId destination = NpuId::at(number / storage_.chunks().each);
      held_since_[0] = SimTime::zero();
      for (const std::uint32_t i : of_chunk.row(number)) move(orbits[i]);
      finish_chunk(number, destination);
      for (const std::uint32_t i : of_chunk.row(number)) {
        held_since_[orbits[i].offset.index()] = kNever;
        forwards_.reset(orbits[i].offset.index());
      }
    }
  }

  /// A send of the chunk that is checked; all that started before it have been seen.
  void move(const OrbitSend& orbit) {
    if (orbit.stage != Stage::copy)
      return add(Violation::source_lacks_chunk, orbit,
                 [] { return std::string("there are no sums in this collective"); });
    const NpuId source = source_offset(group_, orbit);
    const SimTime since = held_since_[source.index()];
    if (since > orbit.start)
      add(Violation::source_lacks_chunk, orbit,
          [&] { return "the source does not hold the chunk" + (since == kNever ? "" : " until " + to_string(since)); });
    else
      forwards_.set(source.index());
    SimTime& there = held_since_[orbit.offset.index()];
    if (there == kNever)
      met_.push_back(orbit.offset);
    else
      verdict_.waste += group_.npus();
    there = std::min(there, orbit.start + latency_[orbit.direction]);
  }

  /// The chunk must be at its destination; relays that forwarded it were useful.
  void finish_chunk(std::size_t number, NpuId destination) {
    if (held_since_[destination.index()] == kNever && storage_.chunks().has(static_cast<std::uint32_t>(number)))
      add(Violation::missing_postcondition, {}, [&] {
        return fmt::format("NPU {} ends without chunk {} of those that NPU 0 has for it, which it must hold",
                           destination.value(), number % storage_.chunks().each);
      });
    for (const NpuId npu : met_)
      if (npu == destination || forwards_.test(npu.index()))
        verdict_.collective_time = std::max(verdict_.collective_time, held_since_[npu.index()]);
      else
        verdict_.waste += group_.npus();
    met_.clear();
  }

  const SymmetricStorage& storage_;
  const TranslationGroup& group_;
  OrbitLinks links_;
  std::vector<SimTime> busy_until_;  ///< by role
  std::vector<SimTime> latency_;     ///< by direction
  CollectiveKind kind_;
  std::size_t max_findings_;
  std::vector<SimTime> held_since_;  ///< by item (All-to-All: by NPU): when the first copy arrives
  std::vector<SimTime> last_sum_;    ///< by item: when the last partial sum arrives
  std::vector<NpuId> met_;           ///< All-to-All: where copies of the chunk arrive, each once
  Bitset forwards_;                  ///< All-to-All: the NPUs that forward the chunk
  bool skipped_ = false;
  Verdict verdict_;
};

}  // namespace

bool has_orbit_check(const Topology& topology, const Collective& collective, const Schedule& schedule) {
  if (const RelayedParts parts = relayed_parts(schedule); parts.ways)
    return topology.wires() == nullptr && has_orbit_check(*parts.ways, collective, parts.base);
  const SymmetricStorage* storage = symmetric_storage(schedule);
  const auto kind = collective.kind();
  return storage != nullptr && kind != CollectiveKind::broadcast && kind != CollectiveKind::reduce &&
         moves_with_translations(collective, storage->group()) &&
         TranslationGroup::of(topology, LinkPorts::shared).has_value() && storage->chunks() == orbit_chunks(collective);
}

namespace {

/// The premise does not hold.
Verdict other_topology(std::uint64_t sends) {
  Verdict verdict;
  verdict.sends = sends;
  verdict.violations = 1;
  verdict.findings.push_back({Violation::unknown_link, {}, "the topology is not the one that the schedule is for"});
  return verdict;
}

/// Whether all links and switches are the same. O(links).
bool same_network(const Topology& a, const Topology& b) {
  if (a.npus() != b.npus() || a.vertices() != b.vertices() || a.links() != b.links()) return false;
  for (std::size_t v = a.npus(); v < a.vertices(); ++v)
    if (!(a.switch_properties(VertexId::at(v)) == b.switch_properties(VertexId::at(v)))) return false;
  for (std::size_t link = 0; link < a.links(); ++link)
    if (!(a.link(LinkId::at(link)) == b.link(LinkId::at(link)))) return false;
  return true;
}

/// The verdict on the ways, which are checked against the network; sends are counted link by link.
Verdict verify_relayed(const Instance& instance, const Schedule& schedule, const RelayedParts& parts,
                       const VerifyOptions& options) {
  const Wires& wires = *parts.ways->wires();
  if (!same_network(instance.topology, wires.network()) ||
      !may_be_relayed(instance.topology, instance.collective.kind()))
    return other_topology(schedule.sends());
  Verdict verdict = verify_symmetric({*parts.ways, instance.collective, instance.occupancy}, parts.base, options);
  verdict.sends = schedule.sends();
  for (Finding& finding : verdict.findings)
    if (finding.send.link.exists()) finding.send.link = wires.spans(finding.send.link).front().link;
  return verdict;
}

Verdict verify_orbits(const Instance& instance, const Schedule& schedule, const VerifyOptions& options) {
  if (const RelayedParts parts = relayed_parts(schedule); parts.ways)
    return verify_relayed(instance, schedule, parts, options);
  const SymmetricStorage& storage = *symmetric_storage(schedule);
  std::optional<OrbitLinks> links;
  if (translations_hold(instance.topology, storage.group())) links = orbit_links(instance, storage.group());
  if (!links) return other_topology(storage.sends());
  return OrbitReplay(instance, storage, *std::move(links), options.max_findings).run();
}

}  // namespace

Verdict verify_symmetric(const Instance& instance, const Schedule& schedule, const VerifyOptions& options) {
  TENEX_EXPECTS(instance.collective.npus() == instance.topology.npus(), "a collective of the topology's NPUs");
  TENEX_EXPECTS(options.threads >= 1, "at least one thread");
  ensure(has_orbit_check(instance.topology, instance.collective, schedule),
         "the orbit check does not know this schedule");
  Verdict verdict = verify_orbits(instance, schedule, options);
  TENEX_ENSURES(verifier::agrees_with_itself(verdict, instance.collective, schedule),
                "a verdict without contradiction");
  return verdict;
}

Verdict verify_by_size(const Instance& instance, const Schedule& schedule, const VerifyOptions& options) {
  const bool large = schedule.sends() > kMostReplayedSends ||
                     (instance.collective.kind() == CollectiveKind::all_to_all &&
                      instance.collective.chunks() > kMostReplayedPairs / instance.topology.vertices());
  if (options.start_delays.empty() && large && has_orbit_check(instance.topology, instance.collective, schedule))
    return verify_symmetric(instance, schedule, options);
  return verify(instance, schedule, options);
}

}  // namespace tenex
