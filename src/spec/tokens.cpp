// The lexer of the expression grammar: a hand-written scan, one character of look-ahead, spaces between tokens.
#include "tokens.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "tenex/base/units.hpp"
#include "tenex/base/words.hpp"
#include "tenex/spec/document.hpp"

namespace tenex::expression {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_high(char c) { return (static_cast<unsigned char>(c) & 0x80U) != 0; }

struct Symbol {
  std::string_view spelling;
  TokenKind kind;
  Comparator comparator;
};
// Longer spellings first.
constexpr std::array kSymbols{
    Symbol{"!=", TokenKind::comparator, Comparator::not_equal},
    Symbol{"<=", TokenKind::comparator, Comparator::less_equal},
    Symbol{">=", TokenKind::comparator, Comparator::greater_equal},
    Symbol{"==", TokenKind::comparator, Comparator::equal},
    Symbol{"=", TokenKind::comparator, Comparator::equal},
    Symbol{"<", TokenKind::comparator, Comparator::less},
    Symbol{">", TokenKind::comparator, Comparator::greater},
    Symbol{"+", TokenKind::plus, Comparator::equal},
    Symbol{"-", TokenKind::minus, Comparator::equal},
    Symbol{"*", TokenKind::star, Comparator::equal},
    Symbol{"(", TokenKind::open, Comparator::equal},
    Symbol{")", TokenKind::close, Comparator::equal},
};

/// A spelling of other languages, and the spelling that this grammar uses.
struct Foreign {
  std::string_view spelling;
  std::string_view ours;
};
constexpr std::array kForeign{Foreign{"<>", "!="}, Foreign{"=<", "<="}, Foreign{"=>", ">="}, Foreign{"!", "not"}};

/// Other spellings of the keywords: those of C, and those of pandas.
constexpr std::array kKeywordSigns{Foreign{"&&", "and"}, Foreign{"||", "or"}, Foreign{"&", "and"}, Foreign{"|", "or"}};

/// The length of a text such as "RI(4)_SW(8)" at the start of `text`: up to the space or operator after its brackets.
std::size_t bracketed_length(std::string_view text) {
  int depth = 0;
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if (text[end] == '(') ++depth;
    if (text[end] == ')' && --depth < 0) break;
    if (depth == 0 && std::string_view(" \t\n\r=!<>+*").find(text[end]) != std::string_view::npos) break;
  }
  return end;
}

class Lexer {
 public:
  Lexer(std::string_view text, const Place& place) : text_(text), place_(place) {}

  Result<std::vector<Token>> run() {
    while (skip_spaces(), at_ < text_.size()) {
      const char c = text_[at_];
      if (is_digit(c) || (c == '.' && digit_follows()) || (c == '$' && digit_follows())) {
        take_number();
      } else if (is_letter(c) || is_high(c)) {
        take_word();
      } else if (c == '"' || c == '\'') {
        take_quoted();
      } else {
        take_symbol();
      }
    }
    add(TokenKind::end, at_);
    if (!errors_.empty()) return std::move(errors_);
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] Place place_at(std::size_t offset) const { return place_within(place_, text_, offset); }

  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  [[nodiscard]] bool digit_follows() const { return at_ + 1 < text_.size() && is_digit(text_[at_ + 1]); }

  template <class Accept>
  void skip_while(const Accept& accept) {
    while (at_ < text_.size() && accept(text_[at_])) ++at_;
  }

  Token& add(TokenKind kind, std::size_t begin) {
    tokens_.push_back(
        {.kind = kind, .begin = begin, .end = at_, .value = {}, .comparator = Comparator::equal, .keyword = {}});
    return tokens_.back();
  }

  /// Takes digits, a point, digits. Letters directly after them make a quantity, with "/s" a bandwidth. Commas between
  /// the digits of an amount of money are allowed.
  void take_number() {
    const std::size_t begin = at_;
    const bool dollars = text_[at_] == '$';
    if (dollars) ++at_;
    while (at_ < text_.size() && (is_digit(text_[at_]) || (text_[at_] == ',' && digit_follows()))) ++at_;
    const bool decimal = at_ < text_.size() && text_[at_] == '.';
    if (decimal) {
      ++at_;
      skip_while(is_digit);
    }
    const auto in_unit = [](char c) { return is_letter(c) || is_digit(c) || is_high(c) || c == '.'; };
    const std::size_t unit = at_;
    skip_while(in_unit);
    if (at_ != unit && at_ < text_.size() && text_[at_] == '/') {
      ++at_;
      skip_while(in_unit);
    }
    if (dollars || (at_ != unit && text_[unit] != '.')) {
      add_quantity(begin);
    } else {
      add_number(text_.substr(begin, at_ - begin), decimal, begin);
    }
  }

