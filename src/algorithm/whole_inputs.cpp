// All-Reduce by sums of whole inputs, for small sizes: every NPU sends sums of S bytes, and nobody gathers afterwards.
//
// one_shot: every NPU sends its own input straight to all n - 1 others, and each adds up what it receives. One hop of
// alpha, (n - 1) S bytes into and out of every NPU, where reducing and gathering takes two hops and 2 (n - 1) / n S. On
// FC(n): alpha + beta*S, against 2 (alpha + beta*S/n) of `direct`. Communication libraries have such kernels for small
// messages (RCCL's and mscclpp's one-shot All-Reduce).
//
// one_shot_per_dimension: one-shot in each dimension of a shape in turn, of the sums so far. k dimensions take k hops,
// and (n_1 - 1 + .. + n_k - 1) S bytes.
//
// recursive_doubling: in step s an NPU exchanges its sum with the NPU whose rank differs in bit s. log2 n hops, S bytes
// each. For other n the digits are the prime factors of n, the smallest first: in a step with factor p an NPU sends its
// sum to the p - 1 others whose rank differs in that digit. So 12 NPUs take steps of 2, 2 and 3, and a prime number of
// NPUs takes one shot.
//
// one_shot_across: two shots within boxes, one between them. Parts are reduced up the dimensions but the last; there
// every NPU sends its part to all others at once; then parts are gathered down. 2k - 1 hops for k dimensions, one fewer
// than `hierarchical` with direct exchanges, and (n_k - 1) S / (n_1 .. n_(k-1)) bytes over the last dimension: for few
// boxes. (One shot within boxes and two between take as many hops, and n_1 .. n_(k-1) times the bytes between boxes.)
//
// Encoding: dimensionwise.hpp with Contents::inputs or inputs_across. The c chunks of an NPU are c slices; a message
// carries all n chunks of a slice. Source: Thakur et al., "Optimization of collective communication operations in
// MPICH", 2005 (recursive doubling); Ruefenacht, Bull and Booth, "Generalisation of recursive doubling for AllReduce",
// 2017 (factors).
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "algorithm/dimensionwise.hpp"
#include "algorithm/textbook.hpp"

namespace tenex {
namespace {

/// Ascending.
std::vector<std::uint32_t> prime_factors(std::uint32_t number) {
  std::vector<std::uint32_t> factors;
  for (std::uint32_t p = 2; p <= number / p; ++p)
    for (; number % p == 0; number /= p) factors.push_back(p);
  if (number > 1) factors.push_back(number);
  return factors;
}

/// A program in which every group of n NPUs exchanges along the digits that digits_of(group) gives it.
template <class Digits>
ProgramResult sum_inputs(const Collective& collective, const AlgorithmOptions& options, Digits&& digits_of,
                         Contents contents = Contents::inputs) {
  std::vector<GroupExchange> of_groups;
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    auto& of_group = of_groups.emplace_back();
    for (const std::uint32_t size : digits_of(g)) of_group.dimensions.push_back({size, Exchange::direct});
    of_group.orders = {in_order(of_group.dimensions.size())};
  }
  return make_dimensionwise(collective, of_groups, options.order, 0, contents);
}

std::vector<std::uint32_t> sizes_of_grid(const Grid& grid) {
  std::vector<std::uint32_t> sizes;
  for (const auto& dimension : grid) sizes.push_back(dimension.size);
  return sizes;
}

std::uint32_t members_of(const Collective& collective, std::size_t group) {
  return static_cast<std::uint32_t>(collective.groups()[group].members.size());
}

}  // namespace

ProgramResult make_one_shot(const Topology& topology, const Collective& collective, const AlgorithmOptions& options) {
  if (auto fits = check_fits("one_shot", topology, collective); !fits) return fits.errors();
  return sum_inputs(collective, options, [&](std::size_t group) { return std::vector{members_of(collective, group)}; });
}

ProgramResult make_one_shot_per_dimension(const Topology& topology, const Collective& collective,
                                          const AlgorithmOptions& options) {
  if (auto fits = check_fits("one_shot_per_dimension", topology, collective); !fits) return fits.errors();
  const auto grids = grids_of("one_shot_per_dimension", topology, collective);
  if (!grids) return grids.errors();
  return sum_inputs(collective, options, [&](std::size_t group) { return sizes_of_grid((*grids)[group]); });
}

ProgramResult make_one_shot_across(const Topology& topology, const Collective& collective,
                                   const AlgorithmOptions& options) {
  if (auto fits = check_fits("one_shot_across", topology, collective); !fits) return fits.errors();
  const auto grids = grids_of("one_shot_across", topology, collective);
  if (!grids) return grids.errors();
  return sum_inputs(
      collective, options, [&](std::size_t group) { return sizes_of_grid((*grids)[group]); }, Contents::inputs_across);
}

ProgramResult make_recursive_doubling(const Topology& topology, const Collective& collective,
                                      const AlgorithmOptions& options) {
  if (auto fits = check_fits("recursive_doubling", topology, collective); !fits) return fits.errors();
  return sum_inputs(collective, options,
                    [&](std::size_t group) { return prime_factors(members_of(collective, group)); });
}

namespace {

/// `carried`: chunks in lists of all chunks of a slice, and contributors. A hop carries n chunks.
ProgramSizes of_whole_inputs(const ProgramScale& scale, double messages, double hops, double carried) {
  return {messages, hops, carried, hops * scale.members, messages * scale.members};
}

}  // namespace

ProgramSizes sizes_of_one_shot_across(const ProgramScale& scale) {
  const double between = scale.last_dimension - 1;
  const double messages = scale.slices * (2 * (scale.dimension_steps - between) + between);
  // A slice's n chunks are divided among the NPUs of a box, which keep n_k each; these go to all other boxes.
  const double moves = scale.slices * (2 * (scale.members - scale.last_dimension) + between * scale.last_dimension);
  return {messages, messages * scale.step_hops, scale.dimensions * scale.slices * (scale.members + 1), moves, moves};
}

ProgramSizes sizes_of_one_shot(const ProgramScale& scale) {
  const double messages = scale.sends / scale.passes;
  return of_whole_inputs(scale, messages, messages * scale.pair_hops, messages + 2 * scale.slices);
}

ProgramSizes sizes_of_one_shot_per_dimension(const ProgramScale& scale) {
  const double messages = scale.slices * scale.dimension_steps;
  return of_whole_inputs(scale, messages, messages * scale.step_hops,
                         scale.dimensions * scale.slices * (scale.members + 1));
}

ProgramSizes sizes_of_recursive_doubling(const ProgramScale& scale) {
  double steps = 0;
  const auto factors = prime_factors(static_cast<std::uint32_t>(scale.members));
  for (const std::uint32_t factor : factors) steps += factor - 1;
  const double messages = scale.slices * steps;
  const bool doubles = !factors.empty() && factors.back() == 2;
  const double hops = doubles && scale.halving_hops ? scale.slices * *scale.halving_hops : messages * scale.pair_hops;
  // Blocks of ranks that have one sum: n of one, n/2 of two, ..., each with a list of all chunks.
  return of_whole_inputs(scale, messages, hops,
                         2 * scale.slices * scale.members + scale.slices * static_cast<double>(factors.size()));
}

}  // namespace tenex
