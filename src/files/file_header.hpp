// The first two keys of every file that tenex reads in TOML: `schema` and `kind`.
#pragma once

#include <cstdint>
#include <string_view>

#include "tenex/spec/table_reader.hpp"

namespace tenex {

/// Records in `reader` the errors in the header of a file of `kind` ("cost_model"; messages say "cost model").
void check_file_header(TableReader& reader, std::string_view kind, std::int64_t schema = 1);

}  // namespace tenex
