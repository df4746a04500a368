// Columns of training points: present where a study has such points, and nowhere else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "store/rows.hpp"
#include "tenex/design/training_point.hpp"

namespace tenex {
namespace {

using namespace test;
using support::TemporaryFolder;
using ::testing::HasSubstr;

DesignPoint training_point(const std::string& hp) {
  auto point = ring_point(0);
  TrainingPoint choice;
  choice.workload = {"gpt3", "gpt3.toml", SharedText("schema = 1\n")};
  choice.cost_model = {"libra", "libra.toml", SharedText("schema = 1\n")};
  choice.hp = parse_parallelization(hp).value();
  choice.scheme = SplitScheme::perf_opt;
  choice.total_bandwidth = gigabytes_per_second(100);
  point.work = choice;
  seal(point);
  return point;
}

/// The points 0 and 1 of study_of(2), then two training points.
Study mixed_study() {
  auto study = study_of(2);
  for (const auto* hp : {"2,2", "1,4"}) {
    study.points.push_back(training_point(hp));
    study.store_schedule.push_back(false);
  }
  study.trains = true;
  study.digest = digest128("mixed");
  return study;
}

/// Every field of a training row differs from its default.
Evaluation training_row() {
  Evaluation row;
  row.status = PointStatus::ok;
  row.npus = 4;
  row.training_time_ps = 9'007'199'254'740'993;  // 2^53 + 1: a double would lose it
  row.forward_compute_ps = 1;
  row.input_gradient_compute_ps = 2;
  row.weight_gradient_compute_ps = 3;
  row.forward_exposed_ps = 4;
  row.input_gradient_exposed_ps = 5;
  row.weight_gradient_exposed_ps = 6;
  row.bubble_ps = 7;
  row.mapping = "tensor: 2 of 4 in dimension 1";
  row.chosen_bandwidth_bytes_per_s = {100'000'000'000};
  row.network_cost_usd = 1722;
  row.perf_per_cost_per_s_usd = 0.25;
  row.relative_gap = 1e-10;
  row.objective = 9007.2;
  row.split_exact = 1;
  row.samples_per_s = 17.5;
  row.tokens_per_s = 35840;
  row.model_flop_utilization = 0.75;
  row.bound_ps = 5;
  row.efficiency = 0.5;
  return row;
}

void write_rows(const std::filesystem::path& dir, const Study& study, std::size_t first, const OpenOptions& options) {
  const auto folder = ResultFolder::open(dir, study, options);
  ASSERT_TRUE(folder.ok()) << message_of(folder);
  auto writer = ShardWriter::open(dir, study, folder->state().incarnation, 0);
  ASSERT_TRUE(writer.ok()) << message_of(writer);
  for (std::size_t i = first; i < study.points.size(); ++i)
    ASSERT_TRUE(writer->add({i, i < 2 ? row_of(i) : training_row(), 5}).ok());
  ASSERT_TRUE(writer->flush().ok());
}

std::size_t count_training_columns(const std::filesystem::path& file) {
  const auto reader = ColumnFileReader::open(file);
  EXPECT_TRUE(reader.ok());
  std::size_t found = 0;
  for (const auto& setting : setting_columns())
    found += setting.training && reader->has("/" + std::string(setting.name)) ? 1 : 0;
  for (const auto& column : metric_columns())
    found += column.training && reader->has("/" + std::string(column.name)) ? 1 : 0;
  return found;
}

TEST(AStudyThatTrains, GetsBackEveryFieldOfItsRows) {
  const TemporaryFolder folder;
  const auto study = mixed_study();
  write_rows(folder.path(), study, 0, {});
  const auto report = merge(folder.path(), study);
  ASSERT_TRUE(report.ok()) << message_of(report);
  const auto table = read_result(report->file);
  ASSERT_TRUE(table.ok()) << message_of(table);
  ASSERT_EQ(table->rows.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) expect_same_metrics(table->rows[i], i < 2 ? row_of(i) : training_row());
  for (std::size_t s = 0; s < setting_columns().size(); ++s) {
    const auto& setting = setting_columns()[s];
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_EQ(table->settings[i][s], cell_text(setting_cell(study.points[i], setting.name)));
  }
  // 29 settings (the keys of training points) and 31 metrics.
  EXPECT_EQ(count_training_columns(report->file), 60U);
  const auto file = ColumnFileReader::open(report->file);
  ASSERT_TRUE(file.ok());
  EXPECT_THAT(*file->text_attribute("/", "coordinates"), HasSubstr(" workload hp "));
  const auto seconds = file->read<double>("/training_time_seconds");
  ASSERT_TRUE(seconds.ok()) << message_of(seconds);
  EXPECT_TRUE(std::isnan((*seconds)[0]));
  EXPECT_DOUBLE_EQ((*seconds)[2], 9007.199254740993);
}

TEST(AStudyThatDoesNotTrain, HasNoColumnForIt) {
  const TemporaryFolder folder;
  const auto study = study_of(2);
  write_rows(folder.path(), study, 0, {});
  const auto report = merge(folder.path(), study);
  ASSERT_TRUE(report.ok()) << message_of(report);
  EXPECT_EQ(count_training_columns(report->file), 0U);
  const auto file = ColumnFileReader::open(report->file);
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE(file->has("/training_time_seconds"));
  EXPECT_EQ(file->text_attribute("/", "coordinates")->find("workload"), std::string::npos);
  const auto table = read_result(report->file);
  ASSERT_TRUE(table.ok()) << message_of(table);
  for (std::size_t i = 0; i < 2; ++i) expect_same_metrics(table->rows[i], row_of(i));
  for (std::size_t s = 0; s < setting_columns().size(); ++s)
    if (setting_columns()[s].training) {
      EXPECT_EQ(table->settings[0][s], cell_text(absent_cell(setting_columns()[s].kind))) << setting_columns()[s].name;
    }
}

TEST(AStudyThatTrains, KeepsRowsOfOneThatDidNot) {
  const TemporaryFolder folder;
  const auto first = study_of(2);
  write_rows(folder.path(), first, 0, {});
  const auto study = mixed_study();
  write_rows(folder.path(), study, 2, {.extend = true});
  const auto report = merge(folder.path(), study);
  ASSERT_TRUE(report.ok()) << message_of(report);
  EXPECT_EQ(report->missing, 0U);
  const auto table = read_result(report->file);
  ASSERT_TRUE(table.ok()) << message_of(table);
  for (std::size_t i = 0; i < 4; ++i) expect_same_metrics(table->rows[i], i < 2 ? row_of(i) : training_row());
}

TEST(AStudyThatTrains, OpensInTheAnalysisReader) {
  const TemporaryFolder folder;
  const auto study = mixed_study();
  write_rows(folder.path(), study, 0, {});
  const auto report = merge(folder.path(), study);
  ASSERT_TRUE(report.ok()) << message_of(report);
  support::Command command;
  command.arguments = {"/usr/bin/python3", "-c",
                       "import sys, tenex_analysis\n"
                       "study = tenex_analysis.open_study(sys.argv[1])\n"
                       "frame = study.frame()\n"
                       "assert list(frame['workload']) == ['', '', 'gpt3', 'gpt3'], frame['workload']\n"
                       "assert list(frame['training_time_ps']) == [-1, -1] + 2 * [2**53 + 1]\n"
                       "assert frame['training_time_seconds'].isna().tolist() == [True, True, False, False]\n"
                       "assert 'hp' in study.points.coords\n",
                       report->file.string()};
  command.environment = {{"PYTHONPATH", std::string(TENEX_SOURCE_DIR) + "/analysis"}};
  const auto finished = support::run(command);
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
}

}  // namespace
}  // namespace tenex
