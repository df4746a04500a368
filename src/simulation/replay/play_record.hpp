// What a replay or a play notes of its sends beside their starts.
#pragma once

#include <algorithm>
#include <tuple>
#include <utility>

#include "simulation/record.hpp"
#include "tenex/schedule/send.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/slow_windows.hpp"

namespace tenex {

/// Collects what the options ask for, but the sends. 16 bytes per link, NPU and delivery that is recorded.
class PlayRecord {
 public:
  PlayRecord(const Topology& topology, const Collective& collective, const SimulationOptions& options);

  /// A send starts at its `start` and takes `hop`. To be called in planned order. O(1).
  void note(const Send& send, const HopTime& hop) {
    ++result_.hops;
    const VertexId target = topology_.target(send.link);
    if (!send.message.exists() || target == vertex_of(send.destination)) {
      ++result_.messages;
      result_.finish = std::max(result_.finish, send.start + hop.latency);
      if (topology_.is_npu(target)) note_arrival(npu_of(target), send.chunk, send.start + hop.latency);
    }
    if (options_.record_links) note_load(send, hop);
  }
  /// The notes. `for_each(visit)` calls visit(start, busy) for every send that was noted, if asked for utilization.
  template <class ForEach>
  [[nodiscard]] Simulation finish(ForEach&& for_each) && {
    std::stable_sort(result_.arrivals.begin(), result_.arrivals.end(), [](const Delivery& a, const Delivery& b) {
      return std::tie(a.time, a.npu) < std::tie(b.time, b.npu);
    });
    if (options_.utilization_bins > 0) {
      UtilizationBins bins(result_.finish, options_.utilization_bins);
      for_each([&](SimTime start, SimTime busy) { bins.add(start, busy); });
      result_.utilization = bins.result();
    }
    return std::move(result_);
  }

 private:
  void note_arrival(NpuId npu, ChunkId chunk, SimTime arrival) {
    if (options_.record_npu_finish)
      result_.npu_finish[npu.index()] = std::max(result_.npu_finish[npu.index()], arrival);
    if (options_.record_arrivals) result_.arrivals.push_back({arrival, npu, chunk});
  }
  void note_load(const Send& send, const HopTime& hop);

  const Topology& topology_;
  const Collective& collective_;
  const SimulationOptions& options_;
  Simulation result_;
};

}  // namespace tenex
