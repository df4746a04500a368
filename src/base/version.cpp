// The build writes these facts on the command line of this one file, so a new commit recompiles nothing else.
#include "tenex/base/version.hpp"

namespace tenex {

std::string_view version() { return TENEX_VERSION; }

std::string_view git_revision() {
  constexpr std::string_view kRevision = TENEX_GIT_REVISION;
  return kRevision.empty() ? std::string_view("unknown") : kRevision;
}

std::string_view optional_libraries() { return TENEX_OPTIONAL_LIBRARIES; }

bool git_dirty() { return TENEX_GIT_DIRTY != 0; }

}  // namespace tenex
