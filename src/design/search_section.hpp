// The table [search] of a study. Parsing only.
#pragma once

#include <vector>

#include "design/objective_check.hpp"
#include "tenex/design/search_choice.hpp"
#include "tenex/design/study.hpp"
#include "tenex/spec/document.hpp"

namespace tenex {

/// The content of [search], with places.
struct SearchText {
  SearchChoice choice;
  std::vector<AskedObjective> objectives;
  Place front;  ///< of the list of the front's objectives
};

/// Reads [search]; every mistake goes to `errors`.
[[nodiscard]] SearchText read_search(const Node& node, const Vocabulary& vocabulary, Diagnostics& errors);

}  // namespace tenex
