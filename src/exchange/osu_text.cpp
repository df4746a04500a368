// OSU Micro-Benchmarks' text: "# OSU MPI <Name> Latency Test", then size and the mean time over ranks; with -f the
// least and the largest, which is when the collective has ended, and the iterations; with -c Pass or Fail.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "exchange/log_formats.hpp"
#include "exchange/text_lines.hpp"
#include "tenex/base/decimal.hpp"

namespace tenex::exchange {
namespace {

/// A benchmark: how its heading begins behind "MPI", the test, and whether sizes are those of one rank's share.
struct KnownBenchmark {
  std::string_view name;
  std::string_view test;
  bool per_rank;
};
constexpr std::array kBenchmarks{
    KnownBenchmark{"Allreduce", "all_reduce", false},
    KnownBenchmark{"Allgather", "all_gather", true},
    KnownBenchmark{"Reduce_scatter", "reduce_scatter", false},
    KnownBenchmark{"All-to-All", "alltoall", true},
    KnownBenchmark{"Broadcast", "broadcast", false},
    KnownBenchmark{"Reduce", "reduce", false},
    KnownBenchmark{"Gather", "gather", true},
    KnownBenchmark{"Scatter", "scatter", true},
};

const KnownBenchmark* find_benchmark(std::string_view heading) {
  const auto at = heading.find("OSU MPI");
  const auto words = words_of_line(heading.substr(at));
  if (words.size() < 3) return nullptr;
  const auto found = std::ranges::find(kBenchmarks, words[2], &KnownBenchmark::name);
  return found == kBenchmarks.end() ? nullptr : found;
}

}  // namespace

Result<RawLog> read_osu_text(const SourceText& source) {
  if (auto status = check_text(source.file, source.text, kLargestLog); !status) return status.errors();
  RawLog log{.format = "OSU text"};
  std::string_view rest = source.text;
  std::size_t slowest = 1;  // the column of the time that counts
  for (std::uint32_t number = 1; !rest.empty(); ++number) {
    const auto line = take_line(rest);
    const Place place{source.file, number, 1};
    if (line.find("OSU MPI") != std::string_view::npos) {
      const auto* const known = find_benchmark(line);
      if (known == nullptr)
        return unsupported_error(place, "a benchmark of OSU that is no collective known here",
                                 "Allreduce, Allgather, Reduce_scatter, All-to-All, Broadcast, Reduce, Gather and "
                                 "Scatter are read");
      log.tables.push_back({.place = place, .test = std::string(known->test), .per_rank = known->per_rank});
      slowest = 1;
      continue;
    }
    if (line.find("Max Latency(us)") != std::string_view::npos) slowest = 3;
    const auto words = words_of_line(line);
    if (words.empty() || words.front().starts_with('#') || log.tables.empty()) continue;
    const auto size = read_number<std::int64_t>(words.front());
    if (!size) continue;  // a library's message
    const auto time = words.size() > slowest ? measured_time(words[slowest]) : std::nullopt;
    if (*size < 0 || !time) {
      log.skip(place, "a torn row", "it has no size or no time");
      continue;
    }
    auto& table = log.tables.back();
    if (table.rows.empty()) table.place = place;
    const bool failed = words.back() == "Fail";
    MeasuredRow row{place, bytes(*size), *time};
    row.wrong = failed ? 1 : words.back() == "Pass" ? 0 : -1;
    table.rows.push_back(std::move(row));
  }
  std::erase_if(log.tables, [](const RawTable& table) { return table.rows.empty(); });
  return log;
}

}  // namespace tenex::exchange
