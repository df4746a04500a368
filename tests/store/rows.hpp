// Studies and rows made by hand for the tests of the result folder.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/topologies.hpp"
#include "tenex/design/study.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/files/column_file.hpp"
#include "tenex/store/store.hpp"

namespace tenex::test {

/// Point `i` of the studies below: rings of 4 NPUs whose collective size tells them apart.
inline DesignPoint ring_point(std::size_t i) {
  DesignPoint point;
  point.topology.text = "RI(4)";
  point.topology.shape = Shape{{support::block("RI", 4)}};
  point.topology.links.alpha = {nanoseconds(500)};
  point.topology.links.bandwidth = {gigabytes_per_second(50)};
  point.collective().size = bytes(4096 + 1024 * static_cast<std::int64_t>(i));
  point.algorithm = "ring";
  seal(point);
  return point;
}

/// A study of the points `first` .. `first + count - 1`.
inline Study study_of(std::size_t count, std::size_t first = 0) {
  Study study;
  study.name = "by-hand";
  study.text = "# a study of " + std::to_string(count) + " points from " + std::to_string(first) + "\nschema = 1\n";
  std::string keys;
  for (std::size_t i = 0; i < count; ++i) {
    study.points.push_back(ring_point(first + i));
    keys += to_string(study.points.back().key);
  }
  study.digest = digest128(keys);
  study.store_schedule.assign(count, false);
  return study;
}

/// The row of ring_point(i): every field differs from its default, and the ragged parts differ in length.
inline Evaluation row_of(std::size_t i) {
  const auto n = static_cast<std::int64_t>(i);
  Evaluation row;
  row.status = PointStatus::ok;
  row.npus = 4;
  row.total_links = 8;
  row.total_chunks = 4;
  row.chunk_bytes = 1024 + 256 * n;
  row.sends = 12;
  row.steps = 3;
  row.waste = 0;
  row.engine = "congestion_aware";
  row.schedule_hash = "00000000deadbeef";
  row.collective_time_ps = 9'007'199'254'740'993 + n;  // 2^53 + 1: a double would lose it
  row.bound_ps = 1'000'000 + n;
  row.efficiency = 0.1 + static_cast<double>(i) / 3.0;
  row.algbw_bytes_per_s = 1e9 / 3.0;
  row.busbw_bytes_per_s = 0.75e9 / 3.0;
  row.verified = Verified::yes;
  row.reduction_check = "none";
  row.memory_planned_bytes = 4096;
  row.group_times_ps.assign(i % 3, 77 + n);
  if (i % 2 == 1) {
    row.utilization_bin_ps = 50 + n;
    row.utilization_ps = {n, 2 * n, 7};
  }
  for (std::uint32_t a = 0; a < i % 4; ++a)
    row.arrivals.push_back({picoseconds(10 * a + n), NpuId(a), ChunkId(static_cast<std::uint32_t>(i))});
  return row;
}

inline Evaluation failed_row(const std::string& reason) {
  Evaluation row;
  row.status = PointStatus::infeasible;
  row.reason = reason;
  return row;
}

inline void set_measured(Evaluation& row, double seconds) {
  row.synthesis_seconds = seconds;
  row.evaluation_seconds = 2 * seconds;
}

/// Adds the rows [first, last) of a study whose ring points begin at 0.
inline void add_rows(ShardWriter& writer, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    auto status = writer.add({i, row_of(i), 1'700'000'000'000 + static_cast<std::int64_t>(i)});
    ASSERT_TRUE(status.ok()) << to_string(status.errors());
  }
}

/// The only diagnostic of a failed result, as users see it.
template <class T>
std::string message_of(const Result<T>& result) {
  return result.ok() ? "(no error)" : to_string(result.errors());
}

inline std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder)) names.push_back(file.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// Expects that two rows agree in every metric, and in measured ones if asked for. Absent values are equal.
inline void expect_same_metrics(const Evaluation& a, const Evaluation& b, bool measured = true) {
  for (std::size_t column = 0; column < metric_columns().size(); ++column) {
    if (metric_columns()[column].measured && !measured) continue;
    const auto value = metric_value(a, column);
    const auto other = metric_value(b, column);
    const auto lacks = [](const MetricValue& v) {
      return std::holds_alternative<double>(v) && std::isnan(std::get<double>(v));
    };
    if (lacks(value) && lacks(other)) continue;
    EXPECT_EQ(value, other) << metric_columns()[column].name;
  }
}

/// Expects that two tables agree in every result column; measured ones are left out.
inline void expect_same_results(const ResultTable& a, const ResultTable& b) {
  ASSERT_EQ(a.key, b.key);
  EXPECT_EQ(a.settings, b.settings);
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    expect_same_metrics(a.rows[i], b.rows[i], false);
    EXPECT_EQ(a.rows[i].group_times_ps, b.rows[i].group_times_ps);
    EXPECT_EQ(a.rows[i].utilization_ps, b.rows[i].utilization_ps);
    EXPECT_EQ(a.rows[i].arrivals, b.rows[i].arrivals);
  }
}

}  // namespace tenex::test
