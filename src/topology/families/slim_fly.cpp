// slim_fly(q): the McKay-Miller-Siran graphs that Besta and Hoefler propose (Slim Fly, SC 2014, section II-B), with one
// NPU per router. 2 q^2 NPUs of degree (3q-d)/2 and diameter 2; q = 4w + d is a prime power and d is -1, 0 or 1.
//
// With the field GF(q) and a primitive element z, NPU x q + y is the router (0,x,y) and NPU q^2 + m q + c is (1,m,c).
// (0,x,y) and (0,x,y') are joined where y - y' is in X, (1,m,c) and (1,m,c') where c - c' is in X', and (0,x,y) and
// (1,m,c) where y = m x + c. For d = 1 and d = 0, X has the even powers of z and X' the odd ones; for d = -1 both take
// the opposites of their first half as their second half. Level 1 has the links within the groups of q NPUs with equal
// x or m, level 2 those between groups. (0,x,y) to (0,x+a,y) with (1,m,c) to (1,m,c-ma) is a symmetry, so are its
// mirror image and the addition of a constant to all y and c: NPUs 0 and q^2 represent all.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "topology/families/family.hpp"

namespace tenex {

namespace {

/// The prime and the exponent of a prime power; nullopt for other numbers.
std::optional<std::pair<std::uint32_t, std::uint32_t>> prime_power(std::uint32_t q) {
  if (q < 2) return std::nullopt;
  std::uint32_t prime = 2;
  while (prime * prime <= q && q % prime != 0) ++prime;
  if (q % prime != 0) return std::pair(q, 1U);
  std::uint32_t exponent = 0;
  for (; q % prime == 0; q /= prime) ++exponent;
  return q == 1 ? std::optional(std::pair(prime, exponent)) : std::nullopt;
}

/// Arithmetic of GF(q). The digits of an element in base p are the coefficients of a polynomial, and the root of a
/// primitive polynomial generates all elements but 0. O(q) memory.
class GaloisField {
 public:
  explicit GaloisField(std::uint32_t q) : q_(q), log_(q) {
    p_ = prime_power(q)->first;
    // One in phi(q-1)/e of the q polynomials is primitive; each other one is left as soon as its root returns to 1.
    for (std::uint32_t low = 1; !generates(low);) ++low;
    for (std::uint32_t i = 0; i < q - 1; ++i) log_[power_[i]] = i;
  }

  /// z to the power of `exponent`, of any size.
  [[nodiscard]] std::uint32_t power(std::uint64_t exponent) const { return power_[exponent % (q_ - 1)]; }
  [[nodiscard]] std::uint32_t product(std::uint32_t a, std::uint32_t b) const {
    return a == 0 || b == 0 ? 0 : power(std::uint64_t{log_[a]} + log_[b]);
  }
  [[nodiscard]] std::uint32_t sum(std::uint32_t a, std::uint32_t b) const {
    if (p_ == q_) return (a + b) % p_;
    std::uint32_t total = 0;
    for (std::uint32_t place = 1; place < q_; place *= p_) total += (a / place + b / place) % p_ * place;
    return total;
  }
  [[nodiscard]] std::uint32_t negative(std::uint32_t a) const {
    std::uint32_t total = 0;
    for (std::uint32_t place = 1; place < q_; place *= p_) total += (p_ - a / place % p_) % p_ * place;
    return total;
  }

 private:
  /// Whether the root of z^e + (the polynomial `low`) has all q - 1 powers; keeps them if so.
  bool generates(std::uint32_t low) {
    const std::uint32_t back = negative(low);  // z^e
    power_.assign(1, 1);
    while (power_.size() < q_) {
      const std::uint32_t last = power_.back();
      const std::uint32_t top = last / (q_ / p_);
      std::uint32_t next = last % (q_ / p_) * p_;
      for (std::uint32_t i = 0; i < top; ++i) next = sum(next, back);
      if (next <= 1) return next == 1 && power_.size() == q_ - 1;
      power_.push_back(next);
    }
    return false;
  }

