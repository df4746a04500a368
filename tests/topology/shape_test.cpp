// The shape notation: what it accepts, how it prints, and how it refuses.
#include "tenex/topology/shape.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/topologies.hpp"

namespace tenex {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string canonical(std::string_view text) { return to_string(parse_shape(text).value()); }

/// The whole message of the first error, with its place.
std::string refusal(std::string_view text, Place place = {"study.toml", 7, 20}) {
  const auto shape = parse_shape(text, place);
  return shape ? "accepted as " + to_string(*shape) : to_string(shape.errors().front());
}

TEST(Shape, KeepsProductsOfBlocksAsWritten) {
  const Shape shape = parse_shape("RI(4)_FC(8)_LI(3)_SW(32)").value();
  EXPECT_THAT(shape.blocks, ElementsAre(support::block("RI", 4), support::block("FC", 8), support::block("LI", 3),
                                        support::block("SW", 32)));
  EXPECT_EQ(shape.npus(), 4U * 8 * 3 * 32);
  EXPECT_TRUE(shape.is_product());
  EXPECT_EQ(to_string(shape), "RI(4)_FC(8)_LI(3)_SW(32)");
}

TEST(Shape, TakesLongNamesOfBlocks) {
  EXPECT_EQ(canonical("ring(4)_fully_connected(8)_line(3)_switch(32,8:2)"), "RI(4)_FC(8)_LI(3)_SW(32,8:2)");
  for (const BlockRule* rule : block_rules())
    EXPECT_EQ(canonical(std::string(rule->long_name) + "(4)"), std::string(rule->name) + "(4)");
}

TEST(Shape, ExpandsEveryAlias) {
  EXPECT_EQ(canonical("mesh(10,10)"), "LI(10)_LI(10)");
  EXPECT_EQ(canonical("grid(5,5,5)"), "LI(5)_LI(5)_LI(5)");
  EXPECT_EQ(canonical("torus(4,4,4)"), "RI(4)_RI(4)_RI(4)");
  EXPECT_EQ(canonical("hypercube(3)"), "RI(2)_RI(2)_RI(2)");
  EXPECT_EQ(canonical("hyperx(4,3)"), "FC(4)_FC(3)");
  EXPECT_EQ(canonical("flattened_butterfly(4,3)"), "FC(4)_FC(4)_FC(4)");
  EXPECT_EQ(canonical("multi_rail(8,64)"), "SW(8)_SW(64)");
  EXPECT_EQ(canonical("dragonfly(4,5)"), "dragonfly(4,5)");
}

TEST(Shape, KeepsFamiliesByName) {
  EXPECT_EQ(canonical(" fat_tree ( 16 ) "), "fat_tree(16)");
  EXPECT_EQ(canonical("leaf_spine( 32,16,8)"), "leaf_spine(32,16,8)");
  EXPECT_EQ(canonical("rail_spine(8,4,2)"), "rail_spine(8,4,2)");
  EXPECT_EQ(canonical("slim_fly(5)"), "slim_fly(5)");
}

TEST(Shape, JoinsProductAliasesWithBlocks) {
  EXPECT_EQ(canonical("mesh(2,3)_SW(4)"), "LI(2)_LI(3)_SW(4)");
  EXPECT_EQ(canonical("FC(4)_hypercube(2)"), "FC(4)_RI(2)_RI(2)");
}

TEST(Shape, AllowsBlanksAroundParts) { EXPECT_EQ(canonical("  mesh( 10, 10 ) _ RI( 2 ) "), "LI(10)_LI(10)_RI(2)"); }

TEST(Shape, AllowsBlocksOfOneNpu) { EXPECT_EQ(parse_shape("RI(1)_FC(1)_LI(1)_SW(1)").value().npus(), 1U); }

TEST(Shape, KnowsThatADragonflyIsNoProduct) {
  const Shape shape = parse_shape("dragonfly(4,5)").value();
  EXPECT_FALSE(shape.is_product());
  EXPECT_EQ(shape.npus(), 20U);
  EXPECT_EQ(shape.dimensions(), 2U);
}

TEST(Shape, ParsesItsOwnCanonicalText) {
  for (const auto text : {"RI(4)_FC(8)_SW(32)", "mesh(3,4)", "hypercube(5)", "dragonfly(3,7)", "LI(1)", "fat_tree(4)",
                          "leaf_spine(4,3,2)", "rail_spine(4,3,2)", "slim_fly(9)", "multi_rail(4,2)"}) {
    const Shape shape = parse_shape(text).value();
    EXPECT_EQ(parse_shape(to_string(shape)).value(), shape) << text;
  }
}

TEST(Shape, LetsDimensionOneVaryFastest) {
  // In RI(4)_FC(3)_SW(2), NPU 17 = 1 + 4 * (1 + 3 * 1).
  const Shape shape = parse_shape("RI(4)_FC(3)_SW(2)").value();
  EXPECT_THAT(coordinates_of(shape, NpuId(17)), ElementsAre(1, 1, 1));
  EXPECT_THAT(coordinates_of(shape, NpuId(3)), ElementsAre(3, 0, 0));
  EXPECT_THAT(coordinates_of(shape, NpuId(4)), ElementsAre(0, 1, 0));
  for (std::uint32_t npu = 0; npu < shape.npus(); ++npu) {
    EXPECT_EQ(npu_at(shape, coordinates_of(shape, NpuId(npu))), NpuId(npu));
  }
}

TEST(Shape, SuggestsTheNearestSpellingWithItsPlace) {
  // "RI(4)_" has six letters, so the unknown name stands six columns after the text's own place.
  EXPECT_THAT(refusal("RI(4)_fc(8)"), HasSubstr("study.toml:7:26: unknown block \"fc\""));
  EXPECT_THAT(refusal("m\xc3\xabsh(4,4)"),
              AllOf(HasSubstr("unknown block \"m\xc3\xabsh\""), HasSubstr("did you mean \"mesh\"?")));
  EXPECT_THAT(refusal("clos(4,4)"), HasSubstr("write fat_tree(k) or leaf_spine(n,l,s), or state the links"));
  EXPECT_THAT(refusal("crossbar(8)"), HasSubstr("write SW(k) or SW(k,l,..)"));
  EXPECT_THAT(refusal("xyz(8)"), HasSubstr("`tenex list topologies` shows every one"));
  EXPECT_THAT(refusal("RI(4)_fc(8)"), HasSubstr("did you mean \"FC\"?"));
  EXPECT_THAT(refusal("Mesh(10,10)"), HasSubstr("did you mean \"mesh\"?"));
  EXPECT_THAT(refusal("tours(4,4)"), HasSubstr("did you mean \"torus\"?"));
  EXPECT_THAT(refusal("hypercub(4)"), HasSubstr("did you mean \"hypercube\"?"));
  EXPECT_THAT(refusal("dragonfli(4,5)"), HasSubstr("did you mean \"dragonfly\"?"));
}

TEST(Shape, ListsTheBlocksWhereNoSpellingIsNear) {
  const std::string message = refusal("butterfly_network(4)");
  EXPECT_THAT(message, AllOf(HasSubstr("(blocks and aliases are RI, FC, SW, LI, "),
                             HasSubstr(", mesh, grid, torus, hypercube, hyperx, flattened_butterfly, "
                                       "multi_rail, dragonfly, fat_tree, leaf_spine, rail_spine, slim_fly, "
                                       "twisted_torus)")));
}

TEST(Shape, RefusesSizesThatAreNoPositiveNumbers) {
  EXPECT_THAT(refusal("FC(0)"), HasSubstr("study.toml:7:23: a size of 0 in shape \"FC(0)\""));
  EXPECT_THAT(refusal("mesh(4,0)"), HasSubstr("a size of 0"));
  EXPECT_THAT(refusal("RI()"), HasSubstr("a size is missing"));
  EXPECT_THAT(refusal("RI(-4)"), HasSubstr("a size is missing"));
  EXPECT_THAT(refusal("mesh(4,)"), HasSubstr("a size is missing"));
  EXPECT_THAT(refusal("hypercube(0)"), HasSubstr("a size of 0"));
}

TEST(Shape, RefusesBrokenSyntax) {
  EXPECT_THAT(refusal(""), HasSubstr("a block is missing"));
  EXPECT_THAT(refusal("RI(4)_"), HasSubstr("study.toml:7:26: a block is missing"));
  EXPECT_THAT(refusal("_RI(4)"), HasSubstr("a block is missing"));
  EXPECT_THAT(refusal("RI4"), HasSubstr("\"(\" is missing after \"RI\""));
  EXPECT_THAT(refusal("RI(4"), HasSubstr("\")\" is missing after \"RI(\""));
  EXPECT_THAT(refusal("mesh(4 4)"), HasSubstr("\")\" is missing"));
  EXPECT_THAT(refusal("RI(4)FC(8)"), HasSubstr("\"FC(8)\" stands after the shape"));
  EXPECT_THAT(refusal("RI(2.5)"), HasSubstr("\")\" is missing"));
}

TEST(Shape, RefusesTheWrongNumberOfSizes) {
  EXPECT_THAT(refusal("RI(4,4)"), HasSubstr("2 numbers in the parentheses of \"RI\""));
  EXPECT_THAT(refusal("dragonfly(4)"), HasSubstr("write dragonfly(a,g)"));
  EXPECT_THAT(refusal("hypercube(2,2)"), HasSubstr("write hypercube(d)"));
}

TEST(Shape, RefusesADragonflyBesideOtherBlocks) {
  EXPECT_THAT(refusal("dragonfly(4,5)_SW(2)"), HasSubstr("stands alone"));
  EXPECT_THAT(refusal("SW(2)_dragonfly(4,5)"), HasSubstr("stands alone"));
  EXPECT_THAT(refusal("fat_tree(4)_fat_tree(4)"), HasSubstr("fat_tree(k) is no product and stands alone"));
}

TEST(Shape, RefusesNumbersForWhichAFamilyHasNoMember) {
  // The place is that of the number: "fat_tree(" has nine letters, and the text begins in column 20.
  EXPECT_THAT(refusal("fat_tree(5)"), HasSubstr("study.toml:7:29: no fat_tree(k) for 5"));
  EXPECT_THAT(refusal("fat_tree(5)"), HasSubstr("use fat_tree(6)"));
  EXPECT_THAT(refusal("slim_fly(6)"), AllOf(HasSubstr("study.toml:7:29: no slim_fly(q) for 6"),
                                            HasSubstr("no prime power"), HasSubstr("use slim_fly(5) or slim_fly(7)")));
  EXPECT_THAT(refusal("slim_fly(1)"), HasSubstr("use slim_fly(3)"));
  EXPECT_THAT(refusal("slim_fly(2)"), HasSubstr("use slim_fly(3)"));
  EXPECT_THAT(refusal("slim_fly(15)"), HasSubstr("use slim_fly(13) or slim_fly(16)"));
  EXPECT_THAT(refusal("leaf_spine(4,4)"), HasSubstr("write leaf_spine(n,l,s)"));
  EXPECT_THAT(refusal("fat_tree(0)"), HasSubstr("a size of 0"));
  EXPECT_THAT(refusal("fat_treee(4)"), HasSubstr("did you mean \"fat_tree\"?"));
  EXPECT_THAT(refusal("RI_FC(4)"), HasSubstr("\"(\" is missing after \"RI\""));
}

TEST(Shape, BoundsTheNpusOfFamilies) {
  EXPECT_EQ(parse_shape("fat_tree(2048)").value().npus(), std::size_t{1} << 31);
  EXPECT_EQ(parse_shape("slim_fly(32768)").value().npus(), std::size_t{1} << 31);
  EXPECT_THAT(refusal("flattened_butterfly(2,2147483648)"), HasSubstr("too many NPUs"));
  EXPECT_EQ(parse_shape("flattened_butterfly(1,2147483648)").value().npus(), 1U);
  EXPECT_EQ(parse_shape("flattened_butterfly(50000,1)").value().npus(), 50'000U);
  EXPECT_THAT(refusal("fat_tree(2050)"), HasSubstr("too many NPUs"));
  EXPECT_THAT(refusal("slim_fly(32771)"), HasSubstr("too many NPUs"));
  EXPECT_THAT(refusal("leaf_spine(65536,65536,1)"), HasSubstr("too many NPUs"));
  EXPECT_THAT(refusal("dragonfly(65536,65536)"), HasSubstr("too many NPUs"));
}

TEST(Shape, RefusesMoreThanTwoToThe31Npus) {
  EXPECT_EQ(parse_shape("hypercube(31)").value().npus(), std::size_t{1} << 31);
  EXPECT_THAT(refusal("mesh(100000,100000)"),
              AllOf(HasSubstr("the sizes make 10000000000, and at most 2^31"), HasSubstr("make the sizes smaller")));
  EXPECT_THAT(refusal("hypercube(32)"), HasSubstr("too many NPUs"));
  EXPECT_THAT(refusal("RI(2147483649)"), HasSubstr("too many NPUs"));
  EXPECT_THAT(refusal("mesh(65536,65536)"), HasSubstr("too many NPUs"));
  EXPECT_THAT(refusal("RI(99999999999999999999999999)"), HasSubstr("too many NPUs"));
}

TEST(Shape, LeavesAnUnknownPlaceUnknown) {
  EXPECT_EQ(parse_shape("XX(4)").errors().front().place, Place{});
  EXPECT_EQ(parse_shape("RI(4)_XX(4)", {"f", 3, 0}).errors().front().place, (Place{"f", 3, 0}));
}

}  // namespace
}  // namespace tenex
