// Internal to measure: times of the programs that stand for a library's algorithms, by simulation.
#pragma once

#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex::measure {

/// The programs of an algorithm of a library ("ring", "tree", "direct") for a collective; empty: it has none.
[[nodiscard]] std::vector<std::string_view> programs_of(std::string_view algorithm, CollectiveKind kind);

/// A network on which programs are simulated.
class Network {
 public:
  /// Paths over cut-through switches become wires. Errors: those of wires_of(); (input) a disconnected topology.
  [[nodiscard]] static Result<Network> make(const Topology& topology);
  [[nodiscard]] std::size_t npus() const { return topology_.npus(); }
  /// The time of the fastest of programs_of() that runs here, without overhead, with so many chunks of each NPU; where
  /// S has fewer bytes, as many as it has bytes for. Errors: (resource) times out of range; no program runs here, with
  /// the reason of the last.
  [[nodiscard]] Result<SimTime> time(std::string_view algorithm, CollectiveKind kind, Bytes size,
                                     int most_chunks) const;

 private:
  explicit Network(Topology topology) : topology_(std::move(topology)) {}
  Topology topology_;
};

}  // namespace tenex::measure
