// Parsers of the keys that only training points read.
#pragma once

#include "design/settings/entry.hpp"

namespace tenex::entry {

/// A workload or a cost model: a built-in one, or a file.
[[nodiscard]] Result<SettingValue> parse_named_file(const Setting&, std::string_view, const Node&, ValueContext&);
/// "gpt3 HP-(16,256); msft_1t HP-(128,32) x2": workloads with their parallelizations and weights. Errors (input), all
/// of them: no name, no parallelization, a weight that is not positive, files that cannot be read.
[[nodiscard]] Result<SettingValue> parse_workload_set(const Setting&, std::string_view, const Node&, ValueContext&);
/// A text, or an array of texts, with constraints separated by ";".
[[nodiscard]] Result<SettingValue> parse_constraints(const Setting&, std::string_view, const Node&, ValueContext&);
/// A bandwidth.
[[nodiscard]] Result<SettingValue> parse_total(const Setting&, std::string_view, const Node&, ValueContext&);
/// "none" or "" (nothing), or "15MUSD".
[[nodiscard]] Result<SettingValue> parse_budget(const Setting&, std::string_view, const Node&, ValueContext&);
/// "16,256" or "HP-(16,256)".
[[nodiscard]] Result<SettingValue> parse_degrees(const Setting&, std::string_view, const Node&, ValueContext&);

// Parsers of texts for parse_with(). Errors: input, at `place` plus the offset of the error.
/// "shipped" (nothing) or "234TFLOPS".
[[nodiscard]] Result<std::optional<ComputeRate>> read_compute(std::string_view text, const Place& place);
/// "given" (nothing) or a scheme.
[[nodiscard]] Result<BandwidthScheme> read_scheme(std::string_view text, const Place& place);
/// "auto" (nothing), "libra" or "libra_derated".
[[nodiscard]] Result<std::optional<TimingModel>> read_optimized_model(std::string_view text, const Place& place);
/// "none" or "1,4" as flags by dimension, up to the largest one named.
[[nodiscard]] Result<std::vector<bool>> read_dimensions(std::string_view text, const Place& place);
/// "4:2:1:1" without a common factor; "" gives an empty list.
[[nodiscard]] Result<std::vector<std::int64_t>> read_shares(std::string_view text, const Place& place);
/// "auto" (nothing) or "chiplet, package, node, pod": names of kinds of the cost model, which is not looked at.
[[nodiscard]] Result<std::vector<std::string>> read_dimension_kinds(std::string_view text, const Place& place);

}  // namespace tenex::entry
