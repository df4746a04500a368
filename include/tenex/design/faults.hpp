// The notation of faults, the value of the key `faults`.
//
//   faults = "none" | item { ( ";" | "," ) item } [ ";" | "," ]
//   item   = "link" a "-" b | "link" a "->" b | "switch" s | element n | "each" element
//          | drawn amount [ "draw" d [ ".." d ] ]
//   element = "npu" | "nic" | "leaf" | "spine" | "plane"                        (tenex/topology/elements.hpp)
//             and, after "each", "link"
//   drawn  = "links" | "switch_links" | "npus"
//   amount = count | percent "%"
//
// A draw is a number from 1 on, 1 where none is written. A range of draws stands for several values, and so does
// "each": one for every such element of the network.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/topology/faults.hpp"

namespace tenex {

/// Faults with the place of each in the text.
struct ParsedFaults {
  NetworkFaults faults;       ///< sorted by kind and ids, each once, without those that take nothing
  std::vector<Place> places;  ///< one for each
  /// A value that stands for many: the element that fails besides `faults`, once each.
  std::optional<NetworkElement> each;
  Place each_place;
};

/// The values that `parsed` stands for where its element can fail in these ways. Expects: an element.
/// O(failures * items).
[[nodiscard]] std::vector<ParsedFaults> each_of(const ParsedFaults& parsed, const NetworkFaults& failures);

/// The values that a text stands for: one for each draw of its range, or one. Errors (input), all of them, at their
/// places: bad syntax, a share above 100% or of more than three decimals, a link from a vertex to itself, draws beyond
/// 1 to 2^32-1, a range that runs backwards, a second range or "each", more than a million draws. O(length + values *
/// items).
[[nodiscard]] Result<std::vector<ParsedFaults>> parse_fault_values(std::string_view text, const Place& place = {});

/// The faults of a text. Errors (input): those of parse_fault_values(), a range of draws, "each".
[[nodiscard]] Result<ParsedFaults> parse_faults(std::string_view text, const Place& place = {});

/// The canonical text: "none", or sorted items such as "links 0.5% draw 2; npu 17". parse_faults() reads it back.
[[nodiscard]] std::string to_string(const NetworkFaults& faults);
/// One of its items.
[[nodiscard]] std::string to_string(const NetworkFault& fault);

}  // namespace tenex
