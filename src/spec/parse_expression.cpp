// The parser of the expression grammar: recursive descent, one function per rule of tenex/spec/expression.hpp.
//
// Conditions and values share one grammar, so the parser need not know in advance what a parenthesis holds. Each
// operator then checks that its operands are of the right sort and reports those that are not.
#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "tenex/spec/document.hpp"
#include "tenex/spec/expression.hpp"
#include "tokens.hpp"

namespace tenex {

namespace {

using expression::Token;
using expression::TokenKind;
using Kind = Expression::Kind;

constexpr int kDeepest = 100;  // nested parentheses and `not`s

// The kinds from `comparison` on are the conditions.
bool is_condition(const Expression& node) { return node.kind >= Kind::comparison; }

bool holds_word(const Expression& node) {  // NOLINT(misc-no-recursion)
  return node.kind == Kind::word || std::any_of(node.operands.begin(), node.operands.end(), holds_word);
}

// Recursion is bounded by kDeepest. A rule returns nothing after it has recorded an error.
// NOLINTBEGIN(misc-no-recursion)
class Parser {
 public:
  Parser(std::string_view text, const Place& place, std::vector<Token> tokens)
      : text_(text), place_(place), tokens_(std::move(tokens)) {}

  Result<Expression> run() {
    if (peek().kind == TokenKind::end) {
      return input_error(place_, "an empty expression", "a condition belongs here",
                         "write for instance \"chunks = 1\"");
    }
    auto whole = disjunction();
    if (!whole) return std::move(errors_);
    if (peek().kind != TokenKind::end) return unexpected("the expression has ended before it");
    if (!is_condition(*whole)) {
      return input_error(whole->place, fmt::format("\"{}\" is not a condition", whole->text),
                         "a condition compares two things", "write for instance \"chunks = 1\"");
    }
    return *std::move(whole);
  }

 private:
  using Parsed = std::optional<Expression>;

  [[nodiscard]] const Token& peek() const { return tokens_[at_]; }
  [[nodiscard]] std::string_view text_of(const Token& token) const {
    return text_.substr(token.begin, token.end - token.begin);
  }
  [[nodiscard]] bool at_keyword(std::string_view keyword) const { return peek().keyword == keyword; }

  [[nodiscard]] Place place_of(const Token& token) const { return place_within(place_, text_, token.begin); }

  Diagnostic unexpected(std::string why) const {
    const Place place = place_of(peek());
    if (peek().kind == TokenKind::end) return input_error(place, "the expression ends too early", std::move(why));
    return input_error(place, fmt::format("unexpected \"{}\"", text_of(peek())), std::move(why), joined_unit());
  }
  /// What to write where a word follows a number, as in "1 GiB".
  [[nodiscard]] std::string joined_unit() const {
    const std::string_view before = at_ == 0 ? std::string_view() : text_of(tokens_[at_ - 1]);
    const bool number = !before.empty() && std::ranges::all_of(before, [](char c) {
      return c == '.' || std::isdigit(static_cast<unsigned char>(c)) != 0;
    });
    const bool word =
        !text_of(peek()).empty() && std::isalpha(static_cast<unsigned char>(text_of(peek()).front())) != 0;
    return number && word ? fmt::format("a unit follows its number without a blank: {}{}", before, text_of(peek()))
                          : std::string();
  }
  Parsed fail(Diagnostic error) {
    errors_.push_back(std::move(error));
    return std::nullopt;
  }

  /// A node that spans the tokens from `first` up to the last one taken.
  [[nodiscard]] Expression node(Kind kind, std::size_t first, std::vector<Expression> operands) const {
    const std::size_t begin = tokens_[first].begin;
    Expression made;
    made.kind = kind;
    made.place = place_within(place_, text_, begin);
    made.text = text_.substr(begin, tokens_[at_ - 1].end - begin);
    made.operands = std::move(operands);
    return made;
  }

  [[nodiscard]] bool require_conditions(const std::vector<Expression>& operands, std::string_view keyword) {
    for (const Expression& operand : operands) {
      if (is_condition(operand)) continue;
      fail(input_error(operand.place, fmt::format("\"{}\" is not a condition", operand.text),
                       fmt::format("\"{}\" joins conditions such as chunks = 1", keyword)));
    }
    return errors_.empty();
  }

  [[nodiscard]] bool require_values(const std::vector<Expression>& operands, std::string_view what) {
    for (const Expression& operand : operands) {
      if (!is_condition(operand)) continue;
      fail(input_error(operand.place, fmt::format("\"{}\" is a condition", operand.text),
                       fmt::format("{} needs values", what)));
    }
    return errors_.empty();
  }

  /// operand { keyword operand }; a single operand stays as it is.
  template <class Rule>
  Parsed joined(Kind kind, std::string_view keyword, const Rule& rule) {
    const std::size_t first = at_;
    std::vector<Expression> operands;
    do {
      if (!operands.empty()) ++at_;
      auto operand = rule();
      if (!operand) return std::nullopt;
      operands.push_back(*std::move(operand));
    } while (at_keyword(keyword));
    if (operands.size() == 1) return std::move(operands.front());
    if (!require_conditions(operands, keyword)) return std::nullopt;
    return node(kind, first, std::move(operands));
  }

