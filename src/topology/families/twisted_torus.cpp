// twisted_torus(a,b,c,k): a torus of a x b x c NPUs whose wrap-around links of the dimensions of a and b end k
// positions further along the dimension of c.
//
// NPU (x,y,z) is x + a (y + b z), as on torus(a,b,c). Its links lead to (x+1,y,z), where x + 1 < a, else to (0,y,z+k),
// likewise along y, to (x,y,z+1), and back; z counts modulo c. A translation by (1,0,0), carried over in the same way,
// maps links to links: it is the Cayley graph of Z^3 modulo the lattice of (a,0,-k), (0,b,-k) and (0,0,c) (Camara,
// Moreto, Vallejo, Beivide, Miguel-Alonso, Martinez and Navaridas, Twisted Torus Topologies for Enhanced
// Interconnection Networks, IEEE TPDS 21(12), 2010). twisted_torus(4,4,8,4) is the twisted slice of 128 TPU v4 (Jouppi
// et al., ISCA 2023, section 2.8), in which all distances are shorter than on torus(4,4,8).
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "topology/families/family.hpp"

namespace tenex {

namespace {

constexpr std::uint64_t kMostSummed = std::uint64_t{1} << 22;  // ways that twisted_torus_hops() looks at

std::optional<ArgumentFault> twisted_torus_fault(FamilyArguments arguments) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (arguments[i] < 2) return ArgumentFault{i, "a dimension whose links wrap around has at least two NPUs", {}};
    if (arguments[i] > arguments[2])
      return ArgumentFault{i, "the last dimension, along which the links are shifted, is the longest",
                           fmt::format("write it last: {}", arguments[i])};
  }
  if (arguments[2] < 3)
    return ArgumentFault{2, "the longest dimension has at least three NPUs", "write for instance 8"};
  if (arguments[3] >= arguments[2])
    return ArgumentFault{3, fmt::format("a shift along {} NPUs is less than {}", arguments[2], arguments[2]),
                         fmt::format("write for instance {}", arguments[2] / 2)};
  return std::nullopt;
}

/// Both links of an NPU in a dimension, to the next position first.
void add_twisted_torus_links(FamilyArguments arguments, std::span<const LinkClass> links, TopologyBuilder& builder) {
  const std::size_t a = arguments[0];
  const std::size_t b = arguments[1];
  const std::size_t c = arguments[2];
  const std::size_t k = arguments[3];
  const auto npu_at = [&](std::size_t x, std::size_t y, std::size_t z) { return x + a * (y + b * (z % c)); };
  const auto add_level = [&](const LinkClass& link, const auto& next, const auto& previous) {
    for (std::size_t npu = 0; npu < a * b * c; ++npu) {
      const std::size_t x = npu % a;
      const std::size_t y = npu / a % b;
      const std::size_t z = npu / a / b;
      add_family_link(builder, link, npu, next(x, y, z));
      add_family_link(builder, link, npu, previous(x, y, z));
    }
  };
  add_level(
      links[0],
      [&](std::size_t x, std::size_t y, std::size_t z) {
        return x + 1 < a ? npu_at(x + 1, y, z) : npu_at(0, y, z + k);
      },
      [&](std::size_t x, std::size_t y, std::size_t z) {
        return x > 0 ? npu_at(x - 1, y, z) : npu_at(a - 1, y, z + (c - k));
      });
  add_level(
      links[1],
      [&](std::size_t x, std::size_t y, std::size_t z) {
        return y + 1 < b ? npu_at(x, y + 1, z) : npu_at(x, 0, z + k);
      },
      [&](std::size_t x, std::size_t y, std::size_t z) {
        return y > 0 ? npu_at(x, y - 1, z) : npu_at(x, b - 1, z + (c - k));
      });
  add_level(
      links[2], [&](std::size_t x, std::size_t y, std::size_t z) { return npu_at(x, y, z + 1); },
      [&](std::size_t x, std::size_t y, std::size_t z) { return npu_at(x, y, z + (c - 1)); });
}

/// The most turns around dimension 1 or 2 on a shortest way: what they shift, dimension 3 alone does in c / 2 hops.
std::int64_t most_turns(FamilyArguments arguments) {
  return 1 + arguments[2] / (2 * std::min(arguments[0], arguments[1]));
}

/// The hops to the NPU at an offset: over i turns of x and j of y, which lead i k and j k along z.
std::int64_t hops_to(FamilyArguments arguments, std::int64_t x, std::int64_t y, std::int64_t z) {
  const std::int64_t a = arguments[0];
  const std::int64_t b = arguments[1];
  const std::int64_t c = arguments[2];
  const std::int64_t k = arguments[3];
  std::int64_t least = a + b + c;
  const std::int64_t turns = most_turns(arguments);
  for (std::int64_t i = -turns; i <= turns; ++i)
    for (std::int64_t j = -turns; j <= turns; ++j) {
      const std::int64_t along = ((z + (i + j) * k) % c + c) % c;  // i turns back along x lead back along z
      least = std::min(least, std::abs(x - i * a) + std::abs(y - j * b) + std::min(along, c - along));
    }
  return least;
}

/// Exact means of small members; of large ones those of the plain torus.
FamilyHops twisted_torus_hops(FamilyArguments arguments) {
  const std::uint64_t npus = std::uint64_t{arguments[0]} * arguments[1] * arguments[2];
  const double a = arguments[0];
  const double b = arguments[1];
  double pair = (a + b + arguments[2]) / 4;
  const auto ways = static_cast<std::uint64_t>(2 * most_turns(arguments) + 1);
  if (npus <= kMostSummed / (ways * ways)) {
    std::int64_t sum = 0;
    for (std::uint32_t z = 0; z < arguments[2]; ++z)
      for (std::uint32_t y = 0; y < arguments[1]; ++y)
        for (std::uint32_t x = 0; x < arguments[0]; ++x) sum += hops_to(arguments, x, y, z);
    pair = static_cast<double>(sum) / static_cast<double>(npus);
  }
  const auto next_row = static_cast<double>(hops_to(arguments, 1 - std::int64_t{arguments[0]}, 1, 0));
  return {pair, 1 - 1 / a + next_row / a};
}

constexpr std::string_view kTwistedTorusLevels[] = {"dimension 1", "dimension 2", "dimension 3"};

}  // namespace

constinit const FamilyRule kTwistedTorusFamily{
    .name = "twisted_torus",
    .usage = "twisted_torus(a,b,c,k)",
    .description = "torus(a,b,c) whose wraps of dimensions 1 and 2 end k further along dimension 3, the longest",
    .arguments = 4,
    .fault = twisted_torus_fault,
    .npus = [](FamilyArguments a) { return std::uint64_t{a[0]} * a[1] * a[2]; },
    .levels =
        [](FamilyArguments a) {
          const FamilyLevel both_ways{2 * std::uint64_t{a[0]} * a[1] * a[2], 2};
          return std::vector<FamilyLevel>{both_ways, both_ways, both_ways};
        },
    .level_names = kTwistedTorusLevels,
    .add_links = add_twisted_torus_links,
    .hops = twisted_torus_hops,
    .representatives = [](FamilyArguments) { return std::vector<std::uint32_t>{0}; },
    .rings =
        [](FamilyArguments a) {
          return std::vector<FamilyRing>{{a[0], a[3]}, {a[1], a[3]}, {a[2], 0}};
        },
};

}  // namespace tenex
