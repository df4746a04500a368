// The convex solver of the module: minimize the sum of maxima of hyperbolas, of maxima of two such sums, and a linear
// part, over a polytope.
//
//   minimize  sum over k of f_k(x)  +  sum over l of max(a_l + sum of its f_k(x), b_l + sum of its f_k(x))  +  c . x
//   where     f_k(x) = max over i of v_ki / x_i     subject to  A x <= b,  E x = e,  x > 0
//
// Written with t_k >= v_ki / x_i, that is t_k x_i - v_ki >= 0, whose logarithm is a self-concordant barrier, Newton's
// method follows the central path; the t_k are eliminated, so a step costs O(terms * n^2 + rows * n^2 + n^3).
// Multipliers l_ki >= 0 with sum over i of l_ki = 1 and y >= 0 read from the path prove, whatever the rounding on the
// way,
//
//   optimum >= sum over i of min (s_i / x_i + p_i x_i) - y.b - nu.e,   s_i = sum over k of l_ki v_ki,  p = A'y + E'nu +
//   c
//
// (a maximum of two sums is never below a mixture of them, whose parts multiply the l_ki and the constants), where each
// x_i alone runs over all values that any point of the polytope has (2 sqrt(s_i p_i) unless at an end). Boyd and
// Vandenberghe, "Convex Optimization", sections 5.1 and 11.3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tenex::codesign {

/// One side of a maximum of two sums: a constant and some terms.
struct SumSide {
  std::size_t terms = 0;
  double constant = 0;
};

/// Row-major dense data. The first n rows of `rows` bound each x_i from below and nothing else.
struct ConvexProblem {
  std::size_t n = 0;
  std::vector<double> volumes;     ///< terms x n: v_ki, weights multiplied in; every term has a positive one
  std::vector<SumSide> sides;      ///< two per maximum of sums; the last terms are theirs, in this order
  std::vector<double> linear;      ///< c; empty: zero
  std::vector<double> rows;        ///< A
  std::vector<double> bounds;      ///< b
  std::vector<double> equalities;  ///< E, of full rank below n
  std::vector<double> targets;     ///< e
  std::vector<double> most;        ///< no point of the polytope has a larger x_i; may be infinite
};

struct ConvexAnswer {
  std::vector<double> x;  ///< strictly inside all rows
  double value = 0;       ///< of the objective there
  double lower = 0;       ///< proven
  std::int64_t steps = 0;
};

/// Solves until value - lower <= gap * (value + constant), or until rounding ends all progress. `start` is strictly
/// inside all rows and meets the equalities. O(50 steps) in practice.
[[nodiscard]] ConvexAnswer solve_convex(const ConvexProblem& problem, std::span<const double> start, double gap,
                                        double constant);

/// A point strictly inside all rows that meets the equalities, near `guess`; empty where a few dozen steps find none
/// with a margin. `guess` is positive.
[[nodiscard]] std::vector<double> find_interior(const ConvexProblem& problem, std::span<const double> guess);

}  // namespace tenex::codesign
