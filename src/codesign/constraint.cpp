// Converts constraints from text to sums of symbols, and those to rows of integers.
#include "tenex/codesign/constraint.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "codesign/linear_form.hpp"
#include "tenex/base/decimal.hpp"
#include "tenex/base/words.hpp"
#include "tenex/spec/expression.hpp"

namespace tenex {
namespace {

using codesign::LinearForm;
using Kind = LinearForm::Kind;

constexpr std::array<std::string_view, 2> kWords{"total", "cost"};
constexpr WideInt kWideGiga = 1'000'000'000;

std::string_view describe(Kind kind) {
  return kind == Kind::number ? "a plain number" : kind == Kind::bandwidth ? "a bandwidth" : "an amount of money";
}

Diagnostic too_long(const std::string& text, const Place& place) {
  return input_error(place, fmt::format("the numbers of \"{}\" are too long", text), "a coefficient has 58 bits");
}

Diagnostic says_nothing(const std::string& text, const Place& place) {
  return input_error(place, fmt::format("\"{}\" says nothing about a bandwidth", text),
                     "no B1, B2, ... with a coefficient other than 0 is left");
}

std::string network_words(std::size_t dimensions) {
  return dimensions == 1 ? "B1" : fmt::format("B1 to B{}", dimensions);
}

Diagnostic no_dimension(std::string_view name, const Place& place, std::string why) {
  return input_error(place, fmt::format("dimension \"{}\" does not exist", name), std::move(why));
}

/// Converts the tree of an expression to sums of symbols. Recursion is limited by the parser of expressions.
// NOLINTBEGIN(misc-no-recursion)
class SumReader {
 public:
  explicit SumReader(Constraint& constraint) : constraint_(constraint) {}

  /// Adds the comparisons of a chain to the constraint.
  Status read(const Expression& chain) {
    if (chain.kind != Expression::Kind::comparison)
      return input_error(chain.place, fmt::format("\"{}\" joins conditions", chain.text),
                         "a constraint is one comparison or a chain of them", "write several constraints");
    auto left = form_of(chain.operands.front());
    if (!left) return left.errors();
    for (std::size_t i = 0; i < chain.comparators.size(); ++i) {
      const auto sign = sign_of(chain.comparators[i], chain.operators[i]);
      if (!sign) return sign.errors();
      const auto& operand = chain.operands[i + 1];
      auto right = form_of(operand);
      if (!right) return right.errors();
      if (left->kind != right->kind) return mixed_kinds(*left, *right, operand.place);
      const auto& first = chain.operands[i];
      auto added = add(*sign == ">=" ? *right : *left, *sign == ">=" ? *left : *right,
                       *sign == "=" ? Relation::equal : Relation::at_most,
                       fmt::format("{} {} {}", first.text, *sign, operand.text), first.place);
      if (!added) return added;
      left = std::move(right);
    }
    return success();
  }

 private:
  static Result<std::string_view> sign_of(Comparator comparator, const Place& place) {
    switch (comparator) {
      case Comparator::equal:
        return std::string_view("=");
      case Comparator::less_equal:
        return std::string_view("<=");
      case Comparator::greater_equal:
        return std::string_view(">=");
      case Comparator::not_equal:
        return input_error(place, "unknown operator \"!=\"", "a constraint compares with =, <= or >=");
      case Comparator::less:
      case Comparator::greater:
        break;
    }
    const std::string_view written = comparator == Comparator::less ? "<" : ">";
    return input_error(place, fmt::format("\"{}\" excludes its limit", written),
                       "a best split may lie on the limit itself", fmt::format("write \"{}=\"", written));
  }

  static Diagnostic mixed_kinds(const LinearForm& left, const LinearForm& right, const Place& place) {
    return input_error(
        place, fmt::format("{} meets {}", describe(left.kind), describe(right.kind)),
        "both sides of a sum or comparison are of one kind",
        right.kind == Kind::number || left.kind == Kind::number ? "a quantity has a unit: write 25GB/s" : "");
  }

