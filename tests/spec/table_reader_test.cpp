// Reading tables: all mistakes of a table are reported at once, each at its place.
#include "tenex/spec/table_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenex {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Node parse_node(std::string_view text) { return parse_toml(text, "s.toml").value(); }

TEST(TableReader, ReadsKnownKeys) {
  const Node root = parse_node(
      "name = \"x\"\nchunks = 3\nfactor = 2\noverlap = true\nalpha = \"0.5us\"\nsize = \"1MiB\"\n"
      "bandwidth = \"50GB/s\"\nkeep = [\"a = 1\", \"b = 2\"]\nstore = \"links\"\n");
  TableReader reader(root, "", {"name", "chunks", "factor", "overlap", "alpha", "size", "bandwidth", "keep", "store"});
  EXPECT_EQ(reader.string("name"), "x");
  EXPECT_EQ(reader.integer("chunks"), 3);
  EXPECT_EQ(reader.real("factor"), 2.0);
  EXPECT_EQ(reader.boolean("overlap"), true);
  EXPECT_EQ(reader.time("alpha"), nanoseconds(500));
  EXPECT_EQ(reader.size("size"), mebibytes(1));
  EXPECT_EQ(reader.bandwidth("bandwidth"), gigabytes_per_second(50));
  EXPECT_THAT(reader.strings("keep"), ElementsAre("a = 1", "b = 2"));
  EXPECT_THAT(reader.strings("store"), ElementsAre("links"));
  EXPECT_EQ(reader.array("keep").size(), 2U);
  EXPECT_FALSE(reader.failed()) << to_string(reader.errors());
}

TEST(TableReader, FallsBackWhereAKeyIsAbsent) {
  const Node root = parse_node("");
  TableReader reader(root, "", {"name"});
  EXPECT_EQ(reader.string("name"), std::nullopt);
  EXPECT_EQ(reader.string_or("name", "none"), "none");
  EXPECT_EQ(reader.integer_or("chunks", 4), 4);
  EXPECT_TRUE(reader.boolean_or("overlap", true));
  EXPECT_THAT(reader.strings("keep"), IsEmpty());
  EXPECT_FALSE(reader.failed());
}

TEST(TableReader, ReportsUnknownKeysWithTheNearestSpelling) {
  const Node root = parse_node("[defaults]\nchunk = 1\nfrobnicate = 2\n");
  TableReader reader(*root.find("defaults"), "[defaults]", {"chunks", "size"});
  EXPECT_EQ(to_string(reader.errors()),
            "s.toml:2:1: unknown key \"chunk\" ([defaults] may have chunks, size) did you mean \"chunks\"?\n"
            "s.toml:3:1: unknown key \"frobnicate\" ([defaults] may have chunks, size)");
}

TEST(TableReader, CollectsEveryMistake) {
  const Node root = parse_node("chunks = \"3\"\nalpha = 5\nsizes = 1\n");
  TableReader reader(root, "", {"chunks", "alpha", "size"});
  EXPECT_EQ(reader.integer("chunks"), std::nullopt);
  EXPECT_EQ(reader.time("alpha"), std::nullopt);
  reader.fail(input_error({"s.toml", 9, 9}, "one of the caller's own"));
  EXPECT_EQ(to_string(reader.take_errors()),
            "s.toml:3:1: unknown key \"sizes\" (the document may have chunks, alpha, size) did you mean \"size\"?\n"
            "s.toml:1:10: \"chunks\" is a string (an integer belongs here)\n"
            "s.toml:2:9: \"alpha\" is 5 without a unit (a time is a string with a unit) write for instance \"5us\"\n"
            "s.toml:9:9: one of the caller's own");
}

TEST(TableReader, ReportsMissingKeys) {
  const Node root = parse_node("[a]\nx = 1\n");
  TableReader reader(*root.find("a"), "[a]", {"x", "name"});
  EXPECT_NE(reader.require("x"), nullptr);
  EXPECT_EQ(reader.require("name"), nullptr);
  EXPECT_EQ(to_string(reader.errors()), "s.toml:1:1: the key \"name\" is missing ([a] needs it)");
}

TEST(TableReader, ReportsWhatIsNoTable) {
  const Node root = parse_node("defaults = 3\n");
  TableReader reader(*root.find("defaults"), "[defaults]", {"x"});
  EXPECT_EQ(reader.require("x"), nullptr);  // not reported again
  EXPECT_EQ(to_string(reader.errors()), "s.toml:1:12: [defaults] is an integer (a table belongs here)");
}

TEST(TableReader, ReportsItemsThatAreNoStrings) {
  const Node root = parse_node("keep = [\"a\", 2, true]\n");
  TableReader reader(root, "", {"keep"});
  EXPECT_THAT(reader.strings("keep"), ElementsAre("a"));
  EXPECT_EQ(to_string(reader.errors()),
            "s.toml:1:14: \"keep\" is an integer (a string belongs here)\n"
            "s.toml:1:17: \"keep\" is a boolean (a string belongs here)");
}

TEST(AsQuantity, PointsInsideTheQuotes) {
  const Node root = parse_node("alpha = \"5\"\nsize = 1.5\nrate = []\n");
  EXPECT_THAT(to_string(as_time(*root.find("alpha"), "alpha").errors()), HasSubstr("s.toml:1:10: \"5\" has no unit"));
  EXPECT_THAT(to_string(as_bytes(*root.find("size"), "size").errors()),
              HasSubstr("s.toml:2:8: \"size\" is 1.5 without a unit"));
  EXPECT_EQ(to_string(as_bandwidth(*root.find("rate"), "rate").errors()),
            "s.toml:3:8: \"rate\" is an array (a bandwidth is a string with a unit) write for instance rate = "
            "\"1GB/s\"");
}

}  // namespace
}  // namespace tenex
