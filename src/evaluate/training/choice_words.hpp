// Internal to evaluate: what the words of a training point stand for, read back from their canonical form.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/codesign/network_cost.hpp"
#include "tenex/topology/shape.hpp"
#include "tenex/workload/compute.hpp"
#include "tenex/workload/parallelization.hpp"

namespace tenex {

/// The collective time models, in the order of their words.
enum class TimingModel : std::uint8_t { libra, libra_derated, pipeline, themis, synthesized };
inline constexpr std::array<std::string_view, 5> kTimingModels{"libra", "libra_derated", "pipeline", "themis",
                                                               "synthesized"};
[[nodiscard]] Result<TimingModel> parse_timing_model(std::string_view text, const Place& place = {});
/// A formula of volumes over bandwidths.
[[nodiscard]] constexpr bool is_libra(TimingModel model) {
  return model == TimingModel::libra || model == TimingModel::libra_derated;
}

/// The canonical form of a training key's word; equal forms mean the same. Errors (input) at `place` plus the offset
/// of what is wrong. O(length).
[[nodiscard]] Result<std::string> canonical_training_word(std::string_view key, std::string_view text,
                                                          const Place& place);

/// One workload of the key `optimize_for`.
struct WeightedWorkload {
  std::string name;  ///< a path, or one that tenex brings along
  Parallelization degrees;
  double weight = 1;
};
/// Parses "gpt3 HP-(16,256); msft_1t HP-(128,32) x2". Errors (input): no name, no parallelization, a weight that is not
/// positive; all of them.
[[nodiscard]] Result<std::vector<WeightedWorkload>> parse_optimize_for(std::string_view text, const Place& place = {});

/// Parses "none" or "1,4" into flags by dimension, as many as the largest. Errors (input): no such list.
[[nodiscard]] Result<std::vector<bool>> parse_dimension_list(std::string_view text, const Place& place = {});

/// Parses "4:2:1:1". Errors (input): a share that is no positive whole number, shares beyond int64 together.
[[nodiscard]] Result<std::vector<std::int64_t>> parse_shares(std::string_view text, const Place& place = {});
/// `total` in these shares, each rounded down; what is left goes to the first dimensions, one by one. O(shares).
[[nodiscard]] std::vector<Bandwidth> share_out(Bandwidth total, const std::vector<std::int64_t>& shares);

/// Parses "auto" (nothing) or "chiplet, package, node, pod". Errors (input): those of parse_dimension_kind().
[[nodiscard]] Result<std::vector<DimensionKind>> parse_dimension_kinds(std::string_view text, const Place& place = {});

/// The parts of a list, spaces around them left out, with their offsets in characters.
struct WordPart {
  std::string_view text;
  std::uint32_t offset = 0;
};
[[nodiscard]] std::vector<WordPart> split_text(std::string_view text, char separator);
/// The place so many characters further on.
[[nodiscard]] Place shifted(const Place& place, std::uint32_t characters);

}  // namespace tenex
