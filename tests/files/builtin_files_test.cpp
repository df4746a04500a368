// Built-in files: equal to those of experiments/ byte by byte, and readable under their names.
#include "tenex/files/input_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "tenex/codesign/optimizer.hpp"
#include "tenex/workload/time_model.hpp"

namespace tenex {
namespace {

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void expect_same_as_folder(const std::vector<BuiltinFile>& files, const std::filesystem::path& folder) {
  std::size_t there = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".toml") ++there;
  EXPECT_EQ(files.size(), there);
  for (const auto& file : files)
    EXPECT_EQ(file.content, bytes_of(folder / (std::string(file.name) + ".toml"))) << file.name;
  EXPECT_TRUE(std::is_sorted(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; }));
}

TEST(BuiltinFiles, AreThoseOfTheExperimentsByteByByte) {
  const std::filesystem::path experiments = std::filesystem::path(TENEX_SOURCE_DIR) / "experiments";
  expect_same_as_folder(builtin_workloads(), experiments / "workloads");
  expect_same_as_folder(builtin_cost_models(), experiments / "cost_models");
}

TEST(BuiltinFiles, AreFoundByName) {
  for (const auto* name : {"gpt3", "msft_1t", "turing_nlg", "dlrm", "resnet50", "gnmt"})
    EXPECT_TRUE(find_builtin(builtin_workloads(), name)) << name;
  EXPECT_TRUE(find_builtin(builtin_cost_models(), "libra"));
  EXPECT_FALSE(find_builtin(builtin_workloads(), "gpt3.toml"));
  EXPECT_FALSE(find_builtin(builtin_cost_models(), "gpt3"));
}

TEST(BuiltinFiles, AreReadAsFilesAre) {
  for (const auto& file : builtin_workloads()) {
    const auto read = parse_workload(file.content, std::string(file.name) + ".toml");
    EXPECT_TRUE(read.ok()) << to_string(read.errors());
  }
  for (const auto& file : builtin_cost_models()) {
    const auto read = parse_cost_model(file.content, std::string(file.name) + ".toml");
    EXPECT_TRUE(read.ok()) << to_string(read.errors());
  }
}

/// The five workloads of LIBRA's evaluation with their parallelizations, on 4,096 NPUs.
TEST(BuiltinFiles, HoldWorkloadsThatTheOptimizerSplitsWithProof) {
  const auto shape = parse_shape("RI(4)_FC(8)_RI(4)_SW(32)").value();
  const auto prices = parse_cost_model(*find_builtin(builtin_cost_models(), "libra"), "libra.toml")->model;
  const auto rates = cost_rates(prices, PriceLevel::low, shape, default_dimension_kinds(4)).value();
  const auto set = make_region(4, {total_bandwidth_is(4, gigabytes_per_second(500))}).value();
  for (const auto& [name, degrees] :
       {std::pair("gpt3", "16,256"), std::pair("msft_1t", "128,32"), std::pair("turing_nlg", "1,4096"),
        std::pair("dlrm", "1,4096"), std::pair("resnet50", "1,4096")}) {
    const auto hp = parse_parallelization(degrees).value();
    const auto model = parse_workload(*find_builtin(builtin_workloads(), name), name)->model;
    const auto workload = make_workload(model, hp).value();
    for (const auto loop : {TrainingLoop::no_overlap, TrainingLoop::tp_dp_overlap}) {
      const auto terms =
          collapse_iteration(workload, Mapping::make(shape, hp).value(), teraflops(234), {}, loop).value();
      const auto fastest = split_bandwidth(SplitScheme::perf_opt, terms, set, &rates).value();
      const auto thriftiest = split_bandwidth(SplitScheme::perf_per_cost, terms, set, &rates).value();
      EXPECT_LE(fastest.relative_gap, 1e-9) << name << ", " << to_string(loop);
      EXPECT_LE(thriftiest.relative_gap, 1e-6) << name << ", " << to_string(loop);
      EXPECT_LE(fastest.time, thriftiest.time * (1 + 1e-9));
      EXPECT_LE(*thriftiest.cost, *fastest.cost);
    }
  }
}

}  // namespace
}  // namespace tenex
