// The wanted sends of a schedule as a stream, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "files/send_facts.hpp"
#include "tenex/files/schedule_file.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// Finds segments by time. The last starts of segments that it has read narrow later searches.
class SegmentSearch {
 public:
  /// Reads the first and the last segment. The schedule must outlive it.
  explicit SegmentSearch(const Schedule& schedule);

  [[nodiscard]] SimTime first_start() const { return first_start_; }  ///< of all sends; zero: there are none
  [[nodiscard]] SimTime last_start() const { return last_start_.empty() ? SimTime() : last_start_.rbegin()->second; }
  /// The first segment that has a send which starts at `time` or later; the number of segments if none has. Reads two
  /// or three segments where sends are spread evenly over time, O(log segments) otherwise; and empty ones.
  [[nodiscard]] std::size_t first_from(SimTime time);

 private:
  const Schedule& schedule_;
  SimTime first_start_;
  std::map<std::size_t, SimTime> last_start_;  ///< of segments that have been read and are not empty
};

/// Reads the wanted sends of a file's schedule in the order of (start, link).
class ChosenSends {
 public:
  /// All three must outlive it.
  ChosenSends(const ScheduleFile& file, const SendChoice& choice, const FactsOfSends& facts);

  /// Calls take(send) for each, until it returns false. Where only some NPUs are wanted of a schedule that offers
  /// access by links, O(sends of their links); otherwise O(sends in the time range).
  void visit(const std::function<bool(const Send&)>& take) const;

 private:
  [[nodiscard]] bool wants(const Send& send) const;
  void visit_links(const std::function<bool(const Send&)>& take) const;

  const ScheduleFile& file_;
  const SendChoice& choice_;
  const FactsOfSends& facts_;
  std::vector<bool> link_wanted_;  ///< empty: any
  std::vector<LinkId> links_;      ///< those that are wanted, if not any
};

}  // namespace tenex
