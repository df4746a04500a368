// Counts faults per point, and finds the point to blame when only the system's count of kills tells of a fault.
#include "coordinator/quarantine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

namespace {

std::string describe(const std::string& reason) {
  return reason == "out_of_memory" ? "the system killed it for want of memory" : reason;
}

}  // namespace

Quarantine::Quarantine(const std::vector<CrashRecord>& earlier) {
  for (const auto& record : earlier) accuse(static_cast<std::uint32_t>(record.point), record.reason, record.times);
}

void Quarantine::accuse(std::uint32_t point, const std::string& reason, std::uint32_t times) {
  auto& fault = faults_[point];
  fault.times += times;
  fault.reason = reason;
}

bool Quarantine::is_guilty(std::uint32_t point) const {
  const auto fault = faults_.find(point);
  return fault != faults_.end() && fault->second.times >= most_crashes;
}

std::vector<std::uint32_t> Quarantine::guilty() const {
  std::vector<std::uint32_t> points;
  for (const auto& [point, fault] : faults_)
    if (fault.times >= most_crashes) points.push_back(point);
  return points;
}

EvaluationOutput Quarantine::row_of(std::uint32_t point) const {
  ensure(is_guilty(point), "a point without faults is given up");
  EvaluationOutput output;
  output.row.status = PointStatus::failed;
  output.row.reason = fmt::format("the point ended its process {} times ({}); it is not tried again", most_crashes,
                                  describe(faults_.at(point).reason));
  return output;
}

std::optional<std::uint32_t> blame_for_memory(const WriterTrace& trace, const HeldPoints& held) {
  std::vector<std::uint32_t> announced;
  for (const auto point : trace.unfinished)
    if (std::ranges::binary_search(held.at_hand, static_cast<std::uint32_t>(point)))
      announced.push_back(static_cast<std::uint32_t>(point));
  if (announced.size() == 1) return announced.front();
  if (announced.empty() && held.at_hand.size() == 1) return held.at_hand.front();
  return std::nullopt;
}

PointsToRepeat sort_out(const WriterTrace& trace, const HeldPoints& held) {
  const auto left_of = [&](const std::vector<std::uint32_t>& points) {
    std::vector<std::uint32_t> left;
    for (const auto point : points)
      if (!std::ranges::binary_search(trace.committed, std::uint64_t{point})) left.push_back(point);
    return left;
  };
  return {left_of(held.at_hand), left_of(held.finished)};
}

}  // namespace tenex
