#include "store/asked_outputs.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace tenex::store {

OutputBits asked_outputs(const Study& study, std::size_t point) {
  const bool here = study.outputs.where.empty() || (point < study.store_where.size() && study.store_where[point]);
  const auto stores = [&](std::string_view name) {
    return here && std::find(study.outputs.store.begin(), study.outputs.store.end(), name) != study.outputs.store.end();
  };
  int bits = 0;
  if (stores("link_bytes")) bits |= kLinkBytesOutput;
  if (stores("group_times")) bits |= kGroupTimesOutput;
  if (stores("utilization")) bits |= kUtilizationOutput;
  if (stores("arrivals")) bits |= kArrivalsOutput;
  if (point < study.store_schedule.size() && study.store_schedule[point]) bits |= kScheduleOutput;
  return static_cast<OutputBits>(bits);
}

std::string describe_outputs(OutputBits outputs) {
  constexpr std::array<std::pair<OutputBits, std::string_view>, 5> names{{{kLinkBytesOutput, "link_bytes"},
                                                                          {kGroupTimesOutput, "group_times"},
                                                                          {kScheduleOutput, "schedule"},
                                                                          {kUtilizationOutput, "utilization"},
                                                                          {kArrivalsOutput, "arrivals"}}};
  std::string text;
  for (const auto& [bit, name] : names) {
    if ((outputs & bit) == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

}  // namespace tenex::store
