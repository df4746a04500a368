// The table of families: a new family is one file and its lines here and in family.hpp.
#include <array>

#include "topology/families/family.hpp"

namespace tenex {

namespace {

constexpr std::array kFamilies{
    &kDragonflyFamily,     // dragonfly(a,g)
    &kFatTreeFamily,       // fat_tree(k)
    &kLeafSpineFamily,     // leaf_spine(n,l,s)
    &kRailSpineFamily,     // rail_spine(g,n,s)
    &kSlimFlyFamily,       // slim_fly(q)
    &kTwistedTorusFamily,  // twisted_torus(a,b,c,k)
};

}  // namespace

std::span<const FamilyRule* const> family_rules() { return kFamilies; }

}  // namespace tenex
