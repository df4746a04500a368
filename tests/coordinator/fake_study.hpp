// Studies and evaluations for tests of scheduling: real points (sealed, so that stores accept them) with made-up rows.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "support/process.hpp"
#include "tenex/coordinator/coordinator.hpp"
#include "tenex/design/study.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex::testing {

/// `count` distinct points (their seeds differ), as a study file would make them.
inline Study make_study(std::size_t count, const std::string& name = "fake") {
  const std::string text =
      "schema = 1\nname = \"" + name + "\"\nseed = { from = 1, to = " + std::to_string(count) +
      ", step = 1 }\n\n[[sweep]]\nname = \"seeds\"\ntopology = \"RI(4)\"\nbandwidth = \"50GB/s\"\n" +
      "alpha = \"0.5us\"\ncollective = \"all_gather\"\nsize = \"1MiB\"\nalgorithm = \"ring\"\n";
  Study study;
  study.name = name;
  study.text = text;
  std::string keys;
  for (std::size_t i = 0; i < count; ++i) {
    DesignPoint point;
    point.topology.text = "RI(4)";
    point.collective().kind = CollectiveKind::all_gather;
    point.collective().size = mebibytes(1);
    point.algorithm = "ring";
    point.seed = i + 1;
    seal(point);
    keys += to_string(point.key);
    study.points.push_back(std::move(point));
  }
  study.digest = digest128(keys);
  study.rows_before_keep = count;
  study.store_schedule.assign(count, false);
  return study;
}

/// A row that is a pure function of the point.
inline EvaluationOutput make_row(const DesignPoint& point) {
  EvaluationOutput output;
  output.row.status = point.seed % 10 == 0 ? PointStatus::infeasible : PointStatus::ok;
  if (output.row.status != PointStatus::ok) output.row.reason = "made up: seed " + std::to_string(point.seed);
  output.row.npus = 4;
  output.row.engine = "event_driven";
  output.row.collective_time_ps = static_cast<std::int64_t>(digest64(point.canonical) >> 20U);
  output.row.bound_ps = output.row.collective_time_ps / 2;
  output.row.bound_name = "ejection";
  output.row.efficiency = 0.5;
  output.row.verified = Verified::yes;
  return output;
}

using support::TemporaryFolder;

inline void sleep_seconds(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

}  // namespace tenex::testing
