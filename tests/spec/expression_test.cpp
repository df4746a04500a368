// The expression grammar: structure, places, evaluation and every way to get it wrong.
#include "tenex/spec/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenex/base/random.hpp"

namespace tenex {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Kind = Expression::Kind;

const Place kStart{"s.toml", 7, 10};

/// The structure of an expression with every parenthesis written.
std::string structure(const Expression& node) {
  static const std::vector<std::string> comparators{" = ", " != ", " < ", " <= ", " > ", " >= "};
  static const std::vector<std::string> between{"", "", "-", " + ", " - ", " * ", "", "not ", " and ", " or "};
  if (node.kind == Kind::literal || node.kind == Kind::word) return node.text;
  const std::string& operation = between.at(static_cast<std::size_t>(node.kind));
  std::string text = "(";
  if (node.operands.size() == 1) text += operation;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    if (i > 0) {
      text += node.kind == Kind::comparison ? comparators.at(static_cast<std::size_t>(node.comparators.at(i - 1)))
                                            : operation;
    }
    text += structure(node.operands[i]);
  }
  return text + ")";
}

std::string parsed(std::string_view text) {
  const Result<Expression> expression = parse_expression(text, kStart);
  return expression ? structure(*expression) : to_string(expression.errors());
}

const std::map<std::string, ExpressionValue, std::less<>>& names() {
  static const std::map<std::string, ExpressionValue, std::less<>> values{
      {"chunks", std::int64_t{2}},
      {"factor", 1.5},
      {"size", mebibytes(1)},
      {"alpha", nanoseconds(500)},
      {"algorithm", std::string("ring")},
      {"groups", std::string("all")},
      {"topology", std::string("torus(4,4)")},
      {"B1", gigabytes_per_second(300)},
      {"B2", gigabytes_per_second(150)},
      {"B3", gigabytes_per_second(50)},
  };
  return values;
}

Result<bool> evaluate(std::string_view text) {
  const Result<Expression> expression = parse_expression(text, kStart);
  if (!expression) return expression.errors();
  return evaluate_condition(*expression, lookup_in(names()));
}

bool holds(std::string_view text) {
  const Result<bool> result = evaluate(text);
  EXPECT_TRUE(result.ok()) << text << ": " << to_string(result.errors());
  return result.ok() && *result;
}

std::string expression_error(std::string_view text) {
  const Result<bool> result = evaluate(text);
  return result ? "no error" : to_string(result.errors());
}

TEST(ParseExpression, BindsNotTighterThanAndTighterThanOr) {
  EXPECT_EQ(parsed("a = 1 or b = 2 and not c = 3"), "((a = 1) or ((b = 2) and (not (c = 3))))");
  EXPECT_EQ(parsed("not a = 1 and b = 2"), "((not (a = 1)) and (b = 2))");
  EXPECT_EQ(parsed("(a = 1 or b = 2) and c = 3"), "(((a = 1) or (b = 2)) and (c = 3))");
  EXPECT_EQ(parsed("not not a = 1"), "(not (not (a = 1)))");
  EXPECT_EQ(parsed("a = 1 and b = 2 and c = 3"), "((a = 1) and (b = 2) and (c = 3))");
}

TEST(ParseExpression, BindsProductsTighterThanSumsTighterThanComparisons) {
  EXPECT_EQ(parsed("a + 2 * b - c = 3"), "(((a + (2 * b)) - c) = 3)");
  EXPECT_EQ(parsed("2 * (a + b) <= 3"), "((2 * (a + b)) <= 3)");
  EXPECT_EQ(parsed("-a + b > -2"), "(((-a) + b) > (-2))");
  EXPECT_EQ(parsed("a=1"), "(a = 1)");
}

TEST(ParseExpression, ChainsComparisons) {
  EXPECT_EQ(parsed("B1 >= B2 >= B3"), "(B1 >= B2 >= B3)");
  EXPECT_EQ(parsed("25GB/s <= B3 <= 150GB/s"), "(25GB/s <= B3 <= 150GB/s)");
}

