// Fuzz target: constraints of design problems, and the conditions that share their grammar.
#include "targets.hpp"

#include "tenex/codesign/constraint.hpp"
#include "tenex/spec/expression.hpp"

void tenex::fuzz::constraint(std::string_view input) {
  const auto expression = tenex::parse_expression(input);
  if (expression.ok()) {
    (void)tenex::identifiers(*expression);
    (void)tenex::check_names(*expression, {"size", "algorithm", "chunks"});
    (void)tenex::evaluate_condition(*expression, tenex::lookup_in({{"size", std::int64_t{7}}}));
  }
  if (const auto constraint = tenex::parse_constraint(input))
    for (const std::size_t dimensions : {1, 3}) (void)tenex::rows_of(*constraint, dimensions, nullptr);
}
