// Topologies of wires for tests: shapes whose switches cut through.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/topologies.hpp"
#include "tenex/base/random.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex::support {

/// The wires of a shape whose switches cut through.
inline Topology wired(std::string_view text, std::vector<SimTime> alpha = {kAlpha},
                      std::vector<Bandwidth> bandwidth = {kBandwidth}) {
  const SwitchProperties cut_through{.forwarding = Forwarding::cut_through};
  return wires_of(shape(text, std::move(alpha), std::move(bandwidth)).with_switches(cut_through)).value();
}

/// A product of one to three RI, FC and SW blocks, at least one of them SW, with at least 8 NPUs allowed.
struct RandomProduct {
  std::string text;
  std::vector<SimTime> alpha;
  std::vector<Bandwidth> bandwidth;
  std::uint32_t npus = 1;
};

inline RandomProduct random_switched_product(Random& random, std::uint32_t most_npus) {
  constexpr std::array<std::string_view, 3> names = {"SW", "RI", "FC"};
  RandomProduct product;
  const auto add = [&](std::string_view name, std::uint32_t size) {
    product.text += (product.text.empty() ? "" : "_") + std::string(name) + "(" + std::to_string(size) + ")";
    product.alpha.push_back(nanoseconds(random.below(4) == 0 ? 0 : random.below(700)));
    product.bandwidth.push_back(gigabytes_per_second(random.below(3) == 0 ? 50 : 20 + random.below(180)));
    product.npus *= size;
  };
  const std::uint32_t blocks = 1 + random.below(3);
  const std::uint32_t switched = random.below(blocks);  // at least this one
  for (std::uint32_t i = 0; i < blocks; ++i) {
    const std::uint32_t room = most_npus / product.npus;
    const std::uint32_t left = 1U << (blocks - 1 - i);  // NPUs for the blocks that follow, of two each
    add(i == switched ? "SW" : names[random.below(3)], 2 + random.below(room / left - 1));
  }
  return product;
}

}  // namespace tenex::support
