// Tokens of the expression grammar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/spec/expression.hpp"

namespace tenex::expression {

enum class TokenKind : std::uint8_t { number, quantity, word, quoted, comparator, plus, minus, star, open, close, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::size_t begin = 0;  // byte offsets into the text
  std::size_t end = 0;
  ExpressionValue value;                      // number, quantity, quoted
  Comparator comparator = Comparator::equal;  // comparator
  std::string_view keyword = {};              // of a word: "and", "or", "not", whatever its spelling; empty: no keyword
};

/// Cuts a text into tokens, the last of which is `end`. Reports every bad token at its place.
[[nodiscard]] Result<std::vector<Token>> tokenize(std::string_view text, const Place& place);

}  // namespace tenex::expression