TEST(ParseExpression, ReadsLiterals) {
  const auto literal = [](std::string_view text) {
    return parse_expression(std::string("x = ") + std::string(text)).value().operands.at(1).value;
  };
  EXPECT_EQ(literal("12"), ExpressionValue(std::int64_t{12}));
  EXPECT_EQ(literal("1.5"), ExpressionValue(1.5));
  EXPECT_EQ(literal("0.5us"), ExpressionValue(nanoseconds(500)));
  EXPECT_EQ(literal("1MiB"), ExpressionValue(mebibytes(1)));
  EXPECT_EQ(literal("500GB/s"), ExpressionValue(gigabytes_per_second(500)));
  EXPECT_EQ(literal("'torus(4,4)'"), ExpressionValue(std::string("torus(4,4)")));
  EXPECT_EQ(literal("\"0-127; 128-255\""), ExpressionValue(std::string("0-127; 128-255")));
}

TEST(ParseExpression, KnowsThePlaceAndTextOfEveryPart) {
  const Expression whole = parse_expression("chunks = 1 or size >= 1MiB", kStart).value();
  EXPECT_EQ(whole.place, (Place{"s.toml", 7, 10}));
  const Expression& right = whole.operands.at(1);
  EXPECT_EQ(right.text, "size >= 1MiB");
  EXPECT_EQ(right.place, (Place{"s.toml", 7, 24}));                 // 14 characters on
  EXPECT_EQ(right.operands.at(1).place, (Place{"s.toml", 7, 32}));  // 22 characters on
}

TEST(ParseExpression, ListsItsWordsOnce) {
  const Expression whole = parse_expression("algorithm != ring or groups = all and algorithm = 'x'").value();
  EXPECT_THAT(identifiers(whole), ElementsAre("algorithm", "ring", "groups", "all"));
}

TEST(ParseExpression, ReportsErrorsAtTheirPlace) {
  EXPECT_THAT(parsed(""), StartsWith("s.toml:7:10: an empty expression"));
  EXPECT_THAT(parsed("chunks ="), StartsWith("s.toml:7:18: the expression ends too early"));
  EXPECT_THAT(parsed("chunks = = 1"), StartsWith("s.toml:7:19: unexpected \"=\""));
  EXPECT_THAT(parsed("chunks 1"), StartsWith("s.toml:7:17: unexpected \"1\""));
  EXPECT_THAT(parsed("(chunks = 1"), AllOf(StartsWith("s.toml:7:21: "), HasSubstr("a parenthesis is not closed")));
  EXPECT_THAT(parsed("chunks = 1)"), StartsWith("s.toml:7:20: unexpected \")\""));
  EXPECT_THAT(parsed("chunks = 1 and"), StartsWith("s.toml:7:24: the expression ends too early"));
  EXPECT_THAT(parsed("size = 1 GiB"), HasSubstr("a unit follows its number without a blank: 1GiB"));
  EXPECT_THAT(parsed("and chunks = 1"), StartsWith("s.toml:7:10: unexpected \"and\""));
  EXPECT_THAT(parsed("name = 'x"),
              AllOf(StartsWith("s.toml:7:17: a quote is not closed"), HasSubstr("write ' after the text")));
}

TEST(ParseExpression, AsksForQuotesAroundBrackets) {
  EXPECT_EQ(parsed("topology = torus(4,4)"),
            "s.toml:7:21: \"torus(4,4)\" has brackets and no quotes (a text that is not a plain word stands in quotes) "
            "put it in quotes: 'torus(4,4)'");
  EXPECT_THAT(parsed("chunks = 1 and topology != RI(4)_SW(8,2:2) or size > 1KB"), HasSubstr("'RI(4)_SW(8,2:2)'"));
  EXPECT_THAT(parsed("not(chunks = 1)"), Not(HasSubstr("quotes")));  // a keyword before a parenthesis
}

TEST(ParseExpression, KnowsTheOperatorsOfOtherLanguages) {
  EXPECT_THAT(parsed("chunks <> 1"), AllOf(StartsWith("s.toml:7:17: unknown operator"), HasSubstr("write \"!=\"")));
  EXPECT_THAT(parsed("chunks => 1"), HasSubstr("write \">=\""));
  EXPECT_THAT(parsed("!a = 1"), HasSubstr("write \"not\""));
}

