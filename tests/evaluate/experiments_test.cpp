// tenex accepts every study of experiments/, and the columns of its rows tell what its points state; without solvers it
// refuses those that need one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "design/settings/entry.hpp"
#include "support/draws.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The study of a million points takes seconds. With 2 of its 20 bandwidths it has all the same words.
Result<Study> parse_million(const std::filesystem::path& path, const Vocabulary& words) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  auto fewer = text.str();
  const std::string_view step = "step = \"100GB/s\"";
  const auto place = fewer.find(step);
  EXPECT_NE(place, std::string::npos);
  if (place != std::string::npos) fewer.replace(place, step.size(), "step = \"1900GB/s\"");
  return parse_study(fewer, path.string(), words);
}

/// Calls `use` with every study of experiments/: its name, and what reading it gives. Returns how many there are.
std::size_t for_each_study(const std::function<void(const std::string& name, const Result<Study>& study)>& use) {
  const Vocabulary words = vocabulary();
  std::size_t studies = 0;
  for (const auto& folder : std::filesystem::directory_iterator(TENEX_SOURCE_DIR "/experiments")) {
    const auto path = folder.path() / "study.toml";
    if (!std::filesystem::exists(path)) continue;
    ++studies;
    const auto name = folder.path().filename().string();
    use(name, name == "million" && !support::long_run() ? parse_million(path, words) : read_study(path, words));
  }
  return studies;
}

TEST(Experiments, AreStudiesThatAreAccepted) {
  const bool has_solvers = find_synthesizer("te_ccl") != nullptr;
  const auto studies = for_each_study([&](const std::string&, const Result<Study>& study) {
    if (study.ok() || has_solvers) {
      EXPECT_TRUE(study.ok()) << to_string(study.errors());
      return;
    }
    // A build without solvers refuses what asks for one, with the packages, and nothing else.
    for (const Diagnostic& error : study.errors()) {
      EXPECT_EQ(error.fault, Fault::unsupported) << to_string(error);
      EXPECT_THAT(error.problem, StartsWith("this tenex has no algorithm")) << to_string(error);
      EXPECT_THAT(error.suggestion, HasSubstr("coinor-libclp-dev coinor-libcbc-dev libz3-dev")) << to_string(error);
    }
  });
  EXPECT_GE(studies, 17U);
}

/// The columns of one study's points.
class Columns {
 public:
  explicit Columns(std::string study) : study_(std::move(study)) {}

  void add(const DesignPoint& point) {
    const PointView view = view_of(point);
    std::string row = std::to_string(point.seed);
    for (const Setting& setting : settings()) {
      if (setting.column.kind == SettingColumn::Kind::none) continue;
      const std::string cell = cell_text(setting_cell(point, setting.column.name));
      row += "|" + cell;
      const bool read = has_key(setting, view.trains) && (setting.matters == nullptr || setting.matters(view));
      if (read) add_cell(setting, point, setting.canonical(view), cell);
    }
    const auto [other, is_new] = rows_.try_emplace(std::move(row), point.canonical);
    EXPECT_TRUE(is_new) << study_ << ": no column tells\n" << point.canonical << "\nfrom\n" << other->second;
  }

 private:
  /// The cell of a setting that the point reads is there if its value is no default, and tells the value. A list has a
  /// number for each dimension or level, also where the point states one for all.
  void add_cell(const Setting& setting, const DesignPoint& point, const std::string& value, const std::string& cell) {
    const auto where = study_ + ", " + std::string(setting.name) + "\n" + point.canonical;
    const std::string absent = cell_text(absent_cell(setting.column.kind));
    if (!value.empty()) {
      EXPECT_NE(cell, absent) << where;
    }
    if (setting.column.kind == SettingColumn::Kind::list && setting.key != Key::split && !value.empty()) {
      const bool one = value.find(',') == std::string::npos;
      std::string list = value;
      for (std::size_t d = 1; d < point.topology.shape.dimensions() && one; ++d) list += "," + value;
      EXPECT_EQ(cell, list) << where;
    }
    // The switches of a shape do by themselves what those of a machine file must be told to, in the same words.
    auto& told_values = values_[{setting.key, point.topology.machine_file.empty()}];
    const auto [told, is_new] = told_values.try_emplace(cell, value);
    EXPECT_EQ(told->second, value) << where;
  }

  std::string study_;
  std::map<std::string, std::string> rows_;  ///< the cells of a row -> the point's canonical text
  /// Of each setting, on shapes or on machine files: cell -> canonical value.
  std::map<std::pair<Key, bool>, std::map<std::string, std::string>> values_;
};

// Rows are told apart by their columns, so that a condition on a key finds the rows that have its value.
TEST(Experiments, HaveEveryValueInItsColumn) {
  std::size_t points = 0;
  for_each_study([&](const std::string& name, const Result<Study>& study) {
    if (!study.ok()) return;  // without solvers
    Columns columns(name);
    for (std::size_t i = 0; i < study->points.size() && !::testing::Test::HasFailure(); ++i, ++points)
      columns.add(study->points[i]);
  });
  EXPECT_GE(points, 5'000U);
}

}  // namespace
}  // namespace tenex
