// Lists of words, spelling suggestions, and names of enumerations.
#include "tenex/base/words.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

namespace tenex {
namespace {

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  return nearest_spelling(word, candidates);
}

TEST(NearestSpelling, FindsTheNearest) {
  const std::vector<std::string_view> keys{"collective", "size", "chunks", "algorithm"};
  EXPECT_EQ(nearest("chunk", keys), "chunks");  // one letter missing
  EXPECT_EQ(nearest("szie", keys), "size");     // two letters swapped
  EXPECT_EQ(nearest("algoritm", keys), "algorithm");
  EXPECT_EQ(nearest("colective", keys), "collective");
  EXPECT_EQ(nearest("size", keys), "size");
}

TEST(NearestSpelling, IgnoresLetterCaseFirst) {
  EXPECT_EQ(nearest("TACOS", {"ring", "tacos"}), "tacos");
  EXPECT_EQ(nearest("Gb", {"GB", "gb"}), "GB");  // equally far: the first
  EXPECT_EQ(nearest("gb", {"GB", "gb"}), "gb");
}

TEST(NearestSpelling, IsEmptyWhenNoneIsNear) {
  EXPECT_EQ(nearest("frobnicate", {"size", "chunks"}), "");
  EXPECT_EQ(nearest("x", {"n"}), "");  // one edit, but nothing in common
  EXPECT_EQ(nearest("size", {}), "");
  // Distance 2 of 4 letters is over a third (and over 1).
  EXPECT_EQ(nearest("sine", {"mile"}), "");
}

TEST(NearestSpelling, CountsLettersAndNotTheirBytes) {
  EXPECT_EQ(nearest("m\xc3\xabsh", {"mesh", "ring"}), "mesh");  // one letter of two bytes
}

TEST(Shortened, EndsAfterAWholeLetter) {
  // 59 letters and one of two bytes: the 60th byte is its first.
  const std::string letters(59, 'x');
  const std::string text = fmt::format("{}\xc3\xabyz", letters);
  EXPECT_EQ(shortened(text), fmt::format("{}...", letters));
  EXPECT_EQ(beginning(text, 61), fmt::format("{}\xc3\xab", letters));
  EXPECT_EQ(beginning("abc", 3), "abc");
  EXPECT_EQ(beginning("\x80\x80\x80\x80\x80\x80", 3), "\x80\x80\x80");  // no UTF-8
  EXPECT_EQ(first_letter("\xc3\xabsh"), "\xc3\xab");
  EXPECT_EQ(first_letter("mesh"), "m");
  EXPECT_EQ(first_letter(""), "");
}

TEST(Counted, HasAPluralFromTwoOn) {
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(0, "rank"), "0 ranks");
  EXPECT_EQ(counted(2, "thread"), "2 threads");
}

TEST(ParseName, CountsNamesFromZero) {
  enum class Level { low, mid, high };
  constexpr std::array<std::string_view, 3> names{"low", "mid", "high"};
  EXPECT_EQ(*parse_name<Level>("high", names, "level", {}), Level::high);
  EXPECT_EQ(to_string(parse_name<Level>("hihg", names, "level", {"s.toml", 1, 2}).errors()),
            "s.toml:1:2: unknown level \"hihg\" (it is one of low, mid, high) did you mean \"high\"?");
}

TEST(UnknownWord, IsToldOnlyTheNearestOfMany) {
  const std::vector<std::string_view> many{"a1", "b2", "c3",  "d4",  "e5",     "f6",  "g7",
                                           "h8", "i9", "j10", "k11", "chunks", "size"};
  EXPECT_EQ(to_string(unknown_word("chunk", "word", many, {})), "unknown word \"chunk\" did you mean \"chunks\"?");
  EXPECT_EQ(to_string(unknown_word("other", "word", many, {})),
            "unknown word \"other\" (it is one of " + join(many) + ")");
}

TEST(UnknownWord, IsShownCut) {
  const std::array<std::string_view, 1> known{"a"};
  EXPECT_EQ(unknown_word(std::string(70, 'x'), "word", known, {}).problem,
            "unknown word \"" + std::string(60, 'x') + "...\"");
}

}  // namespace
}  // namespace tenex
