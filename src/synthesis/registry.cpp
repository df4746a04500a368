// The table of synthesizers.
#include "synthesis/pccl/engines.hpp"
#include "synthesis/reference/tacos_reference.hpp"
#include "synthesis/sccl/sccl.hpp"
#include "synthesis/taccl/taccl.hpp"
#include "synthesis/tacos/engines.hpp"
#include "synthesis/tacos/tacos.hpp"
#include "synthesis/te_ccl/te_ccl.hpp"
#include "synthesis/trees/trees.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

const std::vector<Synthesizer>& synthesizers() {
  static const std::vector<Synthesizer> table = {
      {.name = "tacos",
       .description = "greedy link-chunk matching over a time-expanded network, event-driven",
       .source = "TACOS, arXiv:2304.05301",
       .synthesize = synthesize_tacos,
       .estimate_bytes = tacos_bytes,
       .estimate_seconds = tacos_seconds,
       .uses_threads = tacos_uses_threads,
       // All are composed of gathers, in which every NPU needs a chunk; in an All-to-All only one NPU needs it.
       .collectives = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                       CollectiveKind::broadcast, CollectiveKind::reduce},
       .engines = {tacos_engine::event_driven, tacos_engine::exact, tacos_engine::coarse, tacos_engine::symmetric},
       .stops = true,
       .scales_with_pace = true,
       .translations_engine = tacos_engine::symmetric},
      {.name = "tacos_reference",
       .description = "the same matching, postcondition by postcondition: slow and obvious, for tests",
       .source = "TACOS, arXiv:2304.05301",
       .synthesize = synthesize_tacos_reference,
       .estimate_bytes = tacos_reference_bytes,
       .estimate_seconds = tacos_reference_seconds,
       .collectives = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                       CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::all_to_all},
       .scales_with_pace = true},
      {.name = "pccl",
       .description = "an earliest path or tree over a time-expanded network for each condition, any collective",
       .source = "PCCL, chapter 6 of the ASTRA-sim2.0 thesis",
       .synthesize = synthesize_pccl,
       .estimate_bytes = pccl_bytes,
       .estimate_seconds = pccl_seconds,
       .engines = {pccl_engine::orbit, pccl_engine::grid, pccl_engine::paths},
       .routes = true,
       .uses_switches = true,
       .translations_engine = pccl_engine::orbit},
      {.name = "trees",
       .description =
           "pipelined trees, one for each chunk: All-Reduce at the strength of the network, others at its cut",
       .source = "spanning-tree packing (Tutte; Nash-Williams, 1961); ForestColl, arXiv:2402.06787",
       .synthesize = synthesize_trees,
       .estimate_bytes = trees_bytes,
       .estimate_seconds = trees_seconds,
       .estimate_period_sends = trees_period_sends,
       .collectives = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                       CollectiveKind::broadcast, CollectiveKind::reduce},
       .engines = {trees_engine::combs, trees_engine::queued, trees_engine::packed, trees_engine::cut_rate},
       .draws = false,
       .uses_switches = true,
       .phases = false,
       .stops = true,
       // Chunks are played forward in time. Reduce-Scatter and Reduce are gathers reversed in time, whose sends cannot
       // wait for a late NPU.
       .delays = {CollectiveKind::all_gather, CollectiveKind::all_reduce, CollectiveKind::broadcast}},
#ifdef TENEX_SOLVERS
      {.name = "te_ccl",
       .description = "multi-commodity flow over epochs by open solvers, with a proven gap, for small machines",
       .source = "TE-CCL, arXiv:2305.13479",
       .synthesize = synthesize_te_ccl,
       .estimate_bytes = te_ccl_bytes,
       .estimate_seconds = te_ccl_seconds,
       .collectives = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                       CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::all_to_all,
                       CollectiveKind::gather, CollectiveKind::scatter, CollectiveKind::mixed},
       .makers = {te_ccl_maker::all.begin(), te_ccl_maker::all.end()},
       .uses_switches = true,
       .stops = true,
       .solves = true,
       .has_epochs = true,
       // Reductions are gathers reversed in time, and windows are not.
       .varying = {CollectiveKind::all_gather, CollectiveKind::broadcast, CollectiveKind::all_to_all,
                   CollectiveKind::gather, CollectiveKind::scatter, CollectiveKind::mixed}},
      {.name = "taccl",
       .description = "routes by mixed-integer programming, then orders, then times, for small machines",
       .source = "TACCL, NSDI 2023",
       .synthesize = synthesize_taccl,
       .estimate_bytes = taccl_bytes,
       .estimate_seconds = taccl_seconds,
       .collectives = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                       CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::all_to_all,
                       CollectiveKind::gather, CollectiveKind::scatter},
       .makers = {taccl_maker::all.begin(), taccl_maker::all.end()},
       .draws = false,
       .solves = true},
      {.name = "sccl",
       .description = "synchronous steps and rounds of least cost by satisfiability, for small homogeneous machines",
       .source = "SCCL, PPoPP 2021",
       .synthesize = synthesize_sccl,
       .estimate_bytes = sccl_bytes,
       .estimate_seconds = sccl_seconds,
       .collectives = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                       CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::all_to_all,
                       CollectiveKind::gather, CollectiveKind::scatter},
       .makers = {sccl_maker::all.begin(), sccl_maker::all.end()},
       .draws = false,
       .solves = true},
#endif
  };
  return table;
}

const std::vector<std::string_view>& solver_makers() {
  static const std::vector<std::string_view> makers = [] {
    std::vector<std::string_view> names(te_ccl_maker::all.begin(), te_ccl_maker::all.end());
    names.insert(names.end(), taccl_maker::all.begin(), taccl_maker::all.end());
    names.insert(names.end(), sccl_maker::all.begin(), sccl_maker::all.end());
    return names;
  }();
  return makers;
}

const Synthesizer* find_synthesizer(std::string_view name) {
  for (const auto& synthesizer : synthesizers())
    if (synthesizer.name == name) return &synthesizer;
  return nullptr;
}

}  // namespace tenex
