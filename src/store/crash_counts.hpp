// From crash lines of journals to how often each point was at fault.
#pragma once

#include <vector>

#include "store/journal.hpp"
#include "tenex/design/study.hpp"
#include "tenex/store/crashes.hpp"

namespace tenex::store {

/// By point, ascending; lines of points that the study does not have do not count.
[[nodiscard]] std::vector<CrashRecord> count_crashes(const std::vector<CrashLine>& lines, const Study& study);

}  // namespace tenex::store
