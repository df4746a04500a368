// Internal to cli: why a row of a result is as it is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "result_view.hpp"
#include "tenex/evaluate/evaluation.hpp"

namespace tenex::cli {

/// Whether the row's setting has its default, which explains nothing.
[[nodiscard]] bool is_default(const ResultView& view, const ResultColumn& column, std::size_t row);

/// What a bound says, in a few words; empty for an unknown name.
[[nodiscard]] std::string_view meaning_of_bound(std::string_view name);

/// What keeps the row from being faster, in a sentence or two.
[[nodiscard]] std::string limit_of(const Evaluation& row);

/// The answers first: status, engine, time, bound and what limits the row. Then its settings and its other metrics.
[[nodiscard]] std::string explanation(const ResultView& view, std::size_t row, bool json);

}  // namespace tenex::cli
