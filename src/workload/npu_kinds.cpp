// The table of NPUs.
#include "tenex/workload/npu_kinds.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "tenex/base/units.hpp"
#include "tenex/base/words.hpp"

namespace tenex {
namespace {

constexpr Bytes gigabytes(std::int64_t n) { return bytes(n * 1'000'000'000); }
constexpr ComputeRate tenths_of_teraflops(std::int64_t n) { return flops_per_second(n * 100'000'000'000); }

constexpr std::array<NpuKind, 6> kKinds{{
    {"a100_40gb", gigabytes(40), teraflops(312), tenths_of_teraflops(2712)},
    {"a100_80gb", gigabytes(80), teraflops(312), tenths_of_teraflops(2712)},
    {"h100_80gb", gigabytes(80), teraflops(989), tenths_of_teraflops(7945)},
    {"gh200_141gb", gigabytes(141), teraflops(989), tenths_of_teraflops(8286)},
    {"mi300x", gigabytes(192), teraflops(1307), tenths_of_teraflops(6684)},
    {"mi325x", gigabytes(256), teraflops(1307), tenths_of_teraflops(7849)},
}};

}  // namespace

std::span<const NpuKind> npu_kinds() { return kKinds; }

std::string to_string(const NpuChoice& choice) {
  if (choice.kind != nullptr) return std::string(choice.kind->name);
  return choice.limits() ? to_string(choice.memory) : "none";
}

Result<NpuChoice> parse_npu_choice(std::string_view text, const Place& place) {
  if (text == "none") return NpuChoice{};
  const auto* const found = std::ranges::find(kKinds, text, &NpuKind::name);
  if (found != kKinds.end()) return NpuChoice{found, found->memory};
  if (const auto size = parse_bytes(text, place); size && size->count() > 0) return NpuChoice{nullptr, *size};
  std::vector<std::string_view> known{"none"};
  for (const auto& kind : kKinds) known.push_back(kind.name);
  auto error = unknown_word(text, "NPU", known, place);
  error.suggestion += error.suggestion.empty() ? "write its memory, for instance 80GB" : ", or its memory, as 80GB";
  return error;
}

}  // namespace tenex
