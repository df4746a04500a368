// The driver: one replay in which every check looks at every event, then the postconditions.
//
// Schedules whose chunks walk to one destination each are first followed chunk by chunk, and schedules that offer
// link-major access are first checked link by link. These checks can only find that all is well. The replay is for all
// other schedules, and for those in which something is wrong, because it can describe it.
//
// An invalid send is reported once, at its cause, and then replayed as if it were valid, so that one mistake does not
// hide behind its consequences. For collectives that reduce, a pass before the replay tries the in-tree rule; if it
// fails, the replay carries exact contribution sets if memory allows.
#include "tenex/schedule/verifier/verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "schedule/verifier/buffers.hpp"
#include "schedule/verifier/fast_checks.hpp"
#include "schedule/verifier/findings.hpp"
#include "schedule/verifier/holdings.hpp"
#include "schedule/verifier/in_tree.hpp"
#include "schedule/verifier/links.hpp"
#include "schedule/verifier/passing.hpp"
#include "schedule/verifier/paths.hpp"
#include "schedule/verifier/replay.hpp"
#include "schedule/verifier/sums.hpp"
#include "schedule/verifier/verdict_contract.hpp"
#include "schedule/vertex_roles.hpp"
#include "tenex/base/contract.hpp"

namespace tenex {
namespace verifier {
namespace {

/// How the sums will be checked.
struct Method {
  std::unique_ptr<Sums> sums;
  bool known = true;
  std::string name;
  std::size_t memory_needed_bytes = 0;
  bool may_waste = false;  ///< schedules that obey the in-tree rule use every partial sum
};

/// All checks over one stream of events.
class EventChecks {
 public:
  EventChecks(const Context& context, Method& method, const VerifyOptions& options)
      : context_(context),
        sums_(*method.sums),
        sums_known_(method.known),
        start_of_(options.start_delays.empty() ? 0 : context.topology().vertices()),
        findings_(context, options.max_findings),
        arrivals_(context.lanes()),
        passing_(context),
        links_(context),
        paths_(context),
        holdings_(context),
        partial_(method.may_waste ? std::optional<PartialSums>(context) : std::nullopt) {
    for (const auto& [npu, time] : options.start_delays)
      if (npu.index() < start_of_.size()) start_of_[npu.index()] = time;
  }

  Verdict run(const Schedule& schedule) {
    replay(context_, schedule, arrivals_, *this);
    passing_.finish([this](const Arrival& arrival) { unpack(arrival); });
    check_paths_ended();
    for (const Overflow& overflow : find_overflows(context_, schedule)) report(overflow);
    if (sums_known_) check_postconditions();
    Verdict verdict;
    verdict.violations = findings_.count();
    verdict.findings = findings_.take();
    verdict.sends = sends_;
    verdict.waste = holdings_.waste() + (partial_ ? partial_->waste() : 0);
    verdict.collective_time = std::max(holdings_.last_useful(), partial_ ? partial_->last_useful() : last_sum_);
    verdict.outcome = verdict.violations > 0 ? Verification::invalid
                      : sums_known_          ? Verification::valid
                                             : Verification::skipped;
    return verdict;
  }

  /// A send starts. Returns what it carries if its target will unpack it.
  std::optional<std::uint32_t> start(const Send& send) {
    ++sends_;
    if (!check_ids(send)) return std::nullopt;
    if (send.start < SimTime::zero())
      findings_.add(Violation::negative_start, send, [] { return "time begins at 0s"; });
    if (!start_of_.empty() && send.start < start_of_[context_.source(send).index()])
      findings_.add(Violation::early_start, send, [&] {
        const VertexId source = context_.source(send);
        return fmt::format("{} starts at {}", name(source), text_of(start_of_[source.index()]));
      });
    if (const auto problem = links_.take(send)) findings_.add(Violation::link_overlap, send, [&] { return *problem; });
    const PathStep step = paths_.step(send);
    if (step.broken) {
      if (!step.problem.empty()) findings_.add(Violation::broken_path, send, [&] { return step.problem; });
      return std::nullopt;
    }
    std::uint32_t payload = step.payload;
    if (step.takes) {
      payload = context_.carries_payload(send) ? take_all(send) : take(send, kNotStated, send);
      if (send.message.exists()) paths_.carry(send.message, payload);
    }
    return step.unpacks ? std::optional(payload) : std::nullopt;
  }

