// Evaluation of expressions: exact integer arithmetic on typed values, and errors that name both kinds.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/core.h>

#include "tenex/base/words.hpp"
#include "tenex/spec/expression.hpp"

namespace tenex {

namespace {

using Kind = Expression::Kind;

// The index of each kind in ExpressionValue.
enum ValueKind : std::size_t { kWhole, kDecimal, kTime, kSize, kRate, kMoney, kText };

bool is_number(const ExpressionValue& value) { return value.index() == kWhole || value.index() == kDecimal; }
bool is_text(const ExpressionValue& value) { return value.index() == kText; }
bool comparable(const ExpressionValue& a, const ExpressionValue& b) {
  return a.index() == b.index() || (is_number(a) && is_number(b));
}

/// The count of a whole number or a quantity.
std::int64_t count_of(const ExpressionValue& value) {
  return std::visit(
      [](const auto& held) -> std::int64_t {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::int64_t>) {
          return held;
        } else if constexpr (std::is_same_v<Held, double> || std::is_same_v<Held, std::string>) {
          ensure(false, "count_of needs a whole number or a quantity");
          return 0;
        } else {
          return held.count();
        }
      },
      value);
}

/// A value of the same kind as `like`, which is a whole number or a quantity.
ExpressionValue with_count(const ExpressionValue& like, std::int64_t count) {
  switch (like.index()) {
    case kTime:
      return SimTime::of(count);
    case kSize:
      return Bytes::of(count);
    case kRate:
      return Bandwidth::of(count);
    case kMoney:
      return Money::of(count);
    default:
      return count;
  }
}

double number_of(const ExpressionValue& value) {
  return value.index() == kDecimal ? std::get<double>(value) : static_cast<double>(std::get<std::int64_t>(value));
}

Diagnostic too_large(const Expression& node) {
  return input_error(node.place, fmt::format("\"{}\" is too large", node.text), "results have at most 63 bits");
}

Diagnostic unknown_name(const Expression& word, const std::vector<std::string_view>& names) {
  return input_error(word.place, fmt::format("unknown name \"{}\"", word.text), {}, did_you_mean(word.text, names));
}

/// A word may be a text only alone after the last `=` or `!=`: everything before a comparator is a name, and texts have
/// no order.
bool may_be_text(const Expression& comparison, std::size_t operand) {
  const Comparator last = comparison.comparators.back();
  return operand + 1 == comparison.operands.size() && (last == Comparator::equal || last == Comparator::not_equal);
}

void check(const Expression& node, bool text_allowed, const std::vector<std::string_view>& names,  // NOLINT: recursion
           Diagnostics& errors) {
  if (node.kind == Kind::word) {
    if (!text_allowed && std::find(names.begin(), names.end(), node.text) == names.end()) {
      errors.push_back(unknown_name(node, names));
    }
    return;
  }
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    check(node.operands[i], node.kind == Kind::comparison && may_be_text(node, i), names, errors);
  }
}

// Evaluation recurses as deep as the parser allowed.
// NOLINTBEGIN(misc-no-recursion)
class Evaluator {
 public:
  explicit Evaluator(const Lookup& lookup) : lookup_(lookup) {}

  Result<ExpressionValue> value(const Expression& node, bool text_allowed) const {
    switch (node.kind) {
      case Kind::literal:
        return node.value;
      case Kind::word:
        if (auto known = lookup_.value(node.text)) return *std::move(known);
        if (text_allowed) return ExpressionValue(node.text);
        return unknown_name(node, lookup_.names);
      case Kind::negative:
      case Kind::sum:
      case Kind::difference:
      case Kind::product:
        return arithmetic(node);
      default:
        return input_error(node.place, fmt::format("\"{}\" is a condition", node.text), "a value belongs here");
    }
  }

