// The table [search] of a study. Parsing only.
#pragma once

#include "tenex/design/search_choice.hpp"
#include "tenex/design/study.hpp"
#include "tenex/spec/document.hpp"

namespace tenex {

/// Reads [search]; every mistake goes to `errors`.
[[nodiscard]] SearchChoice read_search(const Node& node, const Vocabulary& vocabulary, Diagnostics& errors);

}  // namespace tenex
