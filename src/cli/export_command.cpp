// export: writes the sends of a schedule file, or some of them, in one of the formats of a table.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "commands.hpp"
#include "report.hpp"
#include "send_options.hpp"
#include "study_report.hpp"
#include "tenex/files/output_place.hpp"
#include "tenex/files/schedule_file.hpp"

namespace tenex::cli {
namespace {

/// A format: what `--format` says, and how a schedule is written in it.
struct ExportFormat {
  std::string_view name;
  Status (*write)(const std::filesystem::path& path, const ScheduleFile& file, const WriteOptions& options);
};

constexpr std::array kFormats{
    ExportFormat{"list", write_schedule_file},
};
constexpr std::string_view kNetworkFormat = "astra_network";  // of a machine, not of a schedule
constexpr std::string_view kTunerFormat = "tuner";            // of a result

Result<SendChoice> choice_of(const ExportArguments& arguments, const ScheduleFile& file) {
  auto npus = ids_of<NpuId>(arguments.npus, file.topology.npus(), "--npus");
  auto chunks = ids_of<ChunkId>(arguments.chunks, file.collective.chunks(), "--chunks");
  const auto from = time_of(arguments.from, "--from");
  const auto to = time_of(arguments.to, "--to");
  Diagnostics errors;
  append(errors, npus.errors());
  append(errors, chunks.errors());
  append(errors, from.errors());
  append(errors, to.errors());
  if (!errors.empty()) return errors;
  return SendChoice{*std::move(npus), *std::move(chunks), *from, *to};
}

}  // namespace

std::vector<std::string> export_formats() {
  std::vector<std::string> names;
  for (const ExportFormat& format : kFormats) names.emplace_back(format.name);
  names.emplace_back(kNetworkFormat);
  names.emplace_back(kTunerFormat);
  return names;
}

ExitCode execute(const ExportArguments& arguments) {
  if (arguments.format == kTunerFormat) return export_tuner(arguments);
  if (!arguments.reader.empty() || arguments.channels != -1 || arguments.nodes != -1 || !arguments.ll_limit.empty())
    return refuse({input_error({"--format", 0, 0}, "--for, --channels, --nodes or --ll-limit without a tuner table",
                               "they say what its lines are for", "add --format tuner, or remove them")});
  if (arguments.format == kNetworkFormat) return export_machine(arguments);
  if (const auto place = check_schedule_output(arguments.out, 0, {"--out", 0, 0}); !place)
    return refuse(place.errors());
  auto opened = load_schedule(arguments.file, arguments.memory, arguments.threads, Parts::allowed);
  if (!opened) return refuse(opened.errors());
  if (!opened->as_recorded())
    return refuse({changed_schedule(arguments.file.string(), *opened)}, ExitCode::some_failed);
  const ScheduleFile& file = opened->file;
  auto choice = choice_of(arguments, file);
  if (!choice) return refuse(choice.errors());
  const auto* const format = std::ranges::find(kFormats, std::string_view(arguments.format), &ExportFormat::name);
  const auto begin = std::chrono::steady_clock::now();
  const auto part = choice->text();
  const auto written = format->write(arguments.out, file, {arguments.threads, *std::move(choice)});
  if (!written) return refuse(written.errors(), exit_of_once(written.errors()));
  Report report;
  report.add("format", std::string(format->name));
  report.add("sends", static_cast<std::int64_t>(file.schedule.sends()));
  if (!part.empty()) report.add("part", part);
  std::error_code error;
  report.add("file_bytes", static_cast<std::int64_t>(std::filesystem::file_size(arguments.out, error)));
  report.add("file_seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  std::fputs((arguments.json ? to_json(report) : to_text(report)).c_str(), stdout);
  return ExitCode::done;
}

}  // namespace tenex::cli