  Parsed disjunction() {
    return joined(Kind::disjunction, "or", [&] { return conjunction(); });
  }
  Parsed conjunction() {
    return joined(Kind::conjunction, "and", [&] { return negation(); });
  }

  Parsed negation() {
    if (!at_keyword("not")) return comparison();
    const std::size_t first = at_;
    const Depth depth(*this);
    if (depth.exceeded()) return too_deep();
    ++at_;
    auto operand = negation();
    if (!operand) return std::nullopt;
    std::vector<Expression> operands{*std::move(operand)};
    if (!require_conditions(operands, "not")) return std::nullopt;
    return node(Kind::negation, first, std::move(operands));
  }

  Parsed comparison() {
    const std::size_t first = at_;
    auto left = sum();
    if (!left || peek().kind != TokenKind::comparator) return left;
    std::vector<Expression> operands{*std::move(left)};
    std::vector<Comparator> comparators;
    std::vector<Place> operators;
    while (peek().kind == TokenKind::comparator) {
      comparators.push_back(peek().comparator);
      operators.push_back(place_of(peek()));
      ++at_;
      auto right = sum();
      if (!right) return std::nullopt;
      operands.push_back(*std::move(right));
    }
    if (!require_values(operands, "a comparison")) return std::nullopt;
    Expression made = node(Kind::comparison, first, std::move(operands));
    made.comparators = std::move(comparators);
    made.operators = std::move(operators);
    return made;
  }

  Parsed sum() {
    const std::size_t first = at_;
    auto left = product();
    while (left && (peek().kind == TokenKind::plus || peek().kind == TokenKind::minus)) {
      const Kind kind = peek().kind == TokenKind::plus ? Kind::sum : Kind::difference;
      const Place sign = place_of(peek());
      ++at_;
      auto right = product();
      if (!right) return std::nullopt;
      left = arithmetic(kind, first, {*std::move(left), *std::move(right)}, {sign});
    }
    return left;
  }

  Parsed product() {
    const std::size_t first = at_;
    auto left = factor();
    while (left && peek().kind == TokenKind::star) {
      const Place star = place_of(peek());
      ++at_;
      auto right = factor();
      if (!right) return std::nullopt;
      if (holds_word(*left) && holds_word(*right)) {
        return fail(input_error(left->place, fmt::format("\"{} * {}\" multiplies two names", left->text, right->text),
                                "arithmetic is linear: a name times a number"));
      }
      left = arithmetic(Kind::product, first, {*std::move(left), *std::move(right)}, {star});
    }
    return left;
  }

  Parsed arithmetic(Kind kind, std::size_t first, std::vector<Expression> operands, std::vector<Place> operators = {}) {
    if (!require_values(operands, "arithmetic")) return std::nullopt;
    Expression made = node(kind, first, std::move(operands));
    made.operators = std::move(operators);
    return made;
  }

  Parsed factor() {
    const std::size_t first = at_;
    switch (peek().kind) {
      case TokenKind::minus: {
        const Depth depth(*this);
        if (depth.exceeded()) return too_deep();
        ++at_;
        auto operand = factor();
        if (!operand) return std::nullopt;
        return arithmetic(Kind::negative, first, {*std::move(operand)});
      }
      case TokenKind::open:
        return parenthesis();
      case TokenKind::word:
        if (!peek().keyword.empty()) break;
        ++at_;
        return node(Kind::word, first, {});
      case TokenKind::number:
      case TokenKind::quantity:
      case TokenKind::quoted: {
        ++at_;
        Expression made = node(Kind::literal, first, {});
        made.value = tokens_[first].value;
        return made;
      }
      default:
        break;
    }
    return fail(unexpected("a name, a number, a quantity or a text belongs here"));
  }

  Parsed parenthesis() {
    const Depth depth(*this);
    if (depth.exceeded()) return too_deep();
    ++at_;
    auto inner = disjunction();
    if (!inner) return std::nullopt;
    if (peek().kind != TokenKind::close) {
      return fail(unexpected("a parenthesis is not closed before it"));
    }
    ++at_;
    return inner;
  }

  /// Counts nesting for as long as it lives.
  class Depth {
   public:
    explicit Depth(Parser& parser) : parser_(parser) { ++parser_.depth_; }
    ~Depth() { --parser_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    [[nodiscard]] bool exceeded() const { return parser_.depth_ > kDeepest; }

   private:
    Parser& parser_;
  };
  Parsed too_deep() {
    return fail(unexpected(fmt::format("parentheses, signs and \"not\" nest at most {} deep", kDeepest)));
  }

  std::string_view text_;
  const Place& place_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Diagnostics errors_;
};
// NOLINTEND(misc-no-recursion)

void collect_words(const Expression& node, std::vector<std::string>& words) {  // NOLINT(misc-no-recursion)
  if (node.kind == Kind::word && std::find(words.begin(), words.end(), node.text) == words.end()) {
    words.push_back(node.text);
  }
  for (const Expression& operand : node.operands) collect_words(operand, words);
}

}  // namespace

Result<Expression> parse_expression(std::string_view text, const Place& place) {
  Result<std::vector<Token>> tokens = expression::tokenize(text, place);
  if (!tokens) return tokens.errors();
  return Parser(text, place, *std::move(tokens)).run();
}

std::vector<std::string> identifiers(const Expression& expression) {
  std::vector<std::string> words;
  collect_words(expression, words);
  return words;
}

}  // namespace tenex
