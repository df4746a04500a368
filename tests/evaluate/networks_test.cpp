// Every machine file of the folder, every alias and every family of shapes: planned exactly, built, connected, and
// good for textbook algorithms and, with its switches unwound, for a synthesizer. New ones need no line here.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "evaluate/points.hpp"
#include "tenex/execution/sizes.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/topology/family.hpp"

namespace tenex {
namespace {

using support::Words;

struct NamedNetwork {
  std::string topology;
  bool from_file = false;
};

/// The smallest shapes of at least 8 and at most 64 NPUs whose numbers are equal.
template <class Rule>
std::vector<std::string> small_shapes(const Rule& rule, std::size_t arguments) {
  std::vector<std::string> found;
  for (std::uint32_t number = 2; number < 9 && found.size() < 2; ++number) {
    std::string numbers = std::to_string(number);
    for (std::size_t i = 1; i < arguments; ++i) numbers += fmt::format(",{}", number);
    auto text = fmt::format("{}({})", rule.name, numbers);
    auto shape = parse_shape(text);
    if (!shape) {  // a family whose last number is no size: a shift, for instance
      text = fmt::format("{}({},1)", rule.name, numbers.substr(0, numbers.rfind(',')));
      shape = parse_shape(text);
    }
    if (shape && shape->npus() >= 8 && shape->npus() <= 64) found.push_back(text);
  }
  return found;
}

std::vector<NamedNetwork> networks() {
  std::vector<NamedNetwork> all;
  std::set<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(TENEX_SOURCE_DIR "/experiments/machines"))
    if (file.path().extension() == ".toml") files.insert(file.path().string());
  for (const auto& file : files) all.push_back({file, true});
  const auto add = [&](const std::vector<std::string>& shapes) {
    EXPECT_FALSE(shapes.empty());
    for (const auto& shape : shapes) all.push_back({shape});
  };
  for (const BlockRule* block : block_rules()) {
    add({fmt::format("{}(9)", block->name)});
    if (block->takes_levels)
      add({fmt::format("{}(12,6:3)", block->name), fmt::format("RI(2)_{}(8,2,4:2)", block->name)});
  }
  for (const ShapeAlias& alias : shape_aliases())
    add(small_shapes(alias, std::max<std::size_t>(1, alias.least_arguments)));
  for (const FamilyRule* family : family_rules()) add(small_shapes(*family, family->arguments));
  return all;
}

DesignPoint point_on(const NamedNetwork& network, const char* collective, const char* algorithm) {
  Words words{{"topology", network.topology}, {"collective", collective}, {"algorithm", algorithm}, {"size", "1MB"}};
  if (!network.from_file) words.insert(words.end(), {{"alpha", "0.5us"}, {"bandwidth", "50GB/s"}});
  return make_point(words, vocabulary()).value();
}

/// The networks on which a program of all pairs takes little time.
std::vector<NamedNetwork> small_networks() {
  auto small = networks();
  std::erase_if(small, [](const NamedNetwork& network) {
    return point_on(network, "all_gather", "direct").topology.npus() > 256;
  });
  return small;
}

void expect_good(const NamedNetwork& network, const char* collective, const char* algorithm) {
  const auto row = support::row_of(point_on(network, collective, algorithm));
  const auto what = fmt::format("{} by {} on {}", collective, algorithm, network.topology);
  EXPECT_EQ(row.status, PointStatus::ok) << what << ": " << row.reason;
  EXPECT_EQ(row.verified, Verified::yes) << what;
  EXPECT_GE(row.collective_time_ps, row.bound_ps) << what;
}

TEST(Networks, HavePlansOfExactSizes) {
  for (const auto& network : networks()) {
    const auto point = point_on(network, "all_gather", "direct");
    const auto topology = build_point_topology(point);
    ASSERT_TRUE(topology) << network.topology << to_string(topology.errors());
    EXPECT_FALSE(find_disconnected_pair(*topology)) << network.topology;
    if (point.topology.machine_file.empty())
      EXPECT_EQ(sizes_of_shape(point).topology,
                (TopologySizes{topology->npus(), topology->switches(), topology->links()}))
          << network.topology;
    else
      EXPECT_EQ(point.topology.machine_npus, topology->npus()) << network.topology;
  }
}

TEST(Networks, RunTextbookAlgorithms) {
  for (const auto& network : small_networks())
    for (const auto* algorithm : {"direct", "ring"})
      for (const auto* collective : {"all_gather", "all_reduce"}) expect_good(network, collective, algorithm);
}

TEST(Networks, RunASynthesizerWithSwitchesUnwound) {
  for (const auto& network : small_networks()) {
    expect_good(network, "all_gather", "tacos");
    expect_good(network, "all_reduce", "tacos");
  }
}

}  // namespace
}  // namespace tenex
