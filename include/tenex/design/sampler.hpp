// Samplers: choose the rows of a sweep whose grid is too large to be enumerated.
//
// A row is a choice of one position on every axis. Rows are drawn before the run starts, by counter-based random
// numbers, so every rank draws the same rows and a run resumes like any other. Drawn rows are distinct; a request for
// more rows than the grid has gives each row once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tenex {

enum class Sampler : std::uint8_t {
  grid,             ///< all rows
  random,           ///< uniform, without replacement
  latin_hypercube,  ///< every axis has as many strata as rows are drawn, with one row in each
  sobol,            ///< a shifted Sobol' sequence
};
/// The sampler with this name in studies.
[[nodiscard]] std::optional<Sampler> find_sampler(std::string_view name);
/// The names of all samplers.
[[nodiscard]] const std::vector<std::string_view>& sampler_names();

/// The largest grid from which rows are drawn.
inline constexpr std::uint64_t kMostGridRows = std::uint64_t{1} << 62;
/// The product of the axes' lengths; nullopt above kMostGridRows.
[[nodiscard]] std::optional<std::uint64_t> grid_rows(const std::vector<std::size_t>& lengths);

/// Draws min(rows, grid) rows, ascending; the last axis is the fastest digit of a row's number. Equal arguments give
/// equal rows. For `random` and `sobol`, fewer rows are a subset of more rows. Preconditions: `sampler` is not grid,
/// there are at most 40 axes, no length is zero or above 2^32, and the grid is at most kMostGridRows. Expected O(rows *
/// axes), times a logarithm if nearly all rows are drawn.
[[nodiscard]] std::vector<std::uint64_t> draw_rows(Sampler sampler, const std::vector<std::size_t>& lengths,
                                                   std::size_t rows, std::uint64_t seed);

}  // namespace tenex