  Result<bool> condition(const Expression& node) const {
    if (node.kind == Kind::comparison) return comparison(node);
    if (node.kind != Kind::negation && node.kind != Kind::conjunction && node.kind != Kind::disjunction) {
      return input_error(node.place, fmt::format("\"{}\" is not a condition", node.text),
                         "a condition compares two things");
    }
    Diagnostics errors;
    std::size_t true_operands = 0;
    for (const Expression& operand : node.operands) {
      const Result<bool> holds = condition(operand);
      if (!holds) {
        append(errors, holds.errors());
      } else if (*holds) {
        ++true_operands;
      }
    }
    if (!errors.empty()) return errors;
    if (node.kind == Kind::negation) return true_operands == 0;
    return node.kind == Kind::conjunction ? true_operands == node.operands.size() : true_operands > 0;
  }

 private:
  Result<bool> comparison(const Expression& node) const {
    Diagnostics errors;
    std::vector<ExpressionValue> values;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      Result<ExpressionValue> operand = value(node.operands[i], may_be_text(node, i));
      if (operand) {
        values.push_back(*std::move(operand));
      } else {
        append(errors, operand.errors());
      }
    }
    if (!errors.empty()) return errors;
    bool all = true;
    for (std::size_t i = 0; i < node.comparators.size(); ++i) {
      const Result<bool> holds =
          compare(node.operands[i], values[i], node.comparators[i], node.operands[i + 1], values[i + 1]);
      if (holds) {
        all = all && *holds;
      } else {
        append(errors, holds.errors());
      }
    }
    if (!errors.empty()) return errors;
    return all;
  }

  Result<bool> compare(const Expression& left, const ExpressionValue& a, Comparator comparator, const Expression& right,
                       const ExpressionValue& b) const {
    if (!comparable(a, b)) return different_kinds(left, a, right, b);
    const bool equality = comparator == Comparator::equal || comparator == Comparator::not_equal;
    if (is_text(a) && !equality) {
      return input_error(left.place, fmt::format("\"{}\" is a text and has no order", left.text),
                         "texts compare with = and != only");
    }
    const std::partial_ordering order = is_number(a) ? compare_numbers(a, b) : compare_same(a, b);
    switch (comparator) {
      case Comparator::equal:
        return order == 0;
      case Comparator::not_equal:
        return order != 0;
      case Comparator::less:
        return order < 0;
      case Comparator::less_equal:
        return order <= 0;
      case Comparator::greater:
        return order > 0;
      case Comparator::greater_equal:
        return order >= 0;
    }
    return false;
  }

  static std::partial_ordering compare_numbers(const ExpressionValue& a, const ExpressionValue& b) {
    if (a.index() == kWhole && b.index() == kWhole) return std::get<std::int64_t>(a) <=> std::get<std::int64_t>(b);
    return number_of(a) <=> number_of(b);
  }
  static std::partial_ordering compare_same(const ExpressionValue& a, const ExpressionValue& b) {
    if (is_text(a)) return std::get<std::string>(a) <=> std::get<std::string>(b);
    return count_of(a) <=> count_of(b);
  }

  Diagnostic different_kinds(const Expression& left, const ExpressionValue& a, const Expression& right,
                             const ExpressionValue& b) const {
    const bool stands_for_itself = right.kind == Kind::word && is_text(b) && !lookup_.value(right.text);
    if (stands_for_itself) {
      // A word where a number or quantity belongs: most likely a name spelled wrongly.
      Diagnostic error = unknown_name(right, lookup_.names);
      error.why = fmt::format("\"{}\" is {}, which compares with its own kind only", left.text, describe_kind(a));
      return error;
    }
    std::string suggestion;
    if (is_number(b) && !is_number(a) && !is_text(a)) {
      suggestion = fmt::format("give \"{}\" a unit, for instance {}{}", right.text, right.text, example_unit(a, b));
    }
    return input_error(
        right.place,
        fmt::format("\"{}\" is {} and \"{}\" is {}", left.text, describe_kind(a), right.text, describe_kind(b)),
        "only values of one kind compare", std::move(suggestion));
  }

  /// A unit for a number that meets a quantity. Large numbers are counts of bytes.
  static std::string_view example_unit(const ExpressionValue& value, const ExpressionValue& number) {
    const double kFew = std::holds_alternative<Bandwidth>(value) ? 1e6 : 1e3;
    constexpr std::array<std::string_view, 4> kUnits{"us", "MiB", "GB/s", "USD"};
    constexpr std::array<std::string_view, 4> kBaseUnits{"us", "B", "B/s", "USD"};
    return (number_of(number) < kFew ? kUnits : kBaseUnits).at(value.index() - kTime);
  }

  Result<ExpressionValue> arithmetic(const Expression& node) const {
    Diagnostics errors;
    std::vector<ExpressionValue> values;
    for (const Expression& operand : node.operands) {
      Result<ExpressionValue> part = value(operand, false);
      if (!part) {
        append(errors, part.errors());
      } else if (is_text(*part)) {
        errors.push_back(input_error(operand.place, fmt::format("\"{}\" is a text", operand.text),
                                     "arithmetic needs numbers and quantities"));
      } else {
        values.push_back(*std::move(part));
      }
    }
    if (!errors.empty()) return errors;
    if (node.kind == Kind::negative) return multiply(node, std::int64_t{-1}, values[0]);
    if (node.kind == Kind::product) return multiply(node, values[0], values[1]);
    return add(node, values[0], values[1]);
  }

  static Result<ExpressionValue> add(const Expression& node, const ExpressionValue& a, const ExpressionValue& b) {
    const bool plus = node.kind == Kind::sum;
    if (!comparable(a, b)) {
      return input_error(node.operands[1].place,
                         fmt::format("\"{}\" is {} and \"{}\" is {}", node.operands[0].text, describe_kind(a),
                                     node.operands[1].text, describe_kind(b)),
                         "only values of one kind are added or subtracted");
    }
    if (a.index() == kDecimal || b.index() == kDecimal) {
      return ExpressionValue(plus ? number_of(a) + number_of(b) : number_of(a) - number_of(b));
    }
    std::int64_t result = 0;
    const bool overflow = plus ? __builtin_add_overflow(count_of(a), count_of(b), &result)
                               : __builtin_sub_overflow(count_of(a), count_of(b), &result);
    if (overflow) return too_large(node);
    return with_count(a, result);
  }

  static Result<ExpressionValue> multiply(const Expression& node, const ExpressionValue& a, const ExpressionValue& b) {
    if (!is_number(a) && !is_number(b)) {
      return input_error(node.place,
                         fmt::format("\"{}\" multiplies {} with {}", node.text, describe_kind(a), describe_kind(b)),
                         "one of the factors is a plain number");
    }
    const ExpressionValue& factor = is_number(a) ? a : b;
    const ExpressionValue& other = is_number(a) ? b : a;
    if (is_number(other) && (factor.index() == kDecimal || other.index() == kDecimal)) {
      return ExpressionValue(number_of(factor) * number_of(other));
    }
    if (factor.index() == kDecimal) {
      const double product = std::round(std::get<double>(factor) * static_cast<double>(count_of(other)));
      if (!(std::abs(product) < 0x1p63)) return too_large(node);
      return with_count(other, static_cast<std::int64_t>(product));
    }
    std::int64_t result = 0;
    if (__builtin_mul_overflow(count_of(factor), count_of(other), &result)) return too_large(node);
    return with_count(other, result);
  }

  const Lookup& lookup_;
};
// NOLINTEND(misc-no-recursion)

}  // namespace

std::string_view describe_kind(const ExpressionValue& value) {
  constexpr std::array<std::string_view, 7> kNames{"a plain number", "a plain number",     "a time", "a size",
                                                   "a bandwidth",    "an amount of money", "a text"};
  return kNames.at(value.index());
}

Lookup lookup_in(const std::map<std::string, ExpressionValue, std::less<>>& values) {
  Lookup lookup;
  lookup.value = [&values](std::string_view name) -> std::optional<ExpressionValue> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
  for (const auto& [name, value] : values) lookup.names.emplace_back(name);
  return lookup;
}

Status check_names(const Expression& condition, const std::vector<std::string_view>& names) {
  Diagnostics errors;
  check(condition, false, names, errors);
  if (!errors.empty()) return errors;
  return success();
}

Result<bool> evaluate_condition(const Expression& condition, const Lookup& lookup) {
  return Evaluator(lookup).condition(condition);
}

}  // namespace tenex
