// The triple that synthesis, verification, bounds and simulation work on: one collective on one topology.
#pragma once

#include "tenex/collective/collective.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// A view: it names a topology and a collective that must outlive it. Cheap to copy.
struct Instance {
  const Topology& topology;
  const Collective& collective;
  Occupancy occupancy = Occupancy::serialization;
};

}  // namespace tenex
