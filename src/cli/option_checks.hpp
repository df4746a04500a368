// Internal to cli: checks of options' values, and what is said of wrong options. The parser lets a check return one
// text, so a problem, its reason and its remedy travel in its lines.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"

namespace tenex::cli {

/// Returns "" for a good value, else packed(); the value stays as it is.
using OptionCheck = std::function<std::string(std::string& text)>;

/// The error's problem, reason and remedy in three lines.
[[nodiscard]] std::string packed(const Diagnostic& error);

/// A check by a parser of texts, whose first error it tells.
template <class Parse>
std::function<std::string(const std::string&)> as_parsed(Parse parse) {
  return [parse](const std::string& text) {
    const auto value = parse(text);
    return value ? std::string() : packed(value.errors().front());
  };
}

/// One of these words; `noun` says what they name.
[[nodiscard]] OptionCheck one_of_words(const char* noun, std::vector<std::string> words);
/// The words of a check that describes itself as "{a,b}", wherever the braces stand in the text.
[[nodiscard]] std::vector<std::string> words_in(std::string_view description);
/// A whole number from `least` to `most`.
[[nodiscard]] OptionCheck whole_number(std::int64_t least, std::int64_t most);
/// A name: `--out "$OUT"` with an unset variable is an error, and not the same as no --out.
[[nodiscard]] std::string check_named(const std::string& text);
/// How long a rank may be silent: a time of a second or more.
[[nodiscard]] std::string check_silence(const std::string& text);
/// The key of a point, or its first digits.
[[nodiscard]] std::string check_key(const std::string& text);

/// A first word that is no command.
[[nodiscard]] Diagnostic unknown_command(std::string_view word, const std::vector<std::string_view>& commands);
/// What is wrong with the words of a command (`place`: "tenex run"): each unknown option, with the nearest of `known`;
/// or else what the parser says, which begins with the option's name where a check refused its value. Unknown options
/// come first because what is missing may be what they mean.
[[nodiscard]] Diagnostics usage_errors(const std::string& place, const std::vector<std::string>& unknown,
                                       const std::vector<std::string>& known, std::string_view what);

}  // namespace tenex::cli
