// export --format chakra: a schedule as ASTRA-sim runs it, one file per NPU and those that go with them.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "tenex/design/canonical_point.hpp"
#include "tenex/design/faults.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/exchange/machine_export.hpp"
#include "tenex/exchange/schedule_export.hpp"
#include "tenex/files/atomic_write.hpp"

namespace tenex::cli {
namespace {

/// ASTRA-sim's network of a schedule, where its point names a shape that the format has; otherwise the reason.
Result<std::string> network_of(const ScheduleFile& file) {
  const auto unknown = [](std::string why) {
    return unsupported_error({}, "no network file is written", std::move(why),
                             "write one for ASTRA-sim's simulator that has such networks");
  };
  if (file.canonical.empty()) return unknown("the schedule does not say of which shape its network is");
  const auto point = point_of_canonical(file.canonical, {}, vocabulary());
  if (!point || !point->topology.machine_file.empty()) return unknown("the network is that of a machine file");
  const auto& chosen = point->topology;
  if (!chosen.without.empty() || to_string(chosen.faults) != "none" || chosen.unwind > 0)
    return unknown("links of the shape have failed, or its switches are unwound");
  auto text = astra_network_text({chosen.shape, chosen.links});
  if (!text) return unknown(text.errors().front().problem);
  return text;
}

}  // namespace

Status export_traces(const std::filesystem::path& prefix, const ScheduleFile& file, std::vector<std::string>& notes) {
  ScheduleExportOptions options;
  options.name = prefix.string();
  auto files = to_checked_chakra(file, options);
  if (!files) return files.errors();
  const auto network = network_of(file);
  if (network)
    files->push_back({".network.yml", *network});
  else
    notes.push_back(fmt::format("{} ({})", network.errors().front().problem, network.errors().front().why));
  for (const auto& [name, bytes] : *files)
    if (auto written = write_file_atomically(prefix.string() + name, bytes); !written) return written.errors();
  return success();
}

}  // namespace tenex::cli
