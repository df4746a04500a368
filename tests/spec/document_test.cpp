// TOML documents: written order, places, syntax errors and files that cannot be read.
#include "tenex/spec/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tenex {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Place at(std::uint32_t line, std::uint32_t column) { return {"s.toml", line, column}; }

Node parse(std::string_view text) { return parse_toml(text, "s.toml").value(); }

std::string error_of(std::string_view text) {
  const Result<Node> result = parse_toml(text, "s.toml");
  return result ? "no error" : to_string(result.errors());
}

std::vector<std::string> keys_of(const Node& table) {
  std::vector<std::string> keys;
  for (const Entry& entry : table.entries()) keys.push_back(entry.key);
  return keys;
}

/// A file that is removed with the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content)
      : path_(std::filesystem::path(testing::TempDir()) /
              (std::string("tenex_") + testing::UnitTest::GetInstance()->current_test_info()->name() + ".toml")) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(ParseToml, HoldsEveryKindOfValue) {
  const Node root = parse("a = 1\nb = 1.5\nc = true\nd = \"x\"\ne = [1, 2]\nf = { g = 1 }\nh = 1979-05-27\n");
  EXPECT_EQ(root.find("a")->integer(), 1);
  EXPECT_EQ(root.find("b")->real(), 1.5);
  EXPECT_TRUE(root.find("c")->boolean());
  EXPECT_EQ(root.find("d")->text(), "x");
  EXPECT_EQ(root.find("e")->items().size(), 2U);
  EXPECT_EQ(root.find("f")->find("g")->integer(), 1);
  EXPECT_EQ(root.find("h")->kind(), NodeKind::other);
  EXPECT_EQ(root.find("missing"), nullptr);
  EXPECT_EQ(root.find("a")->find("missing"), nullptr);
}

TEST(ParseToml, KeepsTheWrittenOrder) {
  const Node root = parse(
      "zebra = 1\napple = 2\n"
      "[[sweep]]\naxes.size = [1]\naxes.chunks = [2]\nzip.b = 1\nzip.a = 2\naxes.collective = [3]\n"
      "[outputs]\n[defaults]\nbeta = 1\nalpha = { z = 1, y = 2 }\n");
  EXPECT_THAT(keys_of(root), ElementsAre("zebra", "apple", "sweep", "outputs", "defaults"));
  const Node& sweep = root.find("sweep")->items().at(0);
  EXPECT_THAT(keys_of(sweep), ElementsAre("axes", "zip"));
  EXPECT_THAT(keys_of(*sweep.find("axes")), ElementsAre("size", "chunks", "collective"));
  EXPECT_THAT(keys_of(*sweep.find("zip")), ElementsAre("b", "a"));
  EXPECT_THAT(keys_of(*root.find("defaults")), ElementsAre("beta", "alpha"));
  EXPECT_THAT(keys_of(*root.find("defaults")->find("alpha")), ElementsAre("z", "y"));
}

TEST(ParseToml, KeepsTheOrderOfSweeps) {
  const Node root = parse("[[sweep]]\nname = \"b\"\n[[sweep]]\nname = \"a\"\n");
  const auto& sweeps = root.find("sweep")->items();
  ASSERT_EQ(sweeps.size(), 2U);
  EXPECT_EQ(sweeps[0].find("name")->text(), "b");
  EXPECT_EQ(sweeps[1].find("name")->text(), "a");
}

TEST(ParseToml, KnowsWhereKeysAndValuesStand) {
  //                       column: 1234567890123456
  const Node root = parse("schema = 1\n  name = \"x\"\n[[sweep]]\naxes.size = [\"1KiB\", \"2KiB\"]\n");
  EXPECT_EQ(root.place(), at(1, 1));
  EXPECT_EQ(root.find_entry("schema")->key_place, at(1, 1));
  EXPECT_EQ(root.find("schema")->place(), at(1, 10));
  EXPECT_EQ(root.find_entry("name")->key_place, at(2, 3));
  const Node& axes = *root.find("sweep")->items().at(0).find("axes");
  EXPECT_EQ(axes.find_entry("size")->key_place, at(4, 6));
  EXPECT_EQ(axes.find("size")->place(), at(4, 13));
  EXPECT_EQ(axes.find("size")->items().at(1).place(), at(4, 22));
}

