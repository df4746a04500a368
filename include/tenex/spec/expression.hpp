// The expression grammar that `keep`, `schedule` and `constraints` of a study, `tenex show --where` and the conditions
// of tenex_analysis share. analysis/conditions.md is its page for users.
//
//   condition  = conjunction { ( "or" | "||" | "|" ) conjunction }
//   conjunction = negation { ( "and" | "&&" | "&" ) negation }
//   negation   = "not" negation | comparison | "(" condition ")"
//   comparison = sum ( "=" | "==" | "!=" | "<" | "<=" | ">" | ">=" ) sum { ... sum }     chained: a <= b <= c
//   sum        = product { ("+" | "-") product }
//   product    = factor { "*" factor }              linear: at most one factor holds a word
//   factor     = [ "-" ] ( number | quantity | word | quoted | "(" sum ")" )
//
// A quantity carries its unit: 1MiB, 500GB/s, 0.5us, $1,722, 15MUSD. A word is a name (`chunks`). Where no name has
// that spelling, the word is a text (`algorithm != ring`). A text that is not a plain word is quoted: topology =
// 'torus(4,4)'.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"

namespace tenex {

/// The value of a name or of a literal: a plain number (whole or decimal), a quantity, or a text.
using ExpressionValue = std::variant<std::int64_t, double, SimTime, Bytes, Bandwidth, Money, std::string>;

/// "a plain number", "a time", "a size", "a bandwidth", "an amount of money" or "a text": for messages.
[[nodiscard]] std::string_view describe_kind(const ExpressionValue& value);

enum class Comparator : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

/// One node of a parsed expression: a plain tree of values.
struct Expression {
  enum class Kind : std::uint8_t {
    literal,   ///< number, quantity or quoted text: `value`
    word,      ///< a name, or a text where no such name exists: `text`
    negative,  ///< -operands[0]
    sum,       ///< operands[0] + operands[1]
    difference,
    product,
    comparison,   ///< operands[i] comparators[i] operands[i + 1], for all i
    negation,     ///< not operands[0]
    conjunction,  ///< operands[0] and operands[1] and ...
    disjunction,
  };
  Kind kind = Kind::literal;
  Place place;       ///< of its first character
  std::string text;  ///< as the user wrote it
  ExpressionValue value;
  std::vector<Comparator> comparators;
  std::vector<Place> operators;  ///< places of the operators between operands[i] and operands[i + 1]; empty for `and`
                                 ///< and `or`
  std::vector<Expression> operands;
};

/// Parses a condition. `place` is where the text's first character stands (Node::text_place()); errors and the nodes of
/// the result carry places inside the text. O(length).
[[nodiscard]] Result<Expression> parse_expression(std::string_view text, const Place& place = {});

/// The distinct words of an expression (names and word texts alike) in the order of their first appearance.
[[nodiscard]] std::vector<std::string> identifiers(const Expression& expression);

/// The values of the names in an expression.
struct Lookup {
  /// The value of a name; nullopt when there is no such name.
  std::function<std::optional<ExpressionValue>(std::string_view)> value;
  /// All names, for suggestions.
  std::vector<std::string_view> names;
};

/// A lookup in a map, which must outlive it.
[[nodiscard]] Lookup lookup_in(const std::map<std::string, ExpressionValue, std::less<>>& values);

/// Checks, without values, that every word that must be a name is one of `names`. A word must be a name unless it
/// stands alone after the last `=` or `!=` of a comparison. Reports every unknown name with its nearest spelling.
[[nodiscard]] Status check_names(const Expression& condition, const std::vector<std::string_view>& names);

/// Whether a condition holds. Quantities compare with their own kind only, texts only by `=` and `!=`; whole and
/// decimal plain numbers mix. Both sides of `and` and `or` are always evaluated, so that an error never hides behind
/// the other side. Arithmetic is exact and refuses to overflow; a quantity times a decimal number is rounded to the
/// nearest unit. Errors: input, at the offending part. O(size).
[[nodiscard]] Result<bool> evaluate_condition(const Expression& condition, const Lookup& lookup);

}  // namespace tenex
