// The table of synthesizers.
#include "synthesis/reference/tacos_reference.hpp"
#include "synthesis/tacos/tacos.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

const std::vector<Synthesizer>& synthesizers() {
  static const std::vector<Synthesizer> table = {
      {"tacos",
       "greedy link-chunk matching over a time-expanded network, event-driven",
       "TACOS, arXiv:2304.05301",
       synthesize_tacos,
       tacos_bytes,
       tacos_seconds,
       tacos_uses_threads,
       // All are made of gathers, in which a chunk is for everybody; an All-to-All's is for one.
       {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
        CollectiveKind::broadcast, CollectiveKind::reduce},
       true,
       true},
      {"tacos_reference",
       "the same matching, postcondition by postcondition: slow and obvious, for tests",
       "TACOS, arXiv:2304.05301",
       synthesize_tacos_reference,
       tacos_reference_bytes,
       tacos_reference_seconds,
       nullptr,
       {},
       true},
  };
  return table;
}

const Synthesizer* find_synthesizer(std::string_view name) {
  for (const auto& synthesizer : synthesizers())
    if (synthesizer.name == name) return &synthesizer;
  return nullptr;
}

}  // namespace tenex