TEST(ParseExpression, TakesTheSignsOfCAndPandas) {
  EXPECT_EQ(parsed("a == 1"), parsed("a = 1"));
  for (const std::string sign : {" && ", " & ", "&&"})
    EXPECT_EQ(parsed("a = 1" + sign + "b = 2"), parsed("a = 1 and b = 2"));
  for (const std::string sign : {" || ", " | ", "||"})
    EXPECT_EQ(parsed("a = 1" + sign + "b = 2"), parsed("a = 1 or b = 2"));
  // `and` binds more strongly than `or` in each spelling.
  EXPECT_EQ(parsed("a = 1 || b = 2 && c = 3"), parsed("a = 1 or (b = 2 and c = 3)"));
  EXPECT_THAT(parsed("a = 1 &&"), HasSubstr("ends too early"));
  EXPECT_THAT(parsed("a = && b = 1"), HasSubstr("unexpected \"&&\""));
}

TEST(ParseExpression, ShowsAnUnexpectedLetterWhole) {
  EXPECT_THAT(parsed("a = 1 ; b"), HasSubstr("unexpected \";\""));
  EXPECT_THAT(parsed("a = 1 \\ b"), HasSubstr("unexpected \"\\\""));
}

TEST(ParseExpression, ReportsEveryBadTokenAtOnce) {
  EXPECT_EQ(parse_expression("a <> 5GIB and b = 7 ; c = 99999999999999999999").errors().size(), 4U);
}

TEST(ParseExpression, RefusesBadNumbersAndUnits) {
  EXPECT_THAT(parsed("size = 5gIB"), AllOf(StartsWith("s.toml:7:17: "), HasSubstr("did you mean \"GiB\"?")));
  EXPECT_THAT(parsed("size = 0.5B"), HasSubstr("not a whole number of bytes"));
  EXPECT_THAT(parsed("x = 1."), HasSubstr("digits on both sides"));
  EXPECT_THAT(parsed("x = .5"), HasSubstr("digits on both sides"));
  EXPECT_THAT(parsed("x = 9223372036854775808"), HasSubstr("too large"));
  EXPECT_THAT(parsed("x = a / 2"), HasSubstr("unexpected \"/\""));
}

TEST(ParseExpression, RefusesValuesAsConditionsAndConditionsAsValues) {
  EXPECT_THAT(parsed("chunks"), HasSubstr("\"chunks\" is not a condition"));
  EXPECT_THAT(parsed("chunks = 1 and size"),
              AllOf(StartsWith("s.toml:7:25: "), HasSubstr("\"size\" is not a condition")));
  EXPECT_THAT(parsed("not chunks"), HasSubstr("\"chunks\" is not a condition"));
  EXPECT_THAT(parsed("(a = 1) = 2"), HasSubstr("\"a = 1\" is a condition"));
  EXPECT_THAT(parsed("(a = 1) + 2 = 3"), HasSubstr("\"a = 1\" is a condition"));
}

TEST(ParseExpression, RefusesProductsOfNames) {
  EXPECT_THAT(parsed("B1 * B2 = 3"), HasSubstr("\"B1 * B2\" multiplies two names"));
  EXPECT_THAT(parsed("2 * 3 * B1 = 3"), "(((2 * 3) * B1) = 3)");
}