  /// A send is unpacked at its link's target.
  void arrive(const Arrival& arrival) {
    for_each_part(arrival, [this](const Arrival& part) { unpack(part); });
  }
  /// A send to a switch that passes chunks on early has started.
  void pass(const Arrival& arrival) {
    for_each_part(arrival, [&](const Arrival& part) { passing_.add(part, arrival.send); });
  }

 private:
  /// What an arrival brings, chunk by chunk.
  template <class Visit>
  void for_each_part(const Arrival& arrival, Visit&& visit) {
    if (!context_.carries_payload(arrival.send)) return visit(arrival);
    Arrival part = arrival;
    for (std::size_t i = 0; const ChunkId chunk : context_.chunks(arrival.send)) {
      part.send.chunk = chunk;
      part.payload = bags_[arrival.payload].empty() ? 0 : bags_[arrival.payload][i++];
      visit(part);
    }
    bags_[arrival.payload].clear();
    free_bags_.push_back(arrival.payload);
  }

  /// One chunk of a send is unpacked.
  void unpack(const Arrival& arrival) {
    const VertexId vertex = context_.target(arrival.send);
    const ChunkId chunk = arrival.send.chunk;
    if (arrival.send.stage == Stage::copy) {
      holdings_.deliver(vertex, chunk, arrival.time);
      return;
    }
    last_sum_ = std::max(last_sum_, arrival.time);
    const bool final_before = sum_role(context_.topology(), vertex) == SumRole::keeps && holdings_.holds(vertex, chunk);
    const Merged merged = sums_.deliver(vertex, chunk, arrival.payload);
    if (merged.nothing) return;
    if (partial_) partial_->deliver(vertex, chunk, arrival.time);
    if (partial_ && merged.complete && !final_before) partial_->complete(vertex, chunk);
    if (merged.twice.exists() || final_before) report_twice(arrival, merged);
    if (merged.complete) holdings_.complete(vertex, chunk);
  }

  bool check_ids(const Send& send) {
    if (!context_.link_exists(send)) {
      findings_.add(Violation::unknown_link, send,
                    [&] { return fmt::format("the topology has {} links", context_.topology().links()); });
      return false;
    }
    if (!context_.chunk_exists(send)) {
      findings_.add(Violation::unknown_chunk, send,
                    [&] { return fmt::format("the collective has {} chunks", context_.collective().chunks()); });
      return false;
    }
    return true;
  }

  /// The bag of a send that carries several chunks: what take() returned for each; an empty bag if all of these are
  /// nothing.
  std::uint32_t take_all(const Send& send) {
    if (free_bags_.empty()) {
      free_bags_.push_back(static_cast<std::uint32_t>(bags_.size()));
      bags_.emplace_back();
    }
    const std::uint32_t bag = free_bags_.back();
    free_bags_.pop_back();
    const std::uint32_t stated = context_.stated_by(send);
    Send part = send;
    for (std::size_t i = 0; const ChunkId chunk : context_.chunks(send)) {
      part.chunk = chunk;
      const std::uint32_t payload = take(part, stated, send);
      if (payload != 0 && bags_[bag].empty()) bags_[bag].resize(context_.chunks(send).size());
      if (payload != 0) bags_[bag][i] = payload;
      ++i;
    }
    return bag;
  }

  /// Checks that the source has what the send claims. Returns what the send takes along. `stated`: the payload whose
  /// contributors it states. `sent`: the send that the chunk is a part of.
  std::uint32_t take(const Send& send, std::uint32_t stated, const Send& sent) {
    const VertexId source = context_.source(send);
    const auto unpack_part = [this](const Arrival& arrival) { unpack(arrival); };
    if (const auto early = passing_.hand_over(sent, send.chunk, unpack_part)) {
      report_early(send, *early);
      return 0;
    }
    if (send.stage == Stage::reduce) {
      const TakenSum taken = sums_.take(source, send.chunk, stated);
      if (partial_) partial_->take(source, send.chunk);
      if (taken.what == Take::spent) report_spent(send);
      if (taken.what == Take::nothing)
        findings_.add(Violation::source_lacks_chunk, send, [&] {
          if (stated == kNotStated) return name(source) + " has no part of the chunk's sum";
          return fmt::format("{} cannot make the sum of the stated contributors from the sums that it has",
                             name(source));
        });
      return taken.payload;
    }
    const Take what = holdings_.take(source, send.chunk);
    if (partial_ && sum_role(context_.topology(), source) != SumRole::queues) partial_->take(source, send.chunk);
    if (what == Take::held || sums_.take_complete(source, send.chunk)) return 0;
    if (what == Take::spent)
      report_spent(send);
    else if (sums_.has_partial(source, send.chunk))
      findings_.add(Violation::incomplete_sum, send, [&] {
        return fmt::format("{} cannot send the final value, as {}", name(source),
                           sums_.describe_missing(source, send.chunk));
      });
    else
      report_lack(send);
    return 0;
  }