  /// Adds `less <= more` (or `=`).
  Status add(const LinearForm& less, const LinearForm& more, Relation relation, std::string text, const Place& place) {
    LinearForm difference = less;
    difference.add(more, -1);
    if (difference.overflow) return too_long(text, place);
    if (std::ranges::all_of(difference.coefficients, [](WideInt each) { return each == 0; }))
      return says_nothing(text, place);
    // The denominator is positive, so it can be dropped.
    BandwidthComparison row;
    std::copy_n(difference.coefficients.begin(), kMostOptimizedDimensions, row.dimensions.begin());
    row.total = difference.coefficients[codesign::kTotal];
    row.cost = difference.coefficients[codesign::kCost];
    row.constant = difference.constant;
    row.relation = relation;
    row.text = std::move(text);
    row.place = place;
    constraint_.comparisons.push_back(std::move(row));
    return success();
  }

  Result<LinearForm> form_of(const Expression& node) {
    switch (node.kind) {
      case Expression::Kind::literal:
        return literal(node);
      case Expression::Kind::word:
        return word(node);
      case Expression::Kind::negative: {
        auto inner = form_of(node.operands.front());
        if (inner) inner->scale(-1, 1);
        return inner;
      }
      default:
        return arithmetic(node);
    }
  }

  Result<LinearForm> arithmetic(const Expression& node) {
    auto left = form_of(node.operands[0]);
    if (!left) return left;
    auto right = form_of(node.operands[1]);
    if (!right) return right;
    if (node.kind != Expression::Kind::product) {
      if (left->kind != right->kind) return mixed_kinds(*left, *right, node.operands[1].place);
      left->add(*right, node.kind == Expression::Kind::sum ? 1 : -1);
      return left;
    }
    if (left->kind != Kind::number && right->kind != Kind::number)
      return input_error(node.operators.front(), "a product of two quantities",
                         "constraints are linear: one factor is a plain number",
                         fmt::format("limit {0} and {1} each, or their ratio: \"{0} <= 2*{1}\"", node.operands[0].text,
                                     node.operands[1].text));
    if (left->kind != Kind::number) std::swap(*left, *right);
    right->scale(left->constant, left->denominator);
    right->overflow = right->overflow || left->overflow;
    return right;
  }

  static Result<LinearForm> literal(const Expression& node) {
    if (const auto* bandwidth = std::get_if<Bandwidth>(&node.value))
      return LinearForm::value(Kind::bandwidth, bandwidth->count());
    if (const auto* money = std::get_if<Money>(&node.value)) return LinearForm::value(Kind::money, money->count());
    if (std::holds_alternative<double>(node.value) || std::holds_alternative<std::int64_t>(node.value)) {
      if (const auto exact = read_decimal(node.text))
        return LinearForm::value(Kind::number, exact->numerator, exact->denominator);
      return input_error(node.place, fmt::format("the number \"{}\" is too long", node.text),
                         "its digits fit in 63 bits");
    }
    return input_error(node.place, fmt::format("\"{}\" is {}", node.text, describe_kind(node.value)),
                       "a bandwidth, B1, B2, ..., total, cost or a number belongs here");
  }

  Result<LinearForm> word(const Expression& node) {
    const std::string& name = node.text;
    if (name == "total") return LinearForm::symbol(codesign::kTotal);
    if (name == "cost") {
      constraint_.mentions.push_back({0, node.place});
      return LinearForm::symbol(codesign::kCost);
    }
    const auto number = std::string_view(name).substr(1);
    const bool spelled = (name.front() == 'B' || name.front() == 'b') && !number.empty() &&
                         number.find_first_not_of("0123456789") == std::string_view::npos;
    if (!spelled) return unknown(node, did_you_mean(name, kWords));
    if (name.front() == 'b') return unknown(node, fmt::format("write \"B{}\"", number));
    std::size_t dimension = 0;
    const auto error = std::from_chars(number.data(), number.data() + number.size(), dimension).ec;
    if (error != std::errc() || dimension < 1 || dimension > kMostOptimizedDimensions)
      return no_dimension(
          name, node.place,
          fmt::format("networks that are optimized have at most {}", network_words(kMostOptimizedDimensions)));
    constraint_.mentions.push_back({dimension, node.place});
    return LinearForm::symbol(dimension - 1);
  }