TEST(ParseExpression, RefusesDeepNesting) {
  for (const std::string_view opening : {"(", "-", "not "}) {
    std::string text;
    for (int i = 0; i < 10'000; ++i) text += opening;
    text += "a = 1";
    EXPECT_THAT(parsed(text), HasSubstr("nest at most")) << opening;
  }
}

TEST(EvaluateCondition, ComparesNumbersAndQuantities) {
  EXPECT_TRUE(holds("chunks = 2"));
  EXPECT_FALSE(holds("chunks != 2"));
  EXPECT_TRUE(holds("chunks < 3"));
  EXPECT_FALSE(holds("chunks < 2"));
  EXPECT_TRUE(holds("chunks <= 2"));
  EXPECT_FALSE(holds("chunks > 2"));
  EXPECT_TRUE(holds("chunks >= 2"));
  EXPECT_TRUE(holds("size = 1024KiB"));
  EXPECT_TRUE(holds("alpha < 1us"));
  EXPECT_TRUE(holds("1us > alpha"));
  EXPECT_TRUE(holds("B1 = 300GB/s"));
  EXPECT_TRUE(holds("factor > 1"));  // decimal with whole
  EXPECT_TRUE(holds("factor = 1.5"));
  EXPECT_TRUE(holds("chunks > 1.5"));
}

TEST(EvaluateCondition, ComparesTexts) {
  EXPECT_TRUE(holds("algorithm = ring"));
  EXPECT_FALSE(holds("algorithm != ring"));
  EXPECT_TRUE(holds("algorithm != tacos"));
  EXPECT_TRUE(holds("groups = 'all'"));
  EXPECT_TRUE(holds("topology = 'torus(4,4)'"));
  EXPECT_TRUE(holds("algorithm != groups"));  // both are names: ring and all differ
}

TEST(EvaluateCondition, JoinsConditions) {
  EXPECT_TRUE(holds("chunks = 1 or size >= 1MiB"));
  EXPECT_FALSE(holds("chunks = 1 or size > 1MiB"));
  EXPECT_FALSE(holds("chunks = 2 and size > 1MiB"));
  EXPECT_TRUE(holds("chunks = 2 and not size > 1MiB"));
  EXPECT_TRUE(holds("algorithm != ring or groups = all"));
}

TEST(EvaluateCondition, HoldsForAChainWhenEveryLinkHolds) {
  EXPECT_TRUE(holds("B1 >= B2 >= B3"));
  EXPECT_FALSE(holds("B1 >= B3 >= B2"));  // 300 >= 50 holds, 50 >= 150 does not
  EXPECT_FALSE(holds("B3 >= B2 <= B1"));
  EXPECT_TRUE(holds("25GB/s <= B3 <= 150GB/s"));
  EXPECT_FALSE(holds("75GB/s <= B3 <= 150GB/s"));
}

TEST(EvaluateCondition, ComputesWithQuantities) {
  EXPECT_TRUE(holds("B1 + B2 + B3 = 500GB/s"));  // 300 + 150 + 50
  EXPECT_TRUE(holds("B1 - B2 = 3 * B3"));        // 150 = 3 * 50
  EXPECT_TRUE(holds("2 * B2 = B1"));
  EXPECT_TRUE(holds("B2 * 2 = B1"));
  EXPECT_TRUE(holds("1.5 * size = 1536KiB"));
  EXPECT_TRUE(holds("-chunks + 3 = 1"));
  EXPECT_TRUE(holds("chunks + 0.5 = 2.5"));
  EXPECT_TRUE(holds("1.5 * chunks = 3"));
}

TEST(EvaluateCondition, RefusesToCompareDifferentKindsAndNamesBoth) {
  EXPECT_EQ(expression_error("size = 5"),
            "s.toml:7:17: \"size\" is a size and \"5\" is a plain number (only values of one kind compare) "
            "give \"5\" a unit, for instance 5MiB");
  EXPECT_THAT(expression_error("size < 5us"), HasSubstr("\"size\" is a size and \"5us\" is a time"));
  EXPECT_THAT(expression_error("alpha < 5"), HasSubstr("for instance 5us"));
  EXPECT_THAT(expression_error("chunks = 'x'"), HasSubstr("\"chunks\" is a plain number and \"'x'\" is a text"));
  EXPECT_THAT(expression_error("algorithm = 5"), HasSubstr("\"algorithm\" is a text and \"5\" is a plain number"));
  EXPECT_THAT(expression_error("B1 > size"), HasSubstr("\"B1\" is a bandwidth and \"size\" is a size"));
  EXPECT_THAT(expression_error("B1 + size = B2"), HasSubstr("only values of one kind are added"));
  EXPECT_THAT(expression_error("1MiB * size = 1MiB"), HasSubstr("one of the factors is a plain number"));
  EXPECT_THAT(expression_error("algorithm + 1 = 2"), HasSubstr("\"algorithm\" is a text"));
}

TEST(EvaluateCondition, RefusesToOrderTexts) {
  EXPECT_THAT(expression_error("algorithm < groups"), HasSubstr("is a text and has no order"));
  EXPECT_THAT(expression_error("algorithm < ring"), HasSubstr("unknown name \"ring\""));
}

TEST(EvaluateCondition, ReportsUnknownNames) {
  EXPECT_EQ(expression_error("chunk = 1"), "s.toml:7:10: unknown name \"chunk\" did you mean \"chunks\"?");
  EXPECT_EQ(expression_error("frobnicate = 1"), "s.toml:7:10: unknown name \"frobnicate\"");
  EXPECT_THAT(expression_error("B1 >= B22 >= B3"), HasSubstr("unknown name \"B22\" did you mean \"B2\"?"));
  EXPECT_THAT(expression_error("chunks + chunkz = 1"), HasSubstr("unknown name \"chunkz\""));
}

TEST(EvaluateCondition, TakesAMisspeltNameOnTheRightForAMistakeNotAText) {
  EXPECT_EQ(expression_error("1MiB = sise"),
            "s.toml:7:17: unknown name \"sise\" (\"1MiB\" is a size, which compares with its own kind only) "
            "did you mean \"size\"?");
}

TEST(EvaluateCondition, ReportsErrorsOfBothSidesOfAndAndOr) {
  EXPECT_EQ(evaluate("chunk = 1 or chunks = 2 and sizes = 1B").errors().size(), 2U);
  // The left side decides the result, but the mistake on the right is still reported.
  EXPECT_THAT(expression_error("chunks = 2 or size = 5"), HasSubstr("a plain number"));
}

TEST(EvaluateCondition, RefusesToOverflow) {
  EXPECT_THAT(expression_error("9000000000000000000 + 9000000000000000000 > chunks"), HasSubstr("too large"));
  EXPECT_THAT(expression_error("9000000000000000000 * size > 1B"), HasSubstr("too large"));
  EXPECT_THAT(expression_error("9000000000000000000.0 * size > 1B"), HasSubstr("too large"));
  EXPECT_THAT(expression_error("0 - 9000000000000000000 - 9000000000000000000 < chunks"), HasSubstr("too large"));
}

TEST(Expression, AnswersEveryTextWithAValueOrPlacedErrors) {
  const std::vector<std::string_view> pieces{"chunks", "size", "ring", "=", "!=",  "<=",    "and",  "or", "not",
                                             "(",      ")",    "1MiB", "5", "1.5", "+",     "-",    "*",  "'x'",
                                             "B1",     "\"",   "5us",  "/", "==",  "2GB/s", "\xff", "\n", "."};
  Random random(11);
  int good = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    const std::uint32_t length = random.below(9);
    for (std::uint32_t i = 0; i < length; ++i) {
      text += pieces[random.below(static_cast<std::uint32_t>(pieces.size()))];
      if (random.below(4) != 0) text += ' ';
    }
    const Result<bool> result = evaluate(text);
    good += result.ok() ? 1 : 0;
    for (const Diagnostic& error : result.errors()) {
      EXPECT_EQ(error.place.file, kStart.file) << text;
      EXPECT_GE(error.place.line, kStart.line) << text;
      EXPECT_FALSE(error.problem.empty()) << text;
    }
  }
  EXPECT_GT(good, 0);  // the pieces do make valid expressions now and then
}