  std::uint32_t q_;
  std::uint32_t p_ = 2;
  std::vector<std::uint32_t> power_;
  std::vector<std::uint32_t> log_;
};

int remainder_of(std::uint32_t q) { return q % 4 == 3 ? -1 : static_cast<int>(q % 4); }

/// The differences X (`odd` = 0) or X' (`odd` = 1), sorted.
std::vector<std::uint32_t> differences(const GaloisField& field, std::uint32_t q, std::uint32_t odd) {
  std::vector<std::uint32_t> found;
  if (remainder_of(q) >= 0) {
    for (std::uint32_t i = 0; i < q / 2; ++i) found.push_back(field.power(2 * i + odd));
  } else {
    for (std::uint32_t i = 0; i < (q + 1) / 4; ++i) {
      found.push_back(field.power(2 * i + odd));
      found.push_back(field.negative(found.back()));
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool is_member(std::uint32_t q) { return prime_power(q) && q != 2; }

std::optional<ArgumentFault> slim_fly_fault(FamilyArguments arguments) {
  const std::uint32_t q = arguments[0];
  if (is_member(q)) return std::nullopt;
  std::uint32_t below = q;
  while (below > 3 && !is_member(below)) --below;
  std::uint32_t above = std::max(q, 3U);
  while (!is_member(above)) ++above;
  return ArgumentFault{0, fmt::format("{} is no prime power of the form 4w - 1, 4w or 4w + 1", q),
                       below < q ? fmt::format("use slim_fly({}) or slim_fly({})", below, above)
                                 : fmt::format("use slim_fly({})", above)};
}

void add_slim_fly_links(FamilyArguments arguments, std::span<const LinkClass> links, TopologyBuilder& builder) {
  const std::uint32_t q = arguments[0];
  const GaloisField field(q);
  const std::size_t half = std::size_t{q} * q;
  for (const std::uint32_t side : {0U, 1U}) {
    const auto steps = differences(field, q, side);
    for (std::size_t npu = side * half; npu < (side + 1) * half; ++npu) {
      const auto at = static_cast<std::uint32_t>(npu % q);
      for (const std::uint32_t step : steps) add_family_link(builder, links[0], npu, npu - at + field.sum(at, step));
    }
  }
  for (std::uint32_t x = 0; x < q; ++x)
    for (std::uint32_t y = 0; y < q; ++y)
      for (std::uint32_t m = 0; m < q; ++m) {
        const std::uint32_t c = field.sum(y, field.negative(field.product(m, x)));
        add_family_link(builder, links[1], std::size_t{x} * q + y, half + std::size_t{m} * q + c);
      }
  for (std::uint32_t m = 0; m < q; ++m)
    for (std::uint32_t c = 0; c < q; ++c)
      for (std::uint32_t x = 0; x < q; ++x)
        add_family_link(builder, links[1], half + std::size_t{m} * q + c,
                        std::size_t{x} * q + field.sum(field.product(m, x), c));
}

std::vector<FamilyLevel> slim_fly_levels(FamilyArguments arguments) {
  const std::uint32_t q = arguments[0];
  const auto within = static_cast<std::uint32_t>((static_cast<std::int64_t>(q) - remainder_of(q)) / 2);
  const std::uint64_t npus = 2 * std::uint64_t{q} * q;
  return {{npus * within, within}, {npus * q, q}};
}

/// One hop to (3q-d)/2 NPUs, two to all others.
FamilyHops slim_fly_hops(FamilyArguments arguments) {
  const double q = arguments[0];
  const double n = 2 * q * q;
  const double degree = (3 * q - remainder_of(arguments[0])) / 2;
  const double pair = (2 * (n - 1) - degree) / n;
  return {pair, pair};
}

constexpr std::string_view kSlimFlyLevels[] = {"within a group", "between groups"};

}  // namespace

constinit const FamilyRule kSlimFlyFamily{
    .name = "slim_fly",
    .usage = "slim_fly(q)",
    .description = "2 q^2 NPUs of degree about 3q/2 and diameter 2, q a prime power",
    .arguments = 1,
    .largest_argument = 32768,  // 2 * 32768^2 = 2^31
    .fault = slim_fly_fault,
    .npus = [](FamilyArguments a) { return 2 * std::uint64_t{a[0]} * a[0]; },
    .levels = slim_fly_levels,
    .level_names = kSlimFlyLevels,
    .add_links = add_slim_fly_links,
    .hops = slim_fly_hops,
    .representatives =
        [](FamilyArguments a) {
          return std::vector<std::uint32_t>{0, a[0] * a[0]};
        },
};

}  // namespace tenex