  void add_quantity(std::size_t begin) {
    const Result<AnyQuantity> quantity = parse_quantity(text_.substr(begin, at_ - begin), place_at(begin));
    if (!quantity) return append(errors_, quantity.errors());
    Token& token = add(TokenKind::quantity, begin);
    std::visit([&](auto exact) { token.value = exact; }, *quantity);
  }

  void add_number(std::string_view number, bool decimal, std::size_t begin) {
    const char* last = number.data() + number.size();
    if (decimal) {
      double value = 0;
      const auto [end, error] = std::from_chars(number.data(), last, value);
      if (error == std::errc() && end == last && number.front() != '.' && number.back() != '.') {
        add(TokenKind::number, begin).value = value;
        return;
      }
      errors_.push_back(input_error(place_at(begin), fmt::format("\"{}\" is not a number", number),
                                    "a decimal number has digits on both sides of its point"));
      return;
    }
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(number.data(), last, value);
    if (error != std::errc()) {
      errors_.push_back(input_error(place_at(begin), fmt::format("\"{}\" is too large", number),
                                    "a whole number has at most 63 bits"));
      return;
    }
    if (end != last) {
      errors_.push_back(input_error(place_at(begin), fmt::format("\"{}\" is not a number", number),
                                    "commas separate the thousands of amounts of money only"));
      return;
    }
    add(TokenKind::number, begin).value = value;
  }

  void take_word() {
    const std::size_t begin = at_;
    skip_while([](char c) { return is_letter(c) || is_digit(c) || is_high(c); });
    const std::string_view word = text_.substr(begin, at_ - begin);
    constexpr std::array kKeywords{std::string_view("and"), std::string_view("or"), std::string_view("not")};
    const auto* const keyword = std::ranges::find(kKeywords, word);
    if (keyword == kKeywords.end() && at_ < text_.size() && text_[at_] == '(') return refuse_bracketed(begin);
    Token& token = add(TokenKind::word, begin);
    if (keyword != kKeywords.end()) token.keyword = *keyword;
  }

  /// A word with brackets, such as torus(4,4), is a text without its quotes: no name takes arguments.
  void refuse_bracketed(std::size_t begin) {
    const std::string_view text = text_.substr(begin, bracketed_length(text_.substr(begin)));
    at_ = begin + text.size();
    errors_.push_back(input_error(place_at(begin), fmt::format("\"{}\" has brackets and no quotes", text),
                                  "a text that is not a plain word stands in quotes",
                                  fmt::format("put it in quotes: '{}'", text)));
  }

  void take_quoted() {
    const std::size_t begin = at_;
    const std::size_t close = text_.find(text_[begin], begin + 1);
    if (close == std::string_view::npos) {
      errors_.push_back(input_error(place_at(begin), "a quote is not closed",
                                    fmt::format("no {} follows", text_[begin]),
                                    fmt::format("write {} after the text", text_[begin])));
      at_ = text_.size();
      return;
    }
    at_ = close + 1;
    add(TokenKind::quoted, begin).value = std::string(text_.substr(begin + 1, close - begin - 1));
  }

  void take_symbol() {
    const std::size_t begin = at_;
    const std::string_view rest = text_.substr(begin);
    const auto match = [&](const auto& table) {
      const auto* found = table.data();
      while (found != table.data() + table.size() && !rest.starts_with(found->spelling)) ++found;
      return found == table.data() + table.size() ? nullptr : found;
    };
    if (const Foreign* keyword = match(kKeywordSigns)) {
      at_ += keyword->spelling.size();
      add(TokenKind::word, begin).keyword = keyword->ours;
      return;
    }
    const Symbol* symbol = match(kSymbols);
    const Foreign* foreign = match(kForeign);
    if (foreign != nullptr && (symbol == nullptr || foreign->spelling.size() > symbol->spelling.size())) {
      at_ += foreign->spelling.size();
      errors_.push_back(input_error(place_at(begin), fmt::format("unknown operator \"{}\"", foreign->spelling), {},
                                    fmt::format("write \"{}\"", foreign->ours)));
    } else if (symbol != nullptr) {
      at_ += symbol->spelling.size();
      add(symbol->kind, begin).comparator = symbol->comparator;
    } else {
      ++at_;
      errors_.push_back(input_error(place_at(begin), fmt::format("unexpected \"{}\"", first_letter(rest)),
                                    "an expression has comparisons (= != < <= > >=), and, or, not, + - *, parentheses",
                                    rest.front() == '/' ? "" : "put other text in quotes"));
    }
  }

  std::string_view text_;
  const Place& place_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
  Diagnostics errors_;
};

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view text, const Place& place) { return Lexer(text, place).run(); }

}  // namespace tenex::expression
