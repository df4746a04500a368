// The least number of sends of a collective, from sizes alone, for plans and leases.
#pragma once

#include <cstdint>

#include "tenex/collective/collective.hpp"

namespace tenex {

/// Sends of one copying or reducing pass without relays: n-1 per chunk of a group of n. An All-Reduce has two passes.
[[nodiscard]] inline double sends_of_one_pass(const Collective& collective) {
  double sends = 0;
  for (std::size_t g = 0; g < collective.groups().size(); ++g)
    sends += static_cast<double>(collective.chunks_in(GroupId::at(g))) *
             (static_cast<double>(collective.groups()[g].members.size()) - 1);
  return sends;
}

}  // namespace tenex
