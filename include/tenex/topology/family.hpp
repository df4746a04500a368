// Families of shapes that are no Cartesian product: fat_tree(16), slim_fly(5). Each builds its links itself.
//
// A new family is one file in src/topology/families/ that defines a FamilyRule, and an entry of the table there. Other
// code asks the rule and never which family it is. Routes and distances of a family are searched for. Its links stand
// in levels, each with an alpha and a bandwidth of its own: lists of a study have one value per level, as they have one
// per dimension of a product.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/topology/shape.hpp"

namespace tenex {

class TopologyBuilder;
struct LinkClass;

/// The numbers in the parentheses of a family; at least 1 and at most 2^31 each.
using FamilyArguments = std::span<const std::uint32_t>;

/// A number for which the family has no member.
struct ArgumentFault {
  std::size_t argument = 0;  ///< position in the parentheses, from 0
  std::string why;
  std::string suggestion;
};

/// A level of links of a family.
struct FamilyLevel {
  std::uint64_t links = 0;             ///< directed
  std::uint32_t bandwidth_shares = 1;  ///< the number of links over which `npu_bandwidth` is divided
};

/// Hops of a family's routes, for estimates.
struct FamilyHops {
  double pair = 1;       ///< mean between two NPUs drawn at random, which may be the same
  double neighbour = 1;  ///< mean between NPUs with consecutive ids
};

/// The equal next links of a route: first, first + 2, ..., since every link stands beside the one back.
struct EqualLinks {
  std::size_t first = 0;
  std::uint32_t count = 1;
  std::uint64_t divisor = 1;  ///< of the number that chooses (routes.hpp): the choices of the levels below
};

/// A ring of a family that is a twisted product of rings.
struct FamilyRing {
  std::uint32_t size = 1;
  std::uint32_t carry = 0;  ///< positions along the last ring that going once around this one adds; 0 for the last
};

/// All that other code asks of a family. Every function is O(1) in the size of the topology except add_links() and
/// representatives(). They are called only with arguments that fault() accepts.
struct FamilyRule {
  std::string_view name;         ///< as written before the parenthesis
  std::string_view usage;        ///< for messages: "dragonfly(a,g)"
  std::string_view description;  ///< for lists
  std::string_view also = {};    ///< what others call it, separated by blanks; messages point from there to the family
  std::size_t arguments = 1;     ///< numbers in the parentheses
  /// No larger argument gives a topology of at most 2^31 NPUs.
  std::uint32_t largest_argument = std::uint32_t{1} << 31;
  /// The first argument for which the family has no member; null where it has one for all.
  std::optional<ArgumentFault> (*fault)(FamilyArguments) = nullptr;
  std::uint64_t (*npus)(FamilyArguments);
  /// Number of switches. Null: none.
  std::uint64_t (*switches)(FamilyArguments) = nullptr;
  /// For each link of an NPU into a switch, the NPUs at the edge of the switches that are joined there: unwinding lets
  /// the NPU send to the others of them. Null where there are no switches.
  std::vector<std::uint64_t> (*domains)(FamilyArguments) = nullptr;
  /// The levels of links, in the order in which add_links() adds them.
  std::vector<FamilyLevel> (*levels)(FamilyArguments);
  /// What each of them joins, for lists: "NPU-leaf", "leaf-spine".
  std::span<const std::string_view> level_names;
  /// Adds the switches and then the links, level by level; `links` has the class of each level.
  void (*add_links)(FamilyArguments, std::span<const LinkClass> links, TopologyBuilder& builder);
  FamilyHops (*hops)(FamilyArguments);
  /// The next links at vertex `at` on routes with the fewest links to an NPU, which is another vertex. The links must
  /// come in pairs, one each way. Null: routes are searched for.
  EqualLinks (*next_links)(FamilyArguments, std::size_t at, std::size_t destination) = nullptr;
  /// The most equal routes between two NPUs, for estimates. Null: not known.
  std::uint64_t (*most_routes)(FamilyArguments) = nullptr;
  /// NPUs such that every NPU is the image of one of them under a symmetry of the topology that keeps the levels.
  std::vector<std::uint32_t> (*representatives)(FamilyArguments);
  /// The rings, one for each level, if the family is a twisted product of rings: a translation group (translation.hpp)
  /// whose NPU ids count the first ring fastest. An NPU has two links in each level, to the next and to the previous
  /// position, and a level's links stand NPU by NPU. Null for other families.
  std::vector<FamilyRing> (*rings)(FamilyArguments) = nullptr;
};

/// All families, one line each.
[[nodiscard]] std::span<const FamilyRule* const> family_rules();

}  // namespace tenex
