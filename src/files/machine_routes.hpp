// The routes that a machine file states: its [[route]] and [[next_hops]] tables.
#pragma once

#include <cstdint>

#include "tenex/spec/table_reader.hpp"
#include "tenex/topology/given_routes.hpp"

namespace tenex {

/// Reads both kinds of tables. Errors are recorded in `machine`; whether vertices and links exist is for with_routes().
[[nodiscard]] GivenRoutes read_given_routes(TableReader& machine, std::int64_t npus);

}  // namespace tenex
