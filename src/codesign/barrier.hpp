// The convex solver of the module: minimize the sum of maxima of hyperbolas, of maxima of two such sums, and a linear
// part, over a polytope.
//
//   minimize  sum over k of f_k(x)  +  sum over l of max(a_l + sum of its f_k(x), b_l + sum of its f_k(x))  +  c . x
//   where     f_k(x) = max over i of v_ki / x_i     subject to  A x <= b,  E x = e,  x > 0
//
// With t_k >= v_ki / x_i written as t_k x_i - v_ki >= 0, whose logarithm is a self-concordant barrier, Newton's method
// follows the central path. The t_k are eliminated, so a step costs O(terms * n^2 + rows * n^2 + n^3). The path gives
// multipliers l_ki >= 0 with sum over i of l_ki = 1, y >= 0 and nu. They prove, whatever the rounding errors,
//
//   optimum >= sum over i of min (s_i / x_i + p_i x_i) - y.b - nu.e
//   with       s_i = sum over k of l_ki v_ki,  p = A'y + E'nu + c
//
// where each x_i alone runs over all values that any point of the polytope has (the minimum is 2 sqrt(s_i p_i) unless
// it is at an end). A maximum of two sums is never below a mixture of them, so the parts of the mixture multiply the
// l_ki and the constants. Boyd and Vandenberghe, "Convex Optimization", sections 5.1 and 11.3.
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

/// Row-major dense data. Each of the first n rows of `rows` only bounds one x_i from below.
struct ConvexProblem {
  std::size_t n = 0;
  std::vector<double> volumes;     ///< terms x n: v_ki, multiplied by the weights; every term has a positive one
  std::vector<SumSide> sides;      ///< two per maximum of sums; they own the last terms, in this order
  std::vector<double> linear;      ///< c; empty: zero
  std::vector<double> rows;        ///< A
  std::vector<double> bounds;      ///< b
  std::vector<double> equalities;  ///< E, of full rank below n
  std::vector<double> targets;     ///< e
  std::vector<double> most;        ///< upper bound of each x_i in the polytope; may be infinite
};

struct ConvexAnswer {
  std::vector<double> x;  ///< strictly inside all rows
  double value = 0;       ///< the objective at x
  double lower = 0;       ///< proven lower bound of the objective
  std::int64_t steps = 0;
};

/// Solves until value - lower <= gap * (value + constant), or until rounding prevents progress. `start` is strictly
/// inside all rows and meets the equalities. O(50 steps) in practice.
[[nodiscard]] ConvexAnswer solve_convex(const ConvexProblem& problem, std::span<const double> start, double gap,
                                        double constant);

/// A point near `guess` that is strictly inside all rows and meets the equalities; empty where a few dozen steps find
/// none with a margin. `guess` is positive.
[[nodiscard]] std::vector<double> find_interior(const ConvexProblem& problem, std::span<const double> guess);

}  // namespace tenex::codesign
