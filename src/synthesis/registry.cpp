// The table of synthesizers.
#include <algorithm>
#include <iterator>

#include "synthesis/pccl/engines.hpp"
#include "synthesis/synthesizers.hpp"
#include "synthesis/tacos/engines.hpp"
#include "synthesis/trees/trees.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

namespace {

// A build without the solvers has the entries of their synthesizers, but for the functions.
#ifdef TENEX_SOLVERS
#define TENEX_SOLVED(function) function
#else
#define TENEX_SOLVED(function) nullptr
#endif
constexpr std::string_view kSolverPackages = "coinor-libclp-dev coinor-libcbc-dev libz3-dev";

/// The entries with what follows from what they say.
std::vector<Synthesizer> completed(std::vector<Synthesizer> entries) {
  for (auto& entry : entries) {
    entry.family = AlgorithmFamily::synthesizer;
    entry.reads.engine = !entry.engines.empty();
  }
  return entries;
}

/// All entries, also those that this build lacks.
const std::vector<Synthesizer>& all_entries() {
  static const std::vector<Synthesizer> table = completed({
      {{.name = "tacos",
        .description = "greedy link-chunk matching over a time-expanded network, event-driven",
        .source = "TACOS, arXiv:2304.05301",
        // All are composed of gathers, in which every NPU needs a chunk; in an All-to-All only one NPU needs it.
        .collectives = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                        CollectiveKind::broadcast, CollectiveKind::reduce},
        .reads = {.attempts = true, .phases = true, .stops = true},
        .engines = {tacos_engine::event_driven, tacos_engine::exact, tacos_engine::coarse, tacos_engine::symmetric}},
       {.make = synthesize_tacos,
        .estimate_bytes = tacos_bytes,
        .count_work = tacos_work,
        .uses_threads = tacos_uses_threads,
        .scales_with_pace = true,
        .translations_engine = tacos_engine::symmetric}},
      {{.name = "tacos_reference",
        .description = "the same matching, postcondition by postcondition: slow and obvious, for tests",
        .source = "TACOS, arXiv:2304.05301",
        .collectives = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                        CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::all_to_all},
        .reads = {.attempts = true, .phases = true},
        .is_reference = true},
       {.make = synthesize_tacos_reference,
        .estimate_bytes = tacos_reference_bytes,
        .count_work = tacos_reference_work,
        .scales_with_pace = true}},
      {{.name = "pccl",
        .description = "an earliest path or tree over a time-expanded network for each condition, any collective",
        .source = "PCCL, chapter 6 of the ASTRA-sim2.0 thesis",
        .reads = {.attempts = true, .routes = true, .switches = true, .phases = true},
        .engines = {pccl_engine::orbit, pccl_engine::grid, pccl_engine::paths, pccl_engine::balanced}},
       {.make = synthesize_pccl,
        .estimate_bytes = pccl_bytes,
        .count_work = pccl_work,
        .translations_engine = pccl_engine::orbit}},
      {{.name = "trees",
        .description =
            "pipelined trees, one for each chunk: All-Reduce at the strength of the network, others at its cut",
        .source = "spanning-tree packing (Tutte; Nash-Williams, 1961); ForestColl, arXiv:2402.06787",
        .collectives = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                        CollectiveKind::broadcast, CollectiveKind::reduce},
        .reads = {.switches = true, .stops = true},
        .engines = {trees_engine::combs, trees_engine::queued, trees_engine::packed, trees_engine::cut_rate,
                    trees_engine::capped, trees_engine::in_switch},
        // Chunks are played forward in time. Reduce-Scatter and Reduce are gathers reversed in time, whose sends cannot
        // wait for a late NPU.
        .delays = {CollectiveKind::all_gather, CollectiveKind::all_reduce, CollectiveKind::broadcast}},
       {.make = synthesize_trees,
        .estimate_bytes = trees_bytes,
        .count_work = trees_work,
        .estimate_period_sends = trees_period_sends}},
      {{.name = "te_ccl",
        .description = "multi-commodity flow over epochs by open solvers, with a proven gap, for small machines",
        .source = "TE-CCL, arXiv:2305.13479",
        .collectives = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                        CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::all_to_all,
                        CollectiveKind::gather, CollectiveKind::scatter, CollectiveKind::all_to_allv,
                        CollectiveKind::halo_exchange, CollectiveKind::conditions, CollectiveKind::mixed},
        .reads = {.attempts = true, .switches = true, .phases = true, .stops = true, .solves = true, .epochs = true},
        // Reductions are gathers reversed in time, and windows are not.
        .varying = {CollectiveKind::all_gather, CollectiveKind::broadcast, CollectiveKind::all_to_all,
                    CollectiveKind::gather, CollectiveKind::scatter, CollectiveKind::all_to_allv,
                    CollectiveKind::halo_exchange, CollectiveKind::conditions, CollectiveKind::mixed},
        .packages = kSolverPackages},
       {.make = TENEX_SOLVED(synthesize_te_ccl),
        .estimate_bytes = TENEX_SOLVED(te_ccl_bytes),
        .count_work = TENEX_SOLVED(te_ccl_work),
        .starts_from_all = true,
        .makers = {te_ccl_maker::all.begin(), te_ccl_maker::all.end()}}},
      {{.name = "taccl",
        .description = "routes by mixed-integer programming, then orders, then times, for small machines",
        .source = "TACCL, NSDI 2023",
        .collectives = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                        CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::all_to_all,
                        CollectiveKind::gather, CollectiveKind::scatter},
        .reads = {.phases = true, .solves = true},
        .packages = kSolverPackages},
       {.make = TENEX_SOLVED(synthesize_taccl),
        .estimate_bytes = TENEX_SOLVED(taccl_bytes),
        .count_work = TENEX_SOLVED(taccl_work),
        .makers = {taccl_maker::all.begin(), taccl_maker::all.end()}}},
      {{.name = "sccl",
        .description = "synchronous steps and rounds of least cost by satisfiability, for small homogeneous machines",
        .source = "SCCL, PPoPP 2021",
        .collectives = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                        CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::all_to_all,
                        CollectiveKind::gather, CollectiveKind::scatter},
        .reads = {.phases = true, .solves = true},
        .packages = kSolverPackages},
       {.make = TENEX_SOLVED(synthesize_sccl),
        .estimate_bytes = TENEX_SOLVED(sccl_bytes),
        .count_work = TENEX_SOLVED(sccl_work),
        .makers = {sccl_maker::all.begin(), sccl_maker::all.end()}}},
  });
  return table;
}

#undef TENEX_SOLVED

/// The entries that this build has, or those that it lacks.
std::vector<Synthesizer> entries(bool had) {
  std::vector<Synthesizer> some;
  std::ranges::copy_if(all_entries(), std::back_inserter(some),
                       [&](const Synthesizer& entry) { return (entry.make != nullptr) == had; });
  return some;
}

}  // namespace

const std::vector<Synthesizer>& synthesizers() {
  static const std::vector<Synthesizer> table = entries(true);
  return table;
}

const std::vector<Synthesizer>& missing_synthesizers() {
  static const std::vector<Synthesizer> table = entries(false);
  return table;
}

const Synthesizer* find_synthesizer(std::string_view name) {
  for (const auto& synthesizer : synthesizers())
    if (synthesizer.name == name) return &synthesizer;
  return nullptr;
}

}  // namespace tenex
