// The version of result files.
#include "tenex/store/result_schema.hpp"

#include "store/folder_layout.hpp"

namespace tenex {

std::int64_t result_schema() { return store::kResultSchema; }

}  // namespace tenex