  void report_lack(const Send& send) {
    findings_.add(Violation::source_lacks_chunk, send, [&] {
      const VertexId source = context_.source(send);
      const auto coming = context_.passes_on_early(source) ? passing_.next_for(send, send.chunk)
                                                           : arrivals_.find_copy(context_, source, send.chunk);
      return fmt::format("{} does not hold the chunk{}", name(source), coming ? " until " + text_of(*coming) : "");
    });
  }

  void report_early(const Send& send, SimTime from) {
    findings_.add(Violation::source_lacks_chunk, send, [&] {
      return fmt::format("what {} is receiving may leave over this link from {} on", name(context_.source(send)),
                         text_of(from));
    });
  }

  void report_spent(const Send& send) {
    findings_.add(Violation::switch_copy, send, [&] {
      return fmt::format("{} has already forwarded all it has received of the chunk, and cannot copy",
                         name(context_.source(send)));
    });
  }

  void report_twice(const Arrival& arrival, const Merged& merged) {
    findings_.add(Violation::contribution_twice, arrival.send, [&] {
      const std::string receiver = name(context_.target(arrival.send));
      if (!merged.twice.exists())
        return fmt::format("{} holds the final value already when this partial sum arrives at {}", receiver,
                           text_of(arrival.time));
      return fmt::format("at its arrival at {} the contribution of NPU {} is in the sum at {} already",
                         text_of(arrival.time), merged.twice.value(), receiver);
    });
  }

  void report(const Overflow& overflow) {
    findings_.add_at_end(Violation::buffer_overflow, {overflow.time, LinkId::none(), ChunkId::none()}, [&] {
      return fmt::format("at {} {} chunks wait in {}, whose buffer holds {}", text_of(overflow.time), overflow.waiting,
                         name(overflow.at), context_.topology().switch_properties(overflow.at).buffer);
    });
  }

  void check_paths_ended() {
    for (const Send& last : paths_.unfinished())
      findings_.add(Violation::broken_path, last, [&] {
        return fmt::format("message {} ends here and never reaches NPU {}", last.message.value(),
                           last.destination.value());
      });
  }

  void check_postconditions() {
    const auto& collective = context_.collective();
    for (const auto& [missing_npu, missing_chunk] : holdings_.missing()) {
      const auto npu = missing_npu;  // clang before version 16 captures no structured binding
      const auto chunk = missing_chunk;
      const VertexId vertex = vertex_of(npu);
      const Send about{SimTime::zero(), LinkId::none(), chunk};
      if (reduces(collective.kind(collective.group_of(chunk))) && npu == collective.owner(chunk))
        findings_.add_at_end(Violation::missing_contribution, about, [&] {
          return fmt::format("NPU {} ends without the sum of chunk {}: {}", npu.value(), chunk.value(),
                             sums_.describe_missing(vertex, chunk));
        });
      else
        findings_.add_at_end(Violation::missing_postcondition, about, [&] {
          return fmt::format("NPU {} ends without chunk {}, which it must hold", npu.value(), chunk.value());
        });
    }
    for (const auto& stuck : sums_.stuck())
      findings_.add_at_end(Violation::switch_reduce, {SimTime::zero(), LinkId::none(), stuck.chunk}, [&] {
        return fmt::format(
            "{} ends with {} of the partial sums of chunk {} that reached it: it cannot add them, so each must "
            "be sent on",
            name(stuck.at), stuck.waiting, stuck.chunk.value());
      });
  }

  std::string name(VertexId vertex) const { return name_of(context_.topology(), vertex); }

