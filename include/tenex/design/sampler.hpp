// Samplers: which rows of a grid too large to be enumerated a sweep has.
//
// A row is a choice of one position on every axis. Rows are drawn before the run starts, by counter-based random
// numbers, so every rank draws the same and a run resumes like any other. Drawn rows are distinct, and whoever asks for
// more rows than the grid has gets each once.
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
  latin_hypercube,  ///< every axis in as many strata as rows are drawn, one row in each
  sobol,            ///< a shifted Sobol' sequence
};
/// By its name in studies.
[[nodiscard]] std::optional<Sampler> find_sampler(std::string_view name);
/// All names.
[[nodiscard]] const std::vector<std::string_view>& sampler_names();

/// The largest grid that rows are drawn from.
inline constexpr std::uint64_t kMostGridRows = std::uint64_t{1} << 62;
/// The product of the axes' lengths; nullopt above kMostGridRows.
[[nodiscard]] std::optional<std::uint64_t> grid_rows(const std::vector<std::size_t>& lengths);

/// Draws min(rows, grid) rows, ascending; the last axis is the fastest digit of a row's number. Equal arguments give
/// equal rows; of `random` and `sobol` fewer rows are a part of more. `sampler` is not grid, lengths are those of at
/// most 40 axes, none zero, of at most 2^32 values, the grid at most kMostGridRows. Expected O(rows * axes), times a
/// logarithm where nearly all rows are asked for.
[[nodiscard]] std::vector<std::uint64_t> draw_rows(Sampler sampler, const std::vector<std::size_t>& lengths,
                                                   std::size_t rows, std::uint64_t seed);

}  // namespace tenex
