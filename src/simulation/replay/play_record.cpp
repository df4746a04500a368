#include "simulation/replay/play_record.hpp"

namespace tenex {

PlayRecord::PlayRecord(const Topology& topology, const Collective& collective, const SimulationOptions& options)
    : topology_(topology), collective_(collective), options_(options) {
  if (options.record_links) result_.links.assign(topology.links(), LinkLoad{});
  if (options.record_npu_finish) result_.npu_finish.assign(topology.npus(), SimTime::zero());
}

void PlayRecord::note_load(const Send& send, const HopTime& hop) {
  auto& load = result_.links[send.link.index()];
  load.bytes += collective_.chunk_bytes(send.chunk);
  load.busy += hop.busy;
}

}  // namespace tenex
