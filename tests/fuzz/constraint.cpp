// Fuzz target: constraints of design problems, and the conditions that share their grammar.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tenex/codesign/constraint.hpp"
#include "tenex/spec/expression.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto expression = tenex::parse_expression(text);
  if (expression.ok()) {
    (void)tenex::identifiers(*expression);
    (void)tenex::check_names(*expression, {"size", "algorithm", "chunks"});
    (void)tenex::evaluate_condition(*expression, tenex::lookup_in({{"size", std::int64_t{7}}}));
  }
  if (const auto constraint = tenex::parse_constraint(text))
    for (const std::size_t dimensions : {1, 3}) (void)tenex::rows_of(*constraint, dimensions, nullptr);
  return 0;
}
