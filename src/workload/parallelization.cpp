// HP-(m,n) from and to text.
#include "tenex/workload/parallelization.hpp"

#include <fmt/core.h>

#include "tenex/base/decimal.hpp"
#include "workload/saturating.hpp"

namespace tenex {

namespace {

constexpr std::int64_t kMostDegree = std::int64_t{1} << 31;
constexpr std::string_view kRule = "it is \"m,n\" for TP-m times DP-n, then pipeline stages and expert degree if any";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

std::int64_t Parallelization::npus() const { return saturating_product(saturating_product(tensor, data), pipeline); }

std::string to_string(const Parallelization& degrees) {
  auto text = fmt::format("HP-({},{}", degrees.tensor, degrees.data);
  if (degrees.pipeline != 1 || degrees.expert != 1) text += fmt::format(",{}", degrees.pipeline);
  if (degrees.expert != 1) text += fmt::format(",{}", degrees.expert);
  return text + ")";
}

Result<Parallelization> parse_parallelization(std::string_view text, const Place& place) {
  const auto refuse = [&](std::string why) {
    return input_error(place, fmt::format("\"{}\" is no parallelization", text), std::move(why), "write \"16,256\"");
  };
  auto rest = trimmed(text);
  if (rest.starts_with("HP-(") && rest.ends_with(")")) rest = rest.substr(4, rest.size() - 5);
  Parallelization degrees;
  const std::array<std::int64_t*, 4> slots{&degrees.tensor, &degrees.data, &degrees.pipeline, &degrees.expert};
  std::size_t count = 0;
  for (bool more = true; more; ++count) {
    const auto comma = rest.find(',');
    more = comma != std::string_view::npos;
    const auto word = trimmed(rest.substr(0, comma));
    rest = more ? rest.substr(comma + 1) : std::string_view();
    if (count == slots.size()) return refuse(std::string(kRule));
    const auto degree = read_number<std::int64_t>(word);
    if (!degree) return refuse(std::string(kRule));
    *slots[count] = *degree;
    if (*degree < 1 || *degree > kMostDegree) return refuse("a degree is between 1 and 2^31");
  }
  if (count < 2) return refuse(std::string(kRule));
  return degrees;
}

}  // namespace tenex
