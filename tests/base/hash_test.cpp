// Digests: the published answers of XXH3, and how digests print.
#include "tenex/base/hash.hpp"

#include <gtest/gtest.h>

namespace tenex {
namespace {

TEST(Digest, MatchesTheDigestsOfTheEmptyText) {
  // XXH3's answers for no bytes and seed 0 (xxhsum -H3 and -H128 of an empty file).
  EXPECT_EQ(digest64(""), 0x2d06800538d394c2U);
  EXPECT_EQ(to_string(digest128("")), "99aa06d3014798d86001c324468d497f");
}

TEST(Digest, PrintsTheHighHalfFirstWithAllItsZeros) {
  EXPECT_EQ(to_string(Digest{.high = 0x1, .low = 0xab}), "000000000000000100000000000000ab");
}

TEST(Digest, OrdersByTheHighHalfFirst) {
  EXPECT_LT((Digest{.high = 1, .low = 9}), (Digest{.high = 2, .low = 0}));
  EXPECT_LT((Digest{.high = 1, .low = 0}), (Digest{.high = 1, .low = 9}));
}

TEST(Digest, DependsOnEveryByteAndOnTheSeed) {
  EXPECT_NE(digest128("size=1"), digest128("size=2"));
  EXPECT_NE(digest64("size=1"), digest64("size=2"));
  EXPECT_NE(digest64("size=1", 1), digest64("size=1", 2));
  EXPECT_EQ(digest64("size=1", 1), digest64("size=1", 1));
  using namespace std::string_view_literals;
  EXPECT_NE(digest128("a\0b"sv), digest128("a\0c"sv));  // bytes, not a C string
}

}  // namespace
}  // namespace tenex