  static Diagnostic unknown(const Expression& node, std::string suggestion) {
    return input_error(node.place, fmt::format("unknown word \"{}\"", node.text),
                       "a constraint knows B1, B2, ..., total and cost", std::move(suggestion));
  }

  Constraint& constraint_;
};
// NOLINTEND(misc-no-recursion)

/// The coefficient of each B and the constant of a comparison in a network; nullopt where a number exceeds 127 bits.
std::optional<std::pair<std::vector<WideInt>, WideInt>> substitute(const BandwidthComparison& comparison,
                                                                   std::size_t dimensions, const CostRates* rates) {
  std::vector<WideInt> coefficients(dimensions, comparison.total);
  for (std::size_t i = 0; i < std::min(dimensions, kMostOptimizedDimensions); ++i)
    if (__builtin_add_overflow(coefficients[i], comparison.dimensions[i], &coefficients[i])) return std::nullopt;
  WideInt constant = comparison.constant;
  if (comparison.cost != 0) {  // an amount of money: prices are per 1e9 B/s
    for (std::size_t i = 0; i < dimensions; ++i) {
      const WideInt price = rates->per_gigabyte_per_second[i].count();
      if (__builtin_mul_overflow(comparison.cost, price, &coefficients[i])) return std::nullopt;
    }
    if (__builtin_mul_overflow(constant, kWideGiga, &constant)) return std::nullopt;
  }
  return std::pair(std::move(coefficients), constant);
}

/// The row of a comparison, with common divisors removed.
Result<LinearConstraint> row_of(const BandwidthComparison& comparison, std::size_t dimensions, const CostRates* rates) {
  const auto sums = substitute(comparison, dimensions, rates);
  if (!sums) return too_long(comparison.text, comparison.place);
  const auto& [coefficients, constant] = *sums;
  WideInt common = 0;
  for (const auto coefficient : coefficients) common = common_divisor(coefficient, common);
  if (common == 0) return says_nothing(comparison.text, comparison.place);
  // Bandwidths are whole, so an upper bound is rounded down.
  LinearConstraint row{{}, comparison.relation, -constant, comparison.text, comparison.place};
  if (row.relation == Relation::at_most || row.bound % common == 0) {
    const WideInt quotient = row.bound / common;
    row.bound = quotient * common > row.bound ? quotient - 1 : quotient;
  } else {
    common = common_divisor(common, row.bound);
    row.bound /= common;
  }
  for (const auto coefficient : coefficients) {
    const WideInt reduced = coefficient / common;
    if (magnitude(reduced) > kLargestCoefficient) return too_long(comparison.text, comparison.place);
    row.coefficients.push_back(static_cast<std::int64_t>(reduced));
  }
  return row;
}

}  // namespace

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool is_symbol(std::string_view text) {
  if (text == "total" || text == "cost") return true;
  return text.size() > 1 && text.front() == 'B' && text.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

/// "max(B1, B2) <= X" as one constraint for each: "B1 <= X; B2 <= X"; the other way round, at least one of them would
/// have to reach it, which is no set of constraints. Empty for other texts.
std::string linear_instead_of_most(std::string_view text) {
  const bool most = text.starts_with("max(");
  const auto close = text.find(')');
  if ((!most && !text.starts_with("min(")) || close == std::string_view::npos) return {};
  const auto rest = trimmed(text.substr(close + 1));
  const auto above = rest.starts_with(">");
  if (rest.size() < 2 || (!above && !rest.starts_with("<"))) return {};
  if (most == above)
    return fmt::format("a constraint is linear: \"one of them\" is none, so say which: \"{} {}\"",
                       trimmed(text.substr(4, text.find_first_of(",)") - 4)), rest);
  std::string each;
  for (auto names = text.substr(4, close - 4); !names.empty();) {
    const auto name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    if (!is_symbol(trimmed(name))) return {};
    each += fmt::format("{}{} {}", each.empty() ? "" : "; ", trimmed(name), rest);
  }
  return fmt::format("a constraint is linear: write one for each: \"{}\"", each);
}

/// The nearest linear form of a comparison of a quotient of symbols with a number ("B1 / B2 <= 5": "B1 <= 5*B2"), of a
/// product, a power, a maximum or a minimum of symbols, in words; empty for other texts.
std::string linear_instead(std::string_view text) {
  if (auto each = linear_instead_of_most(text); !each.empty()) return each;
  const auto sign = text.find_first_of("<>=");
  const auto power = text.find('^');
  if (power < sign && is_symbol(trimmed(text.substr(0, power))))
    return fmt::format("a constraint is linear: limit {} itself, by the root of the number",
                       trimmed(text.substr(0, power)));
  const auto joint = text.find_first_of("*/");
  if (sign == std::string_view::npos || joint >= sign) return {};
  const auto first = trimmed(text.substr(0, joint));
  const auto second = trimmed(text.substr(joint + 1, sign - joint - 1));
  if (!is_symbol(first) || !is_symbol(second)) return {};
  const auto length = text.find_first_not_of("<>=", sign) - sign;
  const auto number = trimmed(text.substr(std::min(sign + length, text.size())));
  if (text[joint] == '*')
    return fmt::format("a constraint is linear: limit {0} and {1} each, or their ratio: \"{0} <= 2*{1}\"", first,
                       second);
  if (!read_decimal(number)) return {};
  return fmt::format("a constraint is linear: write \"{} {} {}*{}\"", first, text.substr(sign, length), number, second);
}

/// "B1 == B2" as "B1 = B2", so that a point has one canonical text.
std::string with_plain_equals(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != '=' || text.substr(i, 2) != "==") plain += text[i];
  return plain;
}

}  // namespace