  const Context& context_;
  Sums& sums_;
  bool sums_known_;
  std::vector<SimTime> start_of_;  ///< by vertex; empty where no NPU is delayed
  Findings findings_;
  Arrivals arrivals_;
  PassingArrivals passing_;
  LinkOccupancy links_;
  MessagePaths paths_;
  CopyHoldings holdings_;
  std::vector<std::vector<std::uint32_t>> bags_;  ///< under way, by bag
  std::vector<std::uint32_t> free_bags_;
  std::uint64_t sends_ = 0;
  SimTime last_sum_;                    ///< last arrival of a partial sum
  std::optional<PartialSums> partial_;  ///< where some arrivals of partial sums may be waste
};

Method choose_method(const Context& context, const Schedule& schedule, const VerifyOptions& options) {
  if (!context.collective().has_sums()) return {make_no_sums(), true, "none", 0};
  InTreeReport report = check_in_tree(context, schedule);
  if (report.holds && options.reduction_check != ReductionCheck::exact_sets)
    return {make_in_tree_sums(context, std::move(report.sums)), true, "in_tree", 0};
  const std::size_t needed = exact_sums_bytes(context, report);
  if (needed <= options.memory_limit_bytes && options.reduction_check != ReductionCheck::in_tree)
    return {make_exact_sums(context), true, "exact_sets", 0, true};
  return {make_assumed_sums(context), false, "skipped", needed};
}

/// The verdict where the replay's holdings of an All-to-All (one bit per vertex and chunk) are beyond the limit.
std::optional<Verdict> skip_replay(const Context& context, const Schedule& schedule, const VerifyOptions& options) {
  if (!context.collective().is_unicast()) return std::nullopt;
  const std::size_t needed = context.topology().vertices() * ((context.collective().chunks() + 7) / 8);
  if (needed <= options.holdings_limit_bytes) return std::nullopt;
  Verdict verdict;
  verdict.outcome = Verification::skipped;
  verdict.sends = schedule.sends();
  verdict.reduction_check = "none";
  verdict.memory_needed_bytes = needed;
  return verdict;
}

Verdict judge_by_replay(const Context& context, const Schedule& schedule, const VerifyOptions& options) {
  auto method = choose_method(context, schedule, options);
  Verdict verdict = EventChecks(context, method, options).run(schedule);
  verdict.reduction_check = method.name;
  verdict.memory_needed_bytes = method.memory_needed_bytes;
  return verdict;
}

Verdict judge(const Instance& instance, const Schedule& schedule, const VerifyOptions& options) {
  const Context context(instance, schedule.payloads());
  const bool varies = instance.topology.varies();
  if (!varies)
    if (auto verdict = verify_by_walks(context, schedule, options)) return *std::move(verdict);
  if (auto verdict = skip_replay(context, schedule, options)) return *std::move(verdict);
  if (!varies && options.start_delays.empty())
    if (auto verdict = verify_by_link(context, schedule, options)) return *std::move(verdict);
  Verdict verdict = judge_by_replay(context, schedule, options);
  for (const auto taken : {TakenAlong::first, TakenAlong::whole}) {
    if (verdict.outcome != Verification::invalid || !context.any_passes_on_early()) break;
    const Context other(instance, schedule.payloads(), taken);
    if (Verdict found = judge_by_replay(other, schedule, options); found.valid()) return found;
  }
  return verdict;
}

}  // namespace
}  // namespace verifier

std::string_view to_string(Violation violation) {
  switch (violation) {
    case Violation::unknown_link:
      return "unknown_link";
    case Violation::unknown_chunk:
      return "unknown_chunk";
    case Violation::negative_start:
      return "negative_start";
    case Violation::early_start:
      return "early_start";
    case Violation::source_lacks_chunk:
      return "source_lacks_chunk";
    case Violation::incomplete_sum:
      return "incomplete_sum";
    case Violation::link_overlap:
      return "link_overlap";
    case Violation::contribution_twice:
      return "contribution_twice";
    case Violation::broken_path:
      return "broken_path";
    case Violation::switch_copy:
      return "switch_copy";
    case Violation::switch_reduce:
      return "switch_reduce";
    case Violation::missing_postcondition:
      return "missing_postcondition";
    case Violation::missing_contribution:
      return "missing_contribution";
    case Violation::buffer_overflow:
      return "buffer_overflow";
  }
  return "unknown";
}

Verdict verify(const Instance& instance, const Schedule& schedule, const VerifyOptions& options) {
  TENEX_EXPECTS(instance.collective.npus() == instance.topology.npus(), "a collective of the topology's NPUs");
  TENEX_EXPECTS(options.threads >= 1, "at least one thread");
  Verdict verdict = verifier::judge(instance, schedule, options);
  TENEX_ENSURES(verifier::agrees_with_itself(verdict, instance.collective, schedule),
                "a verdict without contradiction");
  return verdict;
}

}  // namespace tenex
