// Recursive halving-doubling. Reduce-Scatter: in step s every NPU exchanges half of the chunks that it still sums with
// the NPU whose rank differs in bit s, nearest first, so that the largest messages go the shortest way. All-Gather is
// the reverse, doubling. An All-Reduce takes 2 log2 n messages per NPU and slice and moves (n-1)/n of the data each
// way, the least possible. The number of members must be a power of two; the algorithm halves exactly.
//
// Encoding: dimensionwise.hpp with a dimension of two per bit of the rank. Source: Thakur et al. 2005 after
// Rabenseifner (vector halving and distance doubling, then vector doubling and distance halving); RHD in TACOS, V-A.
#include <bit>

#include <fmt/format.h>

#include "algorithm/dimensionwise.hpp"
#include "algorithm/textbook.hpp"

namespace tenex {

Status fits_powers_of_two(std::string_view name, const Topology& /*topology*/, const Collective& collective) {
  for (const auto& group : collective.groups()) {
    const auto members = group.members.size();
    if (std::has_single_bit(members)) continue;
    return input_error(
        {}, fmt::format("algorithm \"{}\" for {} NPUs", name, members),
        "recursive halving-doubling is defined for powers of two",
        fmt::format("choose {} or {} NPUs, or another algorithm", std::bit_floor(members), std::bit_ceil(members)));
  }
  return success();
}

Result<std::shared_ptr<const Program>> make_rhd(const Topology& topology, const Collective& collective,
                                                const AlgorithmOptions& options) {
  if (auto fits = check_fits("rhd", topology, collective); !fits) return fits.errors();
  std::vector<GroupExchange> of_groups;
  for (const auto& group : collective.groups()) {
    GroupExchange of_group;
    of_group.dimensions.assign(static_cast<std::size_t>(std::countr_zero(group.members.size())), {2, Exchange::direct});
    of_group.orders = {in_order(of_group.dimensions.size())};
    of_groups.push_back(std::move(of_group));
  }
  return make_dimensionwise(collective, of_groups, options.order);
}

ProgramSizes sizes_of_rhd(const ProgramScale& scale) {
  const double messages = scale.passes * scale.slices * doubling_steps(scale.members);
  const double hops =
      scale.halving_hops ? scale.passes * scale.slices * *scale.halving_hops : messages * scale.pair_hops;
  return {messages, hops, messages, 0, scale.sends};
}

}  // namespace tenex