Result<Constraint> parse_constraint(std::string_view text, const Place& place) {
  const auto chain = parse_expression(text, place);
  if (!chain) {
    auto errors = chain.errors();
    if (auto instead = linear_instead(trimmed(text)); !instead.empty()) errors.front().suggestion = std::move(instead);
    return errors;
  }
  Constraint constraint{with_plain_equals(text), place, {}, {}};
  const auto read = SumReader(constraint).read(*chain);
  if (!read) return read.errors();
  return constraint;
}

Result<std::vector<LinearConstraint>> rows_of(const Constraint& constraint, std::size_t dimensions,
                                              const CostRates* rates) {
  for (const auto& [dimension, place] : constraint.mentions) {
    if (dimension == 0 && rates == nullptr)
      return input_error(place, "\"cost\" without a cost model", "the price of bandwidth is unknown",
                         "name a cost model");
    if (dimension > dimensions)
      return no_dimension(fmt::format("B{}", dimension), place,
                          fmt::format("the network has {}", network_words(dimensions)));
  }
  std::vector<LinearConstraint> rows;
  for (const auto& comparison : constraint.comparisons) {
    auto row = row_of(comparison, dimensions, rates);
    if (!row) return row.errors();
    rows.push_back(*std::move(row));
  }
  return rows;
}

bool LinearConstraint::holds(std::span<const Bandwidth> bandwidth) const {
  WideInt sum = 0;
  for (std::size_t i = 0; i < coefficients.size(); ++i)
    sum += static_cast<WideInt>(coefficients[i]) * bandwidth[i].count();
  return relation == Relation::equal ? sum == bound : sum <= bound;
}

LinearConstraint total_bandwidth_is(std::size_t dimensions, Bandwidth total) {
  return {std::vector<std::int64_t>(dimensions, 1),
          Relation::equal,
          total.count(),
          fmt::format("total = {}", to_string(total)),
          {}};
}

LinearConstraint bandwidth_at_most(std::size_t dimensions, const BandwidthLimit& limit) {
  LinearConstraint row{std::vector<std::int64_t>(dimensions, 0),
                       Relation::at_most,
                       limit.most.count(),
                       fmt::format("B{} <= {} of the kind {}", limit.dimension + 1, to_string(limit.most), limit.kind),
                       {}};
  row.coefficients[limit.dimension] = 1;
  return row;
}

LinearConstraint cost_at_most(const CostRates& rates, Money budget) {
  LinearConstraint row{{},
                       Relation::at_most,
                       static_cast<WideInt>(budget.count()) * kWideGiga,
                       fmt::format("cost <= {}", to_string(budget)),
                       {}};
  for (const auto rate : rates.per_gigabyte_per_second) row.coefficients.push_back(rate.count());
  return row;
}

}  // namespace tenex
