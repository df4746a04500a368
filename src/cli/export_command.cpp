// export: writes the sends of a schedule file, or some of them, in one of the formats of a table.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "commands.hpp"
#include "report.hpp"
#include "send_options.hpp"
#include "study_report.hpp"
#include "tenex/exchange/schedule_export.hpp"
#include "tenex/files/atomic_write.hpp"
#include "tenex/files/output_place.hpp"
#include "tenex/files/schedule_file.hpp"

namespace tenex::cli {
namespace {

using TextWriter = Result<std::string> (*)(const ScheduleFile& file, const ScheduleExportOptions& options);

/// A format: what `--format` says, and how a schedule is written in it.
struct ExportFormat {
  std::string_view name;
  TextWriter text = nullptr;   ///< null: a schedule file of tenex, which may be a part
  bool for_executor = false;   ///< `--for` says who runs it
  bool has_protocols = false;  ///< `--protocol` says how
  bool has_nodes = false;      ///< `--npus-per-node` says what a node is
};

Result<std::string> perfetto_text(const ScheduleFile& file, const ScheduleExportOptions& /*options*/) {
  return to_perfetto(file);
}

constexpr std::array kFormats{
    ExportFormat{"list"},
    ExportFormat{"mscclang", to_checked_mscclang, true, true, false},
    ExportFormat{"mscclpp", to_checked_mscclpp, false, true, true},
    ExportFormat{"forestcoll", to_checked_forestcoll},
    ExportFormat{"perfetto", perfetto_text},
};
constexpr std::string_view kTraceFormat = "chakra";           // several files, whose names begin with that of --out
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

/// The sends of a part.
std::int64_t count_sends(const ScheduleFile& file, const SendChoice& choice) {
  std::int64_t sends = 0;
  visit_sends(file, choice, [&](const ListedSend& /*send*/) {
    ++sends;
    return true;
  });
  return sends;
}

/// Options that the format does not take.
Diagnostics misplaced_options(const ExportArguments& arguments, const ExportFormat& format) {
  Diagnostics errors;
  const auto check = [&](bool given, bool taken, std::string_view option, std::string_view remedy) {
    if (given && !taken)
      errors.push_back(input_error({std::string(option), 0, 0},
                                   fmt::format("{} beside the format {}", option, format.name),
                                   "it would have no effect", std::string(remedy)));
  };
  const bool part =
      !arguments.npus.empty() || !arguments.chunks.empty() || !arguments.from.empty() || !arguments.to.empty();
  check(part, format.text == nullptr, "--npus, --chunks, --from and --to", "parts are written as lists");
  check(!arguments.reader.empty(), format.for_executor, "--for", "remove it");
  check(!arguments.protocol.empty(), format.has_protocols, "--protocol", "remove it");
  check(arguments.npus_per_node > 0, format.has_nodes, "--npus-per-node", "remove it");
  check(arguments.channels != -1 || arguments.nodes != -1 || !arguments.ll_limit.empty(), false,
        "--channels, --nodes and --ll-limit", "they are for --format tuner");
  return errors;
}

/// Writes a whole schedule as traces, and says how many sends they hold and what is not written.
ExitCode write_traces(const ExportArguments& arguments) {
  if (const auto errors = misplaced_options(arguments, {kTraceFormat, perfetto_text}); !errors.empty())
    return refuse(errors);
  const auto opened = load_schedule(arguments.file, arguments.memory, arguments.threads, Parts::refused);
  if (!opened) return refuse(opened.errors());
  if (!opened->as_recorded())
    return refuse({changed_schedule(arguments.file.string(), *opened)}, ExitCode::some_failed);
  std::vector<std::string> notes;
  const auto written = export_traces(arguments.out, opened->file, notes);
  if (!written) return refuse(written.errors(), exit_of_once(written.errors()));
  Report report;
  report.add("format", std::string(kTraceFormat));
  report.add("sends", static_cast<std::int64_t>(opened->file.schedule.sends()));
  report.add("traces", static_cast<std::int64_t>(opened->file.topology.npus()));
  if (!notes.empty())
    report.add_list("notes", notes, [](Report& entry, const std::string& note) { entry.add("message", note); });
  std::fputs((arguments.json ? to_json(report) : to_text(report)).c_str(), stdout);
  return ExitCode::done;
}

/// The schedule in a format that other tools read.
Result<std::string> text_as(const ExportFormat& format, const ExportArguments& arguments, const ScheduleFile& file) {
  ScheduleExportOptions options;
  options.executor = arguments.reader;
  options.protocol = arguments.protocol;
  options.node_npus = static_cast<std::uint32_t>(arguments.npus_per_node);
  return format.text(file, options);
}

/// Writes the schedule as the format has it.
Status write_as(const ExportFormat& format, const ExportArguments& arguments, const ScheduleFile& file,
                SendChoice choice) {
  if (format.text == nullptr) return write_schedule_file(arguments.out, file, {arguments.threads, std::move(choice)});
  const auto text = text_as(format, arguments, file);
  if (!text) return text.errors();
  return write_file_atomically(arguments.out, *text);
}

/// The schedule of a point.
ExitCode export_made(const ExportArguments& arguments) {
  if (arguments.settings.empty())
    return refuse({input_error({"file", 0, 0}, "nothing to export", {}, "name a file, or a point: --topology ...")});
  auto whole = arguments;
  whole.chunks.clear();  // of the point
  const bool traces = arguments.format == kTraceFormat;
  const auto* const format = std::ranges::find(kFormats, std::string_view(arguments.format), &ExportFormat::name);
  if (const auto errors = misplaced_options(whole, traces ? ExportFormat{kTraceFormat, perfetto_text} : *format);
      !errors.empty())
    return refuse(errors);
  if (!traces && format->text == nullptr)
    return refuse({input_error({"--format", 0, 0}, "a list of a point's sends", {},
                               "use `tenex synthesize` or `tenex simulate` with --out")});
  return export_point(arguments, [&](const ScheduleFile& file) -> Status {
    if (!traces) return write_as(*format, whole, file, {});
    std::vector<std::string> notes;
    auto written = export_traces(arguments.out, file, notes);
    for (const auto& note : notes) warn(note);
    return written;
  });
}

}  // namespace

std::vector<std::string> export_formats() {
  std::vector<std::string> names;
  for (const ExportFormat& format : kFormats) names.emplace_back(format.name);
  names.emplace_back(kTraceFormat);
  names.emplace_back(kNetworkFormat);
  names.emplace_back(kTunerFormat);
  return names;
}

ExitCode execute(const ExportArguments& arguments) {
  if (arguments.format == kTunerFormat) return export_tuner(arguments);
  if (arguments.format == kNetworkFormat) return export_machine(arguments);
  if (arguments.file.empty()) return export_made(arguments);
  if (!arguments.settings.empty())
    return refuse({input_error({"--" + arguments.settings.front().first, 0, 0}, "a file and the options of a point",
                               "the file has its own network and collective", "leave out one of them")});
  if (arguments.format == kTraceFormat) return write_traces(arguments);
  const auto* const format = std::ranges::find(kFormats, std::string_view(arguments.format), &ExportFormat::name);
  if (const auto errors = misplaced_options(arguments, *format); !errors.empty()) return refuse(errors);
  if (format->text != nullptr) {
    std::error_code error;
    if (std::filesystem::is_directory(arguments.out, error))
      return refuse({input_error({"--out", 0, 0}, "the output is a folder", {}, "name a file")});
  } else if (const auto place = check_schedule_output(arguments.out, 0, {"--out", 0, 0}); !place)
    return refuse(place.errors());
  auto opened = load_schedule(arguments.file, arguments.memory, arguments.threads, Parts::allowed);
  if (!opened) return refuse(opened.errors());
  if (!opened->as_recorded())
    return refuse({changed_schedule(arguments.file.string(), *opened)}, ExitCode::some_failed);
  const ScheduleFile& file = opened->file;
  auto choice = choice_of(arguments, file);
  if (!choice) return refuse(choice.errors());
  const auto begin = std::chrono::steady_clock::now();
  const auto part = choice->text();
  const auto sends = part.empty() ? static_cast<std::int64_t>(file.schedule.sends()) : count_sends(file, *choice);
  const auto written = write_as(*format, arguments, file, *std::move(choice));
  if (!written) return refuse(written.errors(), exit_of_once(written.errors()));
  Report report;
  report.add("format", std::string(format->name));
  report.add("sends", sends);
  if (!part.empty()) report.add("part", part);
  std::error_code error;
  report.add("file_bytes", static_cast<std::int64_t>(std::filesystem::file_size(arguments.out, error)));
  report.add("file_seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  std::fputs((arguments.json ? to_json(report) : to_text(report)).c_str(), stdout);
  return ExitCode::done;
}

}  // namespace tenex::cli
