// The declarations of all families, and how their files add links.
#pragma once

#include <cstddef>

#include "tenex/base/ids.hpp"
#include "tenex/topology/family.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

extern const FamilyRule kDragonflyFamily;
extern const FamilyRule kFatTreeFamily;
extern const FamilyRule kLeafSpineFamily;
extern const FamilyRule kRailSpineFamily;
extern const FamilyRule kSlimFlyFamily;
extern const FamilyRule kTwistedTorusFamily;

/// Adds one directed link of a class.
inline void add_family_link(TopologyBuilder& builder, const LinkClass& link, std::size_t source, std::size_t target) {
  builder.add_link({VertexId::at(source), VertexId::at(target), link.alpha, link.bandwidth});
}

/// Adds a link each way of a class, the one from `first` first.
inline void add_family_pair(TopologyBuilder& builder, const LinkClass& link, std::size_t first, std::size_t second) {
  add_family_link(builder, link, first, second);
  add_family_link(builder, link, second, first);
}

}  // namespace tenex
