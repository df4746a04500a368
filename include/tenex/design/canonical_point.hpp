// From a canonical text back to its point.
#pragma once

#include <string>
#include <string_view>

#include "tenex/base/diagnostic.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/design/study.hpp"

namespace tenex {

/// The point of a canonical text of a collective, as make_point() makes it of the text's values. `machine`: the content
/// of the machine file whose digest the text has; empty where it has a shape. The text may name another physics; what
/// else it says must be what the point says. Errors (input): a line that this version does not know, or whose value
/// stands for a longer one (a digest of a list of conditions); other content of the machine file. O(length).
[[nodiscard]] Result<DesignPoint> point_of_canonical(std::string_view canonical, std::string_view machine,
                                                     const Vocabulary& vocabulary);

/// The number of the physics that a canonical text names; 0: none.
[[nodiscard]] std::int64_t physics_of_canonical(std::string_view canonical);

}  // namespace tenex
