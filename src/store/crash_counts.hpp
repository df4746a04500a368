// Counts how often each point was at fault, from the crash lines of journals.
#pragma once

#include <vector>

#include "store/journal.hpp"
#include "tenex/design/study.hpp"
#include "tenex/store/crashes.hpp"

namespace tenex::store {

/// By point, ascending. Lines of points that the study does not have are ignored.
[[nodiscard]] std::vector<CrashRecord> count_crashes(const std::vector<CrashLine>& lines, const Study& study);

}  // namespace tenex::store
