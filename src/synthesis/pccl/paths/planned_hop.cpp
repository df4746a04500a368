// A list schedule, built send by send.
#include "synthesis/pccl/paths/planned_hop.hpp"

#include "tenex/schedule/storage/list_builder.hpp"

namespace tenex {

Schedule schedule_of(std::vector<PlannedHop<std::int64_t>> hops) {
  ListBuilder list(hops.size());
  for (const auto& hop : hops) {
    const LinkId link(hop.link);
    const ChunkId chunk(hop.chunk);
    SendBatch one;
    one.link = {&link, 1};
    one.chunk = {&chunk, 1};
    one.at = picoseconds(hop.start);
    list.append(one);
  }
  return list.finish();
}

}  // namespace tenex