TEST(ParseToml, KnowsWhereTheTextOfAStringStarts) {
  const Node root = parse("a = \"x\"\nb = 'x'\nc = \"\"\"x\"\"\"\nd = '''\nx'''\ne = \"\"\n");
  EXPECT_EQ(root.find("a")->place(), at(1, 5));
  EXPECT_EQ(root.find("a")->text_place(), at(1, 6));
  EXPECT_EQ(root.find("b")->text_place(), at(2, 6));
  EXPECT_EQ(root.find("c")->text_place(), at(3, 8));
  EXPECT_EQ(root.find("d")->text_place(), at(5, 1));  // after the newline that TOML drops
  EXPECT_EQ(root.find("e")->text_place(), at(6, 6));
}

TEST(ParseToml, CountsCharactersNotBytes) {
  // The e with an accent is two bytes and one column: the quote of b's value stands in column 17.
  const Node root = parse("a = { \"é\" = 1, b = \"x\" }\n");
  EXPECT_EQ(root.find("a")->find("b")->text_place(), at(1, 21));
  EXPECT_EQ(parse("\xEF\xBB\xBF"
                  "a = \"x\"\n")
                .find("a")
                ->text_place(),
            at(1, 6));  // a byte order mark has no column
}

TEST(ParseToml, AcceptsAnEmptyDocument) { EXPECT_TRUE(parse("").entries().empty()); }

TEST(ParseToml, ReportsSyntaxErrorsAtTheirPlace) {
  EXPECT_THAT(error_of("x = [1, 2"), AllOf(StartsWith("s.toml:1:10: TOML syntax error: "), HasSubstr("array")));
  EXPECT_THAT(error_of("a = 1\nx = \n"), StartsWith("s.toml:2:"));
  EXPECT_THAT(error_of("a = 1 b = 2"), StartsWith("s.toml:1:7: "));
  EXPECT_THAT(error_of("= 3"), StartsWith("s.toml:1:1: "));
}

TEST(ParseToml, RemindsOfQuotesAroundQuantities) {
  EXPECT_THAT(error_of("size = 1GiB"), AllOf(StartsWith("s.toml:1:9: "), HasSubstr("stand in quotes")));
  EXPECT_THAT(error_of("name = ring"), HasSubstr("stand in quotes"));
}

TEST(ParseToml, ReportsDuplicateKeysAtTheSecond) {
  EXPECT_EQ(error_of("size = 1\nsize = 2\n"),
            "s.toml:2:1: the key \"size\" is given twice (a key has one value in a table) remove one of the two");
  EXPECT_THAT(error_of("x = { b = 1, b = 2 }"), StartsWith("s.toml:1:14: the key \"b\" is given twice"));
  EXPECT_THAT(error_of("[outputs]\n[outputs]\n"), StartsWith("s.toml:2:1: the key \"outputs\" is given twice"));
}

TEST(ParseToml, ReportsInvalidUtf8) {
  EXPECT_THAT(error_of("a = 1\nx = \"\xff\"\n"), AllOf(StartsWith("s.toml:2:"), HasSubstr("not valid UTF-8")));
  EXPECT_THAT(error_of("# \xc3\x28\n"), HasSubstr("not valid UTF-8"));
}

TEST(ParseToml, FindsATextThatDoesNotEnd) {
  EXPECT_EQ(error_of("a = \"b\"\nc = \"d\ne = 1\n"),
            "s.toml:2:5: a text has no closing quote (a text ends on the line on which it begins) "
            "write \" where it ends");
  EXPECT_THAT(error_of("c = \"d"), StartsWith("s.toml:1:5: a text has no closing quote"));
  EXPECT_THAT(error_of("c = 'it"), AllOf(StartsWith("s.toml:1:5: a text has no closing quote"), HasSubstr("write '")));
  // The second quote of the line is escaped, the third closes, the fourth opens.
  EXPECT_THAT(error_of("c = [\"a\\\"b\", \"d]\n"), StartsWith("s.toml:1:14: a text has no closing quote"));
}

