// The values of an axis: an array, or a range { from, to, factor | step } that includes both ends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "design/setting_value.hpp"

namespace tenex {

/// The values of one key of an axis in order. A wrong element is null, so that the others keep their rows.
using AxisColumn = std::vector<SharedValue>;

/// Reads the axis of a key; messages call it `name` ("axes.size"). Every mistake goes to `errors`; the column is empty
/// if the axis as a whole cannot be read. O(values).
[[nodiscard]] AxisColumn read_axis(Key key, const std::string& name, const Node& node, ValueContext& context,
                                   Diagnostics& errors);

/// Whether a node is written as an axis: an array or a range table.
[[nodiscard]] inline bool is_axis(const Node& node) { return node.is(NodeKind::array) || node.is(NodeKind::table); }

}  // namespace tenex
