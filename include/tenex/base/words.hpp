// Words that users write: lists of words, similar spellings, and the names of enumeration values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

/// The longest beginning of a UTF-8 text that has at most `most` bytes and ends after a whole letter. O(1).
[[nodiscard]] std::string_view beginning(std::string_view text, std::size_t most);

/// The first letter of a UTF-8 text, with all its bytes; empty where the text is. O(1).
[[nodiscard]] std::string_view first_letter(std::string_view text);

/// The text itself, or its first 60 bytes and "..." where it is longer; for messages.
[[nodiscard]] std::string shortened(std::string_view text);

/// "1 rank", "2 ranks".
[[nodiscard]] std::string counted(std::size_t count, std::string_view noun);

/// "a, b, c".
[[nodiscard]] std::string join(std::span<const std::string_view> words);

/// The candidate nearest to `word` by edit distance, at most a third of the word's length, at least 1. Where none is,
/// the first that has the word between underscores: "dgx_h100" for "h100". Else empty. O(candidates * length^2).
[[nodiscard]] std::string_view nearest_spelling(std::string_view word, std::span<const std::string_view> candidates);

/// `did you mean "x"?`, or nothing where no candidate is near.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

/// So many words are read at a glance: messages list them all.
inline constexpr std::size_t kFewWords = 12;

/// What a message about a word that is not in `known` says of those: `intro` and all of them; nothing where one is near
/// and they are more than kFewWords, since did_you_mean() then says enough. O(candidates * length^2).
[[nodiscard]] std::string listed_unless_near(std::string_view intro, std::string_view word,
                                             std::span<const std::string_view> known);

/// The input error for a word that is not in `known`. `noun` says what such a word names.
[[nodiscard]] Diagnostic unknown_word(std::string_view word, std::string_view noun,
                                      std::span<const std::string_view> known, const Place& place);

/// The value called `text`, where values count from 0 in the order of their names. Errors (input): an unknown name.
template <class Enum>
Result<Enum> parse_name(std::string_view text, std::span<const std::string_view> names, std::string_view noun,
                        const Place& place) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) return unknown_word(text, noun, names, place);
  return static_cast<Enum>(found - names.begin());
}

}  // namespace tenex