TEST(ParseToml, RefusesIntegersBeyond64Bits) {
  EXPECT_THAT(error_of("x = 99999999999999999999"), AllOf(StartsWith("s.toml:1:"), HasSubstr("64 bits")));
}

TEST(ParseToml, SurvivesDeepNesting) { EXPECT_THAT(error_of("x = " + std::string(1'000, '[')), HasSubstr("depth")); }

TEST(ReadTomlFile, ReadsAFile) {
  const TemporaryFile file("schema = 1\n");
  const Node root = read_toml_file(file.path()).value();
  EXPECT_EQ(root.find("schema")->integer(), 1);
  EXPECT_EQ(root.find("schema")->place().file, file.path().string());
}

TEST(ReadTomlFile, NamesAMissingFile) {
  const auto errors = read_toml_file("no/such/study.toml").errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].fault, Fault::environment);
  EXPECT_EQ(to_string(errors[0]), "cannot read \"no/such/study.toml\" (No such file or directory)");
}

TEST(ReadTomlFile, RefusesADirectory) {
  const auto errors = read_toml_file(testing::TempDir()).errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_THAT(to_string(errors[0]), HasSubstr("it is a directory"));
}

TEST(ReadTomlFile, RefusesAnEndlessFile) {
  if (!std::filesystem::exists("/dev/zero")) GTEST_SKIP() << "no /dev/zero on this system";
  EXPECT_THAT(to_string(read_toml_file("/dev/zero").errors()), HasSubstr("larger than"));
}

TEST(ReadTomlFile, RefusesABinaryFile) {
  const TemporaryFile file(std::string_view("\x89HDF\r\n\x1a\n\0\0", 10));
  EXPECT_THAT(to_string(read_toml_file(file.path()).errors()), StartsWith(file.path().string() + ":1:"));
}

TEST(PlaceWithin, CountsLinesAndCharacters) {
  EXPECT_EQ(place_within(at(3, 10), "chunks = 1", 7), at(3, 17));
  EXPECT_EQ(place_within(at(3, 10), "a\nbc", 3), at(4, 2));
  EXPECT_EQ(place_within(at(3, 10), "éa", 2), at(3, 11));
  EXPECT_EQ(place_within(at(3, 10), "ab", 99), at(3, 12));  // past the end: just behind it
  EXPECT_EQ(place_within({}, "ab", 1), Place{});            // an unknown place stays unknown
}

TEST(Node, ThrowsWhenReadAsAnotherKind) {
  const Node number = Node::make_integer({}, 1);
  EXPECT_THROW(static_cast<void>(number.text()), InvariantError);
  EXPECT_THROW(static_cast<void>(number.entries()), InvariantError);
}

TEST(TypedAccess, GivesTheValue) {
  EXPECT_EQ(*as_string(Node::make_string({}, "x", {}), "k"), "x");
  EXPECT_EQ(*as_integer(Node::make_integer({}, 4), "k"), 4);
  EXPECT_EQ(*as_real(Node::make_real({}, 4.5), "k"), 4.5);
  EXPECT_EQ(*as_real(Node::make_integer({}, 4), "k"), 4.0);
  EXPECT_TRUE(*as_boolean(Node::make_boolean({}, true), "k"));
}

TEST(TypedAccess, NamesBothKindsWhenTheyDiffer) {
  const Node root = parse("chunks = \"3\"\nname = 3\nkeep = true\n");
  EXPECT_EQ(to_string(as_integer(*root.find("chunks"), "chunks").errors()),
            "s.toml:1:10: \"chunks\" is a string (an integer belongs here)");
  EXPECT_EQ(to_string(as_string(*root.find("name"), "name").errors()),
            "s.toml:2:8: \"name\" is an integer (a string belongs here)");
  EXPECT_EQ(to_string(as_array(*root.find("keep"), "keep").errors()),
            "s.toml:3:8: \"keep\" is a boolean (an array belongs here)");
  EXPECT_FALSE(as_table(*root.find("keep"), "keep").ok());
  EXPECT_FALSE(as_boolean(*root.find("name"), "name").ok());
  EXPECT_FALSE(as_real(*root.find("chunks"), "chunks").ok());
}

}  // namespace
}  // namespace tenex
