// An OpenMP region for tests, in a translation unit of its own: the precompiled GoogleTest header is built without
// OpenMP.
#pragma once

namespace tenex::testing {

/// Asks for a region of `threads` threads and returns how many it got.
[[nodiscard]] int open_region(int threads);

}  // namespace tenex::testing
