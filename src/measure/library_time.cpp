#include "measure/library_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/units.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/time_range.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex::measure {
namespace {

Result<SimTime> time_of(const Algorithm& algorithm, const Topology& topology, const Collective& collective) {
  if (auto fits = check_fits(algorithm, topology, collective); !fits) return fits.errors();
  const auto program = algorithm.make(topology, collective, {});
  if (!program) return program.errors();
  const auto run = simulate(topology, collective, **program, {});
  if (!run) return run.errors();
  return run->finish;
}

}  // namespace

std::vector<std::string_view> programs_of(std::string_view algorithm, CollectiveKind kind) {
  std::vector<std::string_view> programs;
  if (algorithm == "ring") programs = {"ring_unidirectional", "rings", "chain"};
  if (algorithm == "tree") programs = {"dbt"};
  if (algorithm == "direct") programs = {"direct"};
  std::erase_if(programs, [&](std::string_view name) { return !find_algorithm(name)->makes(kind); });
  return programs;
}

Result<Network> Network::make(const Topology& topology) {
  if (find_disconnected_pair(topology))
    return input_error({}, "the machine is disconnected", "every NPU must reach every other");
  auto wires = wires_of(topology);
  if (!wires) return wires.errors();
  return Network(*std::move(wires));
}

Result<SimTime> Network::time(std::string_view algorithm, CollectiveKind kind, Bytes size, int most_chunks) const {
  const auto n = static_cast<std::int64_t>(npus());
  const auto owners = owned_by_root(kind) ? 1 : n;
  const auto whole = std::max(size, bytes(owners));
  const auto chunks = std::clamp<std::int64_t>(whole.count() / owners, 1, most_chunks);
  const auto collective = Collective::make({kind, npus(), {}, chunks, whole, 0});
  if (!collective) return collective.errors();
  // Every chunk to every NPU twice, one after the other over two links each, is more than any of the programs takes.
  const auto chunk = bytes(ceil_div(whole.count(), owners * chunks));
  const double hops = 4 * static_cast<double>(n) * static_cast<double>(owners * chunks);
  if (!fits_time_range(slowest_hop(topology_, {chunk}), hops))
    return resource_error(fmt::format("{} of {} may take longer than is computed", to_string(kind), to_string(whole)),
                          "times have 26 days");
  std::optional<SimTime> least;
  Diagnostics unable;
  for (const auto name : programs_of(algorithm, kind)) {
    const auto time = time_of(*find_algorithm(name), topology_, *collective);
    if (time && (!least || *time < *least)) least = *time;
    if (!time) unable = time.errors();
  }
  if (least) return *least;
  if (!unable.empty()) return unable;
  return unsupported_error({}, fmt::format("{} by {}", to_string(kind), algorithm), "no program here stands for it");
}

}  // namespace tenex::measure
