// export: writes the sends of a schedule file, or some of them, in one of the formats of a table.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "commands.hpp"
#include "report.hpp"
#include "study_report.hpp"
#include "tenex/base/decimal.hpp"
#include "tenex/base/units.hpp"
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

/// Appends the numbers of "4" or "0-7". False: it is no range of numbers below `end`.
bool append_range(std::string_view text, std::size_t end, std::vector<std::uint32_t>& into) {
  const auto dash = text.find('-');
  const auto first = read_number<std::uint32_t>(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : read_number<std::uint32_t>(text.substr(dash + 1));
  if (!first || !last || *last < *first || *last >= end) return false;
  for (auto number = *first; number <= *last; ++number) into.push_back(number);
  return true;
}

/// "0-7,12" as sorted ids below `end`. Errors (input), at `option`.
template <class Id>
Result<std::vector<Id>> ids_of(std::string_view text, std::size_t end, const char* option) {
  std::vector<std::uint32_t> numbers;
  for (std::size_t at = 0; at < text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    if (!append_range(text.substr(at, comma - at), end, numbers))
      return input_error({option, 0, 0}, fmt::format("\"{}\" is no range", text.substr(at, comma - at)),
                         fmt::format("the schedule has 0 to {}", end - 1), "write for instance 0-7,12");
    at = comma + 1;
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return std::vector<Id>(numbers.begin(), numbers.end());
}

/// The time that an option gives; nullopt: none is given. Errors (input), at the option.
Result<std::optional<SimTime>> time_of(const std::string& text, const char* option) {
  if (text.empty()) return std::optional<SimTime>();
  const auto time = parse_time(text, {option, 0, 0});
  if (!time) return time.errors();
  return std::optional(*time);
}

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
  return names;
}

ExitCode execute(const ExportArguments& arguments) {
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
