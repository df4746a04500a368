#include "option_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tenex/base/decimal.hpp"
#include "tenex/base/units.hpp"
#include "tenex/base/words.hpp"

namespace tenex::cli {
namespace {

/// What a check packed(), after the parser's "--option: ".
Diagnostic unpacked(const std::string& place, std::string_view what) {
  const auto first = what.find('\n');
  const auto second = what.find('\n', first + 1);
  const auto head = what.substr(0, first);
  const auto colon = head.find(": ");
  const bool of_option = head.starts_with("--") && colon != std::string_view::npos;
  return input_error({of_option ? std::string(head.substr(0, colon)) : place, 0, 0},
                     std::string(colon == std::string_view::npos ? head : head.substr(colon + 2)),
                     std::string(what.substr(first + 1, second - first - 1)), std::string(what.substr(second + 1)));
}

}  // namespace

std::string packed(const Diagnostic& error) {
  return fmt::format("{}\n{}\n{}", error.problem, error.why, error.suggestion);
}

OptionCheck one_of_words(const char* noun, std::vector<std::string> words) {
  return [noun, words = std::move(words)](std::string& text) {
    if (std::ranges::count(words, text) > 0) return std::string();
    const std::vector<std::string_view> known(words.begin(), words.end());
    auto error = unknown_word(text, noun, known, {});
    if (error.suggestion.empty()) error.suggestion = "give one of them";
    error.why = fmt::format("it is one of {}", join(known));
    return packed(error);
  };
}

std::vector<std::string> words_in(std::string_view description) {
  std::vector<std::string> words;
  const auto open = description.find('{');
  const auto close = description.find('}', open);
  if (open == std::string_view::npos || close == std::string_view::npos) return words;
  for (auto at = open + 1; at <= close;) {
    const auto end = std::min(description.find(',', at), close);
    words.emplace_back(description.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

OptionCheck whole_number(std::int64_t least, std::int64_t most) {
  return [least, most](std::string& text) {
    const auto number = read_number<std::int64_t>(text);
    if (number && *number >= least && *number <= most) return std::string();
    return packed(input_error({},
                              fmt::format("\"{}\" is {}", shortened(text), number ? "out of range" : "no whole number"),
                              fmt::format("it is from {} to {}", least, most), "give a number in this range"));
  };
}

std::string check_named(const std::string& text) {
  return text.empty()
             ? packed(input_error({}, "an empty name", "it may be a shell's variable that is not set", "give a name"))
             : std::string();
}

std::string check_silence(const std::string& text) {
  const auto silence = parse_time(text);
  if (!silence) return packed(silence.errors().front());
  if (*silence >= picoseconds(1'000'000'000'000)) return {};
  return packed(input_error({}, text + " is too short", "a rank sends twelve messages in it", "give 1s or more"));
}

std::string check_key(const std::string& text) {
  const bool hex = text.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (hex && !text.empty() && text.size() <= 32) return {};
  return packed(input_error({}, fmt::format("\"{}\" is no key", shortened(text)),
                            "a key is up to 32 hexadecimal digits",
                            "the column `key` has them; the first digits are enough"));
}

Diagnostic unknown_command(std::string_view word, const std::vector<std::string_view>& commands) {
  const auto nearest = did_you_mean(word, commands);
  return input_error({"tenex", 0, 0}, fmt::format("unknown command \"{}\"", shortened(word)), {},
                     nearest.empty() ? "`tenex help` lists the commands" : nearest);
}

Diagnostics usage_errors(const std::string& place, const std::vector<std::string>& unknown,
                         const std::vector<std::string>& known, std::string_view what) {
  const std::string fallback = fmt::format("`{} --help` shows the options", place);
  const std::vector<std::string_view> names(known.begin(), known.end());
  Diagnostics errors;
  for (const auto& word : unknown) {
    if (!word.starts_with("--") || word == "--") continue;
    const std::string option = word.substr(0, word.find('='));
    const auto nearest = did_you_mean(option, names);
    errors.push_back(input_error({place, 0, 0}, fmt::format("unknown option \"{}\"", option), {},
                                 nearest.empty() ? fallback : nearest));
  }
  if (!errors.empty()) return errors;
  if (std::ranges::count(what, '\n') == 2) return {unpacked(place, what)};
  return {input_error({place, 0, 0}, std::string(what), {}, fallback)};
}

}  // namespace tenex::cli
