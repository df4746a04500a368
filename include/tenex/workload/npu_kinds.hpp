// NPUs by name: their memory, peak rate, and the rate that their matrix products reach.
//
// Memory and peak (dense, 16-bit) are the vendors' data sheets'. The rate of matrix products is the largest that S.
// Bekman measured over many shapes with 16-bit values ("Machine Learning Engineering",
// github.com/stas00/ml-engineering, compute/accelerator, "Maximum achievable matmul FLOPS": 2024 and 2025).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/workload/compute.hpp"

namespace tenex {

struct NpuKind {
  std::string_view name;
  Bytes memory;
  ComputeRate peak;
  ComputeRate matrix_products;
};
/// All of them.
[[nodiscard]] std::span<const NpuKind> npu_kinds();

/// A limit on the memory of an NPU: an amount, or an NPU by name, which also has rates; or none.
struct NpuChoice {
  const NpuKind* kind = nullptr;  ///< of npu_kinds(); null: not named
  Bytes memory;                   ///< zero: no limit
  [[nodiscard]] bool limits() const { return memory.count() > 0; }
  bool operator==(const NpuChoice&) const = default;
};
/// "none", "a100_80gb", "80GB".
[[nodiscard]] std::string to_string(const NpuChoice& choice);
/// Parses these. Errors (input): neither a size nor a name, with the names.
[[nodiscard]] Result<NpuChoice> parse_npu_choice(std::string_view text, const Place& place = {});

}  // namespace tenex
