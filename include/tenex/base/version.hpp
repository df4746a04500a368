// The version of this program, for `--version` and for the attributes of every file that it writes.
#pragma once

#include <string_view>

namespace tenex {

/// The project's version, "major.minor.patch".
[[nodiscard]] std::string_view version();
/// The full git revision that was configured, or "unknown" when built outside a git checkout.
[[nodiscard]] std::string_view git_revision();
/// Whether the checkout had uncommitted changes when it was configured.
[[nodiscard]] bool git_dirty();
/// The optional libraries that this build has, such as "COIN-OR Clp, COIN-OR Cbc, Z3"; empty: none.
[[nodiscard]] std::string_view optional_libraries();

}  // namespace tenex
