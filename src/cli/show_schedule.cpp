// show of a schedule file: its sends, line by line as they are read.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

#include "commands.hpp"
#include "pager.hpp"
#include "report.hpp"
#include "send_options.hpp"
#include "tenex/base/units.hpp"
#include "tenex/base/words.hpp"
#include "tenex/files/schedule_file.hpp"

namespace tenex::cli {
namespace {

/// What is wanted of a file: sends, and those of them that are under way at a time.
struct Wanted {
  SendChoice sends;
  std::optional<SimTime> at;

  [[nodiscard]] bool has(const ListedSend& send) const { return !at || !send.known || send.arrival > *at; }
};

Result<Wanted> wanted_of(const ShowArguments& arguments, const ScheduleFile& file) {
  // Options take switches by their vertex numbers, too, which follow the NPUs'.
  auto npus = ids_of<NpuId>(arguments.npus, file.topology.vertices(), "--npu");
  auto chunks = ids_of<ChunkId>(arguments.chunks, file.collective.chunks(), "--chunk");
  const auto at = time_of(arguments.at, "--at");
  Diagnostics errors;
  append(errors, npus.errors());
  append(errors, chunks.errors());
  append(errors, at.errors());
  if (!errors.empty()) return errors;
  Wanted wanted{{*std::move(npus), *std::move(chunks), std::nullopt, std::nullopt}, *at};
  if (wanted.at) wanted.sends.before = *wanted.at + picoseconds(1);
  return wanted;
}

std::string vertex_name(const Topology& topology, VertexId vertex) {
  return fmt::format("{} {}", vertex.index() < topology.npus() ? "NPU" : "switch", vertex.value());
}

/// "7", "0-3": the chunks of one send.
std::string chunk_text(std::span<const ChunkId> chunks) {
  std::string text;
  for (std::size_t i = 0; i < chunks.size();) {
    std::size_t last = i;
    while (last + 1 < chunks.size() && chunks[last + 1].value() == chunks[last].value() + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", chunks[i].value());
    if (last > i) text += fmt::format("-{}", chunks[last].value());
    i = last + 1;
  }
  return text;
}

/// The forms of a send's line, with their heading and their end.
struct Form {
  std::string head;
  std::string (*line)(const Topology&, const ListedSend&, bool first);
  std::string tail;
};

constexpr const char* kColumns = "{:>10}  {:>10}  {:<24}  {:>10}  {:>6}  {}\n";

std::string table_line(const Topology& topology, const ListedSend& send, bool /*first*/) {
  const bool sums = send.send.stage == Stage::reduce;
  if (!send.known)
    return fmt::format(kColumns, to_rounded(send.send.start), "?",
                       fmt::format("link {}, unknown", send.send.link.value()), "?", sums ? "sum" : "copy",
                       send.send.chunk.value());
  const auto way = fmt::format("{} > {}", vertex_name(topology, send.source), vertex_name(topology, send.target));
  return fmt::format(kColumns, to_rounded(send.send.start), to_rounded(send.arrival), way,
                     size_text(send.bytes.count()), sums ? "sum" : "copy", chunk_text(send.chunks));
}

std::string csv_line(const Topology& /*topology*/, const ListedSend& send, bool /*first*/) {
  const auto chunks = chunk_text(send.chunks);
  return fmt::format("{},{},{},{},{},{},{},{}\n", send.send.start.count(), send.arrival.count(), send.source.value(),
                     send.target.value(), send.send.link.value(),
                     chunks.find(',') == std::string::npos ? chunks : "\"" + chunks + "\"", send.bytes.count(),
                     send.send.stage == Stage::reduce ? "reduce" : "copy");
}

std::string json_line(const Topology& /*topology*/, const ListedSend& send, bool first) {
  std::string chunks;
  for (const ChunkId chunk : send.chunks) chunks += fmt::format("{}{}", chunks.empty() ? "" : ",", chunk.value());
  return fmt::format(
      "{}{{\"start_ps\":{},\"arrival_ps\":{},\"source\":{},\"target\":{},\"link\":{},\"chunks\":[{}],\"bytes\":{},"
      "\"stage\":\"{}\"}}",
      first ? "" : ",", send.send.start.count(), send.arrival.count(), send.source.value(), send.target.value(),
      send.send.link.value(), chunks, send.bytes.count(), send.send.stage == Stage::reduce ? "reduce" : "copy");
}

Form form_of(const ShowArguments& arguments) {
  if (arguments.json) return {fmt::format("{{\"schema\":{},\"sends\":[", kReportSchema), json_line, "]}\n"};
  if (arguments.csv) return {"start_ps,arrival_ps,source,target,link,chunks,bytes,stage\n", csv_line, ""};
  return {fmt::format(kColumns, "start", "arrival", "link", "bytes", "stage", "chunk"), table_line, ""};
}

/// Options of rows, which a schedule has none of.
Status check_schedule_words(const ShowArguments& arguments) {
  const bool of_rows = !arguments.key.empty() || !arguments.where.empty() || !arguments.sort.empty() ||
                       !arguments.group_by.empty() || !arguments.over.empty() || !arguments.columns.empty() ||
                       arguments.descending;
  if (!of_rows) return success();
  return input_error({arguments.dir.string(), 0, 0}, "this is a schedule, and the options are for rows of a result",
                     "a schedule has sends, in the order of their starts",
                     "choose sends by --npu, --chunk, --at and --limit, or open the file with tenex_analysis");
}

}  // namespace

ExitCode show_schedule(const ShowArguments& arguments) {
  if (const auto words = check_schedule_words(arguments); !words) return refuse(words.errors());
  const auto opened = load_schedule(arguments.dir, arguments.memory, arguments.threads, Parts::allowed);
  if (!opened) return refuse(opened.errors());
  const ScheduleFile& file = opened->file;
  const auto wanted = wanted_of(arguments, file);
  if (!wanted) return refuse(wanted.errors());
  const auto form = form_of(arguments);
  std::uint64_t shown = 0;
  bool more = false;
  {
    PagedOutput out;
    bool read = out.print(form.head);
    visit_sends(file, wanted->sends, [&](const ListedSend& send) {
      if (!read || !wanted->has(send)) return read;
      more = arguments.limit >= 0 && shown == static_cast<std::uint64_t>(arguments.limit);
      if (more) return false;
      read = out.print(form.line(file.topology, send, shown == 0));
      ++shown;
      return read;
    });
    if (read) (void)out.print(form.tail);
  }
  if (more)
    fmt::print(stderr, "the first {} of {} in the file; there are more (--limit)\n", counted(shown, "send"),
               file.schedule.sends());
  if (!opened->as_recorded()) complain({changed_schedule(arguments.dir.string(), *opened)});
  return opened->as_recorded() ? ExitCode::done : ExitCode::some_failed;
}

}  // namespace tenex::cli