TEST(EvaluateCondition, AddsAndMultipliesOneSideOfAComparison) {
  EXPECT_TRUE(holds("2 * B2 + B3 == 350GB/s"));  // 2 * 150 + 50
  EXPECT_FALSE(evaluate("2 * B2 + B3").ok());    // compares nothing
}

TEST(CheckNames, FindsEveryUnknownNameWithoutValues) {
  const std::vector<std::string_view> known{"algorithm", "chunks", "size"};
  const auto check = [&](std::string_view text) {
    const Status status = check_names(parse_expression(text, kStart).value(), known);
    return status ? "fine" : to_string(status.errors());
  };
  EXPECT_EQ(check("algorithm != ring and chunks <= 4"), "fine");
  EXPECT_EQ(check("algorithms = ring or chunk = 1"),
            "s.toml:7:10: unknown name \"algorithms\" did you mean \"algorithm\"?\n"
            "s.toml:7:31: unknown name \"chunk\" did you mean \"chunks\"?");
  EXPECT_THAT(check("1MiB <= sizes"), HasSubstr("unknown name \"sizes\""));         // an order needs a name
  EXPECT_THAT(check("chunks = 2 * chunkz"), HasSubstr("unknown name \"chunkz\""));  // so does arithmetic
}

}  // namespace
}  // namespace tenex
