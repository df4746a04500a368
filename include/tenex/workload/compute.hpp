// Computation: floating-point operations, and the rate at which an NPU performs them.
//
// Encoding: int64 counts in the project's strong quantity type, so that a compute time follows exactly from work and
// rate. One FLOP at 1 TFLOPS or more takes at most 1 ps: work derived from a whole number of picoseconds (rounded down)
// gives the same picoseconds back (rounded up).
#pragma once

#include <string>
#include <string_view>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"

namespace tenex {

/// An amount of computation in floating-point operations (a multiply-add is two).
using Flops = Quantity<struct FlopUnit>;
/// A speed of computation in floating-point operations per second.
using ComputeRate = Quantity<struct FlopRateUnit>;

constexpr Flops flops(std::int64_t n) { return Flops::of(n); }
constexpr ComputeRate flops_per_second(std::int64_t n) { return ComputeRate::of(n); }
/// Decimal TFLOPS (1e12 FLOP/s).
constexpr ComputeRate teraflops(std::int64_t n) { return ComputeRate::of(n * 1'000'000'000'000); }
/// Binary TiFLOPS (2^40 FLOP/s).
constexpr ComputeRate tebiflops(std::int64_t n) { return ComputeRate::of(n << 40); }

/// ceil(work * 1e12 / rate) ps in 128-bit arithmetic; saturates at SimTime::max(). `rate` must be positive. O(1).
[[nodiscard]] SimTime compute_time(Flops work, ComputeRate rate);
/// floor(time * rate / 1e12), saturating. compute_time() of this work is `time` again wherever rate >= 1 TFLOPS.
[[nodiscard]] Flops work_of(SimTime time, ComputeRate rate);

/// Parses a positive rate: a whole or decimal number and FLOPS, KFLOPS .. EFLOPS (powers of 1000) or KiFLOPS .. EiFLOPS
/// (powers of 1024), for instance "234TFLOPS". Errors: input, at `place`.
[[nodiscard]] Result<ComputeRate> parse_compute_rate(std::string_view text, const Place& place = {});
/// The shortest exact text: "234TFLOPS", "60TiFLOPS".
[[nodiscard]] std::string to_string(ComputeRate rate);

}  // namespace tenex
