// Lists of words and similar spellings.
#include "tenex/base/words.hpp"

#include <cstddef>
#include <numeric>
#include <utility>

#include <fmt/ranges.h>

namespace tenex {

namespace {

constexpr std::size_t kLongestLetter = 4;  // bytes of a letter in UTF-8

/// Whether the byte continues a letter of UTF-8.
bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

char to_lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

/// In lower case, with one byte for each letter: "m\xC3sh" for "mësh", which is one letter away from "mesh".
std::string folded(std::string_view word) {
  std::string text(word);
  std::erase_if(text, continues);
  std::transform(text.begin(), text.end(), text.begin(), to_lower);
  return text;
}

/// Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours cost 1 each.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({above[j] + 1, current[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    before.swap(above);
    above.swap(current);
  }
  return above[b.size()];
}

/// Whether the word is one of the parts between underscores of the candidate: "h100" of "dgx_h100".
bool is_part(std::string_view word, std::string_view candidate) {
  for (std::size_t at = 0; at < candidate.size();) {
    const auto end = std::min(candidate.find('_', at), candidate.size());
    if (candidate.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

std::string_view beginning(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && most - end < kLongestLetter && continues(text[end])) --end;
  return text.substr(0, continues(text[end]) ? most : end);  // of a text that is no UTF-8: any bytes
}

std::string_view first_letter(std::string_view text) {
  std::size_t end = text.empty() ? 0 : 1;
  while (end < std::min(text.size(), kLongestLetter) && continues(text[end])) ++end;
  return text.substr(0, end);
}

std::string shortened(std::string_view text) {
  constexpr std::size_t kMost = 60;
  return text.size() <= kMost ? std::string(text) : fmt::format("{}...", beginning(text, kMost));
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string join(std::span<const std::string_view> words) { return fmt::format("{}", fmt::join(words, ", ")); }

std::string_view nearest_spelling(std::string_view word, std::span<const std::string_view> candidates) {
  const std::size_t limit = std::max<std::size_t>(1, word.size() / 3);
  const std::string lower_word = folded(word);
  std::string_view best;
  std::pair<std::size_t, std::size_t> best_distance{limit + 1, 0};
  for (const std::string_view candidate : candidates) {
    // Letter case counts only between candidates that are otherwise equally near: "TACOS" is near "tacos".
    const std::pair distance{edit_distance(lower_word, folded(candidate)), edit_distance(word, candidate)};
    const bool shares_a_letter = distance.first < std::max(word.size(), candidate.size());
    if (shares_a_letter && distance.first <= limit && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  constexpr std::size_t kLeastPart = 3;
  if (!best.empty() || word.size() < kLeastPart) return best;
  const auto found = std::ranges::find_if(candidates, [&](auto candidate) { return is_part(lower_word, candidate); });
  return found == candidates.end() ? std::string_view() : *found;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  const auto near = nearest_spelling(word, candidates);
  return near.empty() ? std::string() : fmt::format("did you mean \"{}\"?", near);
}

std::string listed_unless_near(std::string_view intro, std::string_view word, std::span<const std::string_view> known) {
  const bool lists = known.size() <= kFewWords || nearest_spelling(word, known).empty();
  return lists ? fmt::format("{} {}", intro, join(known)) : std::string();
}

Diagnostic unknown_word(std::string_view word, std::string_view noun, std::span<const std::string_view> known,
                        const Place& place) {
  return input_error(place, fmt::format("unknown {} \"{}\"", noun, shortened(word)),
                     listed_unless_near("it is one of", word, known), did_you_mean(word, known));
}

}  // namespace tenex
