// Direction numbers by the recurrence of their primitive polynomials; points by Gray code.
#include "tenex/design/sobol.hpp"

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/random.hpp"

namespace tenex {

namespace {

/// A row of new-joe-kuo-6: the polynomial x^degree + (bits of `inner`, x^(degree-1) first) + 1, and the first numbers.
struct Polynomial {
  unsigned degree;
  std::uint32_t inner;
  std::array<std::uint32_t, 8> first;
};

/// Dimensions 2 to 40.
constexpr std::array<Polynomial, Sobol::kMostDimensions - 1> kPolynomials{{
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
    {7, 7, {1, 1, 3, 13, 7, 35, 63}},
    {7, 8, {1, 3, 5, 9, 1, 25, 53}},
    {7, 14, {1, 3, 1, 13, 9, 35, 107}},
    {7, 19, {1, 3, 1, 5, 27, 61, 31}},
    {7, 21, {1, 1, 5, 11, 19, 41, 61}},
    {7, 28, {1, 3, 5, 3, 3, 13, 69}},
    {7, 31, {1, 1, 7, 13, 1, 19, 1}},
    {7, 32, {1, 3, 7, 5, 13, 19, 59}},
    {7, 37, {1, 1, 3, 9, 25, 29, 41}},
    {7, 41, {1, 3, 5, 13, 23, 1, 55}},
    {7, 42, {1, 3, 7, 3, 13, 59, 17}},
    {7, 50, {1, 3, 1, 3, 5, 53, 69}},
    {7, 55, {1, 1, 5, 5, 23, 33, 13}},
    {7, 56, {1, 1, 7, 7, 1, 61, 123}},
    {7, 59, {1, 1, 7, 9, 13, 61, 49}},
    {7, 62, {1, 3, 3, 5, 3, 55, 33}},
    {8, 14, {1, 3, 1, 15, 31, 13, 49, 245}},
    {8, 21, {1, 3, 5, 15, 31, 59, 63, 97}},
    {8, 22, {1, 3, 1, 11, 11, 11, 77, 249}},
}};

using Directions = std::array<std::uint32_t, Sobol::kBits>;

Directions directions_of(std::size_t dimension) {
  Directions directions{};
  if (dimension == 0) {
    for (unsigned bit = 0; bit < Sobol::kBits; ++bit) directions[bit] = 1U << (31U - bit);
    return directions;
  }
  const Polynomial& polynomial = kPolynomials[dimension - 1];
  const unsigned degree = polynomial.degree;
  for (unsigned bit = 0; bit < Sobol::kBits; ++bit) {
    if (bit < degree) {
      directions[bit] = polynomial.first[bit] << (31U - bit);
      continue;
    }
    std::uint32_t next = directions[bit - degree] ^ (directions[bit - degree] >> degree);
    for (unsigned k = 1; k < degree; ++k) {
      if ((polynomial.inner >> (degree - 1 - k) & 1U) != 0) next ^= directions[bit - k];
    }
    directions[bit] = next;
  }
  return directions;
}

}  // namespace

Sobol::Sobol(std::size_t dimensions, std::uint64_t seed, bool shifted) {
  ensure(dimensions <= kMostDimensions, "more axes than there are direction numbers");
  constexpr std::uint64_t stream = 0x536f626f6cULL;  // "Sobol"
  Random random(seed, stream);
  for (std::size_t d = 0; d < dimensions; ++d) {
    directions_.push_back(directions_of(d));
    shift_.push_back(shifted ? random() : 0);
  }
}

std::uint32_t Sobol::at(std::uint32_t index, std::size_t dimension) const {
  std::uint32_t value = shift_[dimension];
  std::uint32_t gray = index ^ (index >> 1U);
  for (unsigned bit = 0; gray != 0; ++bit, gray >>= 1U) {
    if ((gray & 1U) != 0) value ^= directions_[dimension][bit];
  }
  return value;
}

}  // namespace tenex
