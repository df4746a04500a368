// Text with units to quantities and back: "0.5us", "1GiB", "50GB/s" (1e9), "50GiB/s" (2^30), "$1,722".
//
// Decimal text is read exactly (no floating point): "0.1us" is 100,000 ps. A value that is not a whole number of the
// base unit, a bare number, a sign or an unknown unit is an error.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"

namespace tenex {

/// Parses a non-negative time: ps, ns, us (or a micro sign and s), ms or s. Errors: input, at `place`.
[[nodiscard]] Result<SimTime> parse_time(std::string_view text, const Place& place = {});
/// Parses a non-negative size: B, KB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024).
[[nodiscard]] Result<Bytes> parse_bytes(std::string_view text, const Place& place = {});
/// Parses a positive bandwidth: a size unit followed by "/s", or bits as data sheets have them: "400Gb/s", "400Gbps"
/// and "400Gbit/s" are 50GB/s.
[[nodiscard]] Result<Bandwidth> parse_bandwidth(std::string_view text, const Place& place = {});
/// "400Gb/s is read as 50GB/s (8 bits are a byte)" for a bandwidth in bits; empty for any other text.
[[nodiscard]] std::string note_on_bits(std::string_view text);

/// Parses an amount of money, exact to a millionth of a dollar: "$1,722", "1722USD", "1.5MUSD" (K, M, G: powers of
/// 1000). Errors: input, at `place`.
[[nodiscard]] Result<Money> parse_money(std::string_view text, const Place& place = {});

/// A quantity of any kind; its unit decides the kind.
using AnyQuantity = std::variant<SimTime, Bytes, Bandwidth, Money>;
/// Parses any of the four. The unit tells which one it is.
[[nodiscard]] Result<AnyQuantity> parse_quantity(std::string_view text, const Place& place = {});

/// The shortest exact text that parses back to the same value: "500ns", "1GiB", "50GB/s".
[[nodiscard]] std::string to_string(SimTime time);
[[nodiscard]] std::string to_string(Bytes size);
[[nodiscard]] std::string to_string(Bandwidth bandwidth);
/// "$1,722", "$0.5": exact, thousands separated.
[[nodiscard]] std::string to_string(Money amount);

/// Rounded text for people, three significant digits: "39.6us", "1.07GB", "46.9GB/s".
[[nodiscard]] std::string to_rounded(SimTime time);
[[nodiscard]] std::string to_rounded_bytes(double size);
[[nodiscard]] std::string to_rounded_rate(double bytes_per_second);

}  // namespace tenex
