// view: a page or a picture of a schedule, of a point's schedule, or of a network alone.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "commands.hpp"
#include "report.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/units.hpp"
#include "tenex/base/words.hpp"
#include "tenex/design/canonical_point.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/evaluate/kept_schedule.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/execution/prepared_point.hpp"
#include "tenex/files/atomic_write.hpp"
#include "tenex/files/output_place.hpp"
#include "tenex/pages/png.hpp"
#include "tenex/pages/view.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/slow_windows.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex::cli {
namespace {

constexpr std::uint64_t kBoundWork = std::uint64_t{1} << 26;  // link visits: about a second for each bound

/// What is viewed, with all that it refers to.
struct ViewSource {
  std::string title = {};
  std::vector<std::pair<std::string, std::string>> facts = {};
  std::optional<Topology> network = {};  ///< of a network alone
  std::optional<ScheduleFile> file = {};
  std::optional<Shape> shape = {};
  std::optional<Topology> intact = {};
  std::vector<DrawnBound> bounds = {};

  [[nodiscard]] const Topology& topology() const { return file ? file->topology : *network; }
  void add(std::string name, std::string value) { facts.emplace_back(std::move(name), std::move(value)); }
};

/// The shape of the point's network, and the network before its faults.
void add_network_of(const DesignPoint& point, ViewSource& source) {
  const bool unwound = point.topology.unwind > 0;
  if (point.topology.machine_file.empty() && !unwound) source.shape = point.topology.shape;
  if (point.topology.faults.empty() && point.topology.without.empty()) return;
  auto whole = with_switches_kept(point);
  whole.topology.faults.clear();
  whole.topology.without.clear();
  whole.topology.unwind = point.topology.unwind;
  if (auto intact = build_point_topology(whole)) source.intact = *std::move(intact);
}

void add_bounds(const Instance& instance, bool overlap, bool single_chunks, std::span<const StartDelay> delays,
                ViewSource& source) {
  if (instance.topology.npus() > kMostViewedNpus) return;
  source.bounds = draw_bounds({instance, overlap, single_chunks, delays}, kBoundWork);
}

void add_time(SimTime time, ViewSource& source) {
  source.add("time", to_rounded(time));
  if (source.bounds.empty()) return;
  const auto& bound = source.bounds.front();
  source.add("bound", fmt::format("{} ({})", to_rounded(bound.time), bound.name));
  if (time > SimTime::zero())
    source.add("bound / time",
               percent_text(static_cast<double>(bound.time.count()) / static_cast<double>(time.count())));
}

void add_collective(const Collective& collective, ViewSource& source) {
  source.add("collective", std::string(to_string(collective.kind())));
  if (collective.kind() != CollectiveKind::mixed)
    source.add("size", size_text(collective.size().count())),
        source.add("chunks per NPU", fmt::format("{}", collective.chunks_per_npu()));
  if (collective.groups().size() > 1) source.add("groups", fmt::format("{}", collective.groups().size()));
}

void add_counts(const Topology& topology, ViewSource& source) {
  source.add("NPUs", fmt::format("{}", topology.npus()));
  if (topology.switches() > 0) source.add("switches", fmt::format("{}", topology.switches()));
  source.add("links", fmt::format("{}", topology.links()));
}

/// A schedule file.
Result<ViewSource> of_file(const ViewArguments& arguments) {
  auto opened = load_schedule(arguments.file, arguments.memory, arguments.threads, Parts::allowed);
  if (!opened) return opened.errors();
  ViewSource source;
  source.file = std::move(opened->file);
  const ScheduleFile& file = *source.file;
  std::string network = counted(file.topology.npus(), "NPU");
  bool overlap = true;
  if (const auto point = point_of_canonical(file.canonical, "", vocabulary())) {
    add_network_of(*point, source);
    if (source.shape) network = to_string(*source.shape);
    overlap = point->trains() || point->collective().overlap;
  }
  source.title = fmt::format("{} on {}", to_string(file.collective.kind()), network);
  add_collective(file.collective, source);
  source.add("algorithm", file.algorithm);
  add_counts(file.topology, source);
  source.add("sends", fmt::format("{}", file.schedule.sends()));
  if (!file.part.empty()) {
    source.add("part", file.part);
    return source;
  }
  VerifyOptions options;
  options.threads = arguments.threads;
  options.start_delays = file.start_delays;
  const Instance instance{file.topology, file.collective, file.occupancy};
  const auto verdict = verify_by_size(instance, file.schedule, options);
  const OutsideWindows outside(file.topology);
  add_bounds({outside.topology(), file.collective, file.occupancy}, overlap, file.schedule.payloads() == nullptr,
             file.start_delays, source);
  add_time(verdict.collective_time, source);
  source.add("valid", verdict.outcome == Verification::valid     ? "yes"
                      : verdict.outcome == Verification::skipped ? "not checked"
                                                                 : counted(verdict.violations, "violation"));
  return source;
}

/// The schedule of a point, made and verified now.
Result<ViewSource> of_point(const DesignPoint& point, const ViewArguments& arguments) {
  const auto limit = memory_limit(arguments.memory, EvaluateOptions{}.memory_limit_bytes);
  if (!limit) return limit.errors();
  Cache cache;
  EvaluateOptions options;
  options.threads = arguments.threads;
  options.memory_limit_bytes = *limit;
  auto made = make_schedule(point, cache, options);
  if (!made) return made.errors();
  const Evaluation& row = made->row;
  ViewSource source;
  source.title = fmt::format("{} on {}", to_string(made->file.collective.kind()), point.topology.text);
  source.file = std::move(made->file);
  add_network_of(point, source);
  const ScheduleFile& file = *source.file;
  add_collective(file.collective, source);
  source.add("algorithm", row.chosen_algorithm.empty() ? point.algorithm : row.chosen_algorithm);
  add_counts(file.topology, source);
  source.add("sends", fmt::format("{}", file.schedule.sends()));
  const auto plain = topology_for_bounds(point, file.topology);
  add_bounds({plain ? *plain : file.topology, file.collective, file.occupancy}, point.collective().overlap,
             file.schedule.payloads() == nullptr, file.start_delays, source);
  add_time(picoseconds(row.collective_time_ps), source);
  source.add("valid", row.verified == Verified::yes ? "yes" : "not checked");
  return source;
}

/// A network alone, with the bounds of an All-Gather on it (or of the collective that is named).
Result<ViewSource> of_network(DesignPoint point) {
  point.algorithm.clear();
  point.topology.unwind = 0;
  ExecutionCache cache(0);
  const auto prepared = prepare(point, ExecutionOptions{}.memory_limit_bytes, cache);
  if (!prepared) return prepared.errors();
  ViewSource source;
  source.title = point.topology.text;
  source.network = physical_network(prepared->topology());
  add_network_of(point, source);
  if (source.intact) source.intact = Topology(physical_network(*source.intact));
  add_counts(*source.network, source);
  if (prepared->network->failed_links > 0)
    source.add("failed links", fmt::format("{}", prepared->network->failed_links));
  if (const auto reach = check_reach(*prepared); !reach) {
    source.add("bounds", "none: " + reach.errors().front().problem);
    return source;
  }
  const auto plain = topology_for_bounds(point, prepared->topology());
  add_bounds({plain ? *plain : prepared->topology(), *prepared->collective, point.occupancy}, true, false, {}, source);
  add_collective(*prepared->collective, source);
  if (!source.bounds.empty()) {
    const auto& bound = source.bounds.front();
    source.add("least time", fmt::format("{} ({})", to_rounded(bound.time), bound.name));
    source.add("most algbw", to_rounded_rate(1e12 * static_cast<double>(prepared->collective->size().count()) /
                                             static_cast<double>(bound.time.count())));
  }
  return source;
}

bool names_key(const ViewArguments& arguments, std::string_view key) {
  return std::ranges::any_of(arguments.settings, [&](const auto& setting) { return setting.first == key; });
}

Result<ViewSource> source_of(const ViewArguments& arguments) {
  if (!arguments.file.empty()) {
    if (arguments.settings.empty()) return of_file(arguments);
    return input_error({"view", 0, 0}, "a schedule file has its own point", "its topology and collective are in it",
                       "name the file alone, or the point alone");
  }
  if (!names_key(arguments, "topology"))
    return input_error({"view", 0, 0}, "nothing to look at", "there is neither a schedule file nor a --topology",
                       "name a file, or a network by --topology, --alpha and --bandwidth");
  auto settings = arguments.settings;
  const bool alone = !names_key(arguments, "algorithm") && !names_key(arguments, "collective");
  using Word = std::pair<std::string, std::string>;
  for (const Word& word :
       {Word("algorithm", alone ? kBestOfAll : kDefaultSynthesizer), Word("collective", "all_gather"),
        Word("size", alone ? "1GiB" : ""), Word("chunks", alone ? "1" : "")})
    if (!names_key(arguments, word.first) && !word.second.empty()) settings.push_back(word);
  const auto point = point_of_words(settings);
  if (!point) return point.errors();
  return alone ? of_network(*point) : of_point(*point, arguments);
}

Status check_outputs(const ViewArguments& arguments) {
  using Output = std::pair<const std::filesystem::path*, const char*>;
  bool any = false;
  for (const auto& [path, option] :
       {Output(&arguments.out, "--out"), Output(&arguments.svg, "--svg"), Output(&arguments.png, "--png")}) {
    if (path->empty()) continue;
    any = true;
    if (auto place = check_output_file(*path, {option, 0, 0}); !place) return place;
  }
  if (any) return success();
  return input_error({"view", 0, 0}, "no file to write", "a view is a page or a picture",
                     "give -o view.html, --svg or --png");
}

Status write_all(const Viewed& viewed, const ViewArguments& arguments) {
  if (!arguments.out.empty()) {
    const auto page = view_page(viewed);
    if (!page) return page.errors();
    if (auto written = write_file_atomically(arguments.out, *page); !written) return written;
  }
  if (arguments.svg.empty() && arguments.png.empty()) return success();
  auto word = arguments.picture;
  if (word.empty()) word = viewed.schedule != nullptr ? "gantt" : "network";
  const auto picture = parse_name<Picture>(word, picture_names(), "picture", {"--picture", 0, 0});
  if (!picture) return picture.errors();
  const auto svg = view_picture(viewed, *picture);
  if (!svg) return svg.errors();
  if (!arguments.svg.empty())
    if (auto written = write_file_atomically(arguments.svg, *svg); !written) return written;
  return arguments.png.empty() ? success() : write_png(*svg, arguments.png);
}

}  // namespace

ExitCode execute(const ViewArguments& arguments) {
  if (const auto outputs = check_outputs(arguments); !outputs) return refuse(outputs.errors());
  auto source = source_of(arguments);
  if (!source) return refuse(source.errors());
  Viewed viewed{source->title,
                source->facts,
                source->topology(),
                source->shape,
                source->intact ? &*source->intact : nullptr,
                source->file ? &*source->file : nullptr,
                source->bounds};
  if (const auto written = write_all(viewed, arguments); !written) return refuse(written.errors());
  for (const auto* path : {&arguments.out, &arguments.svg, &arguments.png})
    if (!path->empty()) fmt::print("{}\n", path->string());
  return ExitCode::done;
}

}  // namespace tenex::cli
