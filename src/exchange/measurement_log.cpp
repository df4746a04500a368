// Which format a log has, from its content, and what its tables leave open: the collective and the number of ranks,
// which busbw / algbw tells (2(n-1)/n for All-Reduce, (n-1)/n for what moves shares).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "exchange/log_formats.hpp"
#include "exchange/text_lines.hpp"
#include "tenex/base/decimal.hpp"
#include "tenex/base/words.hpp"

namespace tenex::exchange {
namespace {

constexpr std::size_t kMostListed = 100;
constexpr double kPrinted = 0.005;  // half a unit of the last digit of a bandwidth

constexpr std::array<std::pair<std::string_view, CollectiveKind>, 8> kTests{{
    {"all_reduce", CollectiveKind::all_reduce},
    {"all_gather", CollectiveKind::all_gather},
    {"reduce_scatter", CollectiveKind::reduce_scatter},
    {"alltoall", CollectiveKind::all_to_all},
    {"broadcast", CollectiveKind::broadcast},
    {"reduce", CollectiveKind::reduce},
    {"gather", CollectiveKind::gather},
    {"scatter", CollectiveKind::scatter},
}};

/// The ranks for which (n-1)/n is `share`, where bandwidths printed to a hundredth tell them; otherwise 0.
std::size_t ranks_of_share(double share, double error) {
  if (share + error >= 1 || share - error <= 0) return 0;
  const double least = 1 / (1 - (share - error));
  const double most = 1 / (1 - (share + error));
  const double n = std::round(1 / (1 - share));
  return n >= 2 && std::ceil(least) >= n && std::floor(most) <= n ? static_cast<std::size_t>(n) : 0;
}

/// What a table says only by its bandwidths.
struct Concluded {
  std::optional<CollectiveKind> collective;
  std::size_t ranks = 0;
};

Concluded conclude(const RawTable& table, std::optional<CollectiveKind> named) {
  if (table.algbw <= 0) return {};
  const double ratio = table.busbw / table.algbw;
  const double error = kPrinted / table.algbw * (1 + ratio);
  Concluded found;
  found.collective = named;
  if (!named && table.reduces && ratio > 1 + error) found.collective = CollectiveKind::all_reduce;
  if (!named && table.reduces && ratio < 1 - error) found.collective = CollectiveKind::reduce_scatter;
  if (!found.collective) return found;
  const auto kind = *found.collective;
  if (kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce) return found;
  const double passes = kind == CollectiveKind::all_reduce ? 2 : 1;
  found.ranks = ranks_of_share(ratio / passes, error / passes);
  return found;
}

/// Multiplies sizes that are one rank's share. False where a product does not fit.
bool make_total(MeasuredTable& table) {
  for (auto& row : table.rows) {
    std::int64_t total = 0;
    if (__builtin_mul_overflow(row.size.count(), static_cast<std::int64_t>(table.ranks), &total)) return false;
    row.size = bytes(total);
  }
  return true;
}

Result<MeasuredTable> completed(RawTable raw, const LogOptions& options, std::vector<std::string>& notes) {
  std::optional<CollectiveKind> named = options.collective;
  if (!raw.test.empty()) {
    const auto known = std::ranges::find(kTests, std::string_view(raw.test), &decltype(kTests)::value_type::first);
    if (known == kTests.end())
      return unsupported_error(raw.place, fmt::format("the test \"{}\"", shortened(raw.test)),
                               "it is no collective that is fitted here");
    if (named && *named != known->second)
      return input_error({"--collective", 0, 0}, fmt::format("the log says {}", to_string(known->second)),
                         "the option is for tables that do not name their collective", "remove it");
    named = known->second;
  }
  const auto found = conclude(raw, named);
  MeasuredTable table{raw.place, CollectiveKind::all_reduce, 0, raw.hosts, std::move(raw.rows)};
  Diagnostics errors;
  if (found.collective)
    table.collective = *found.collective;
  else if (named)
    table.collective = *named;
  else
    errors.push_back(input_error(raw.place, "the log does not name its collective",
                                 "older nccl-tests print it nowhere, and its bandwidths leave several",
                                 "give it: --collective all_gather"));
  if (!named && found.collective)
    notes.push_back(fmt::format("{}:{}: {}, concluded from busbw / algbw = {:.4g}", raw.place.file, raw.place.line,
                                to_string(*found.collective), raw.busbw / raw.algbw));
  table.ranks = raw.devices > 0 ? raw.devices : options.ranks > 0 ? options.ranks : found.ranks;
  if (options.ranks > 0 && raw.devices > 0 && raw.devices != options.ranks)
    errors.push_back(input_error({"--ranks", 0, 0}, fmt::format("the log lists {} ranks", raw.devices),
                                 "the option is for tables that do not say it", "remove it"));
  if (table.ranks < 2)
    errors.push_back(input_error(raw.place, "the log does not say how many ranks ran",
                                 "it lists no devices, and its bandwidths leave several", "give it: --ranks 8"));
  if (!errors.empty()) return errors;
  if (raw.devices == 0 && options.ranks == 0)
    notes.push_back(fmt::format("{}:{}: {} ranks, concluded from busbw / algbw = {:.4g}", raw.place.file,
                                raw.place.line, table.ranks, raw.busbw / raw.algbw));
  if (raw.per_rank && !make_total(table))
    return input_error(raw.place, "a size times the ranks does not fit in 63 bits");
  return table;
}

}  // namespace

void RawLog::skip(Place place, std::string reason, std::string why) {
  if (skipped.size() < kMostListed) skipped.push_back(input_error(std::move(place), std::move(reason), std::move(why)));
  ++skipped_rows;
}

void RawLog::note_bandwidths(RawTable& table, double algbw, double busbw) {
  if (algbw <= table.algbw) return;
  table.algbw = algbw;
  table.busbw = busbw;
}

std::optional<double> measured_number(std::string_view text) {
  const auto number = read_number<double>(text);
  if (!number || !std::isfinite(*number) || *number < 0) return std::nullopt;
  return number;
}

std::optional<double> measured_time(std::string_view text) {
  constexpr double kShortest = 1e-6;
  constexpr double kLongest = 1e12;
  const auto time = measured_number(text);
  if (!time || *time < kShortest || *time > kLongest) return std::nullopt;
  return time;
}

std::vector<std::string_view> words_of_line(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<std::string_view> words;
  for (auto at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const auto end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace tenex::exchange

namespace tenex {

Result<MeasurementLog> read_measurements(const SourceText& source, const LogOptions& options) {
  using namespace exchange;  // NOLINT: its own implementation
  const auto begin = source.text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return input_error({source.file, 1, 1}, "the file is empty");
  const bool json = source.text[begin] == '{';
  const bool osu = source.text.find("OSU MPI") != std::string::npos;
  auto raw = json ? read_nccl_tests_json(source) : osu ? read_osu_text(source) : read_nccl_tests_text(source);
  if (!raw) return raw.errors();
  if (raw->tables.empty())
    return input_error(
        {source.file, 0, 0},
        raw->skipped_rows > 0 ? fmt::format("all {} rows are torn", raw->skipped_rows) : "no row is measured",
        "logs are read from nccl-tests and rccl-tests (text, JSON) and OSU's collectives");
  MeasurementLog log{raw->format, {}, std::move(raw->skipped), raw->skipped_rows, {}};
  Diagnostics errors;
  for (auto& table : raw->tables) {
    auto whole = completed(std::move(table), options, log.notes);
    if (whole)
      log.tables.push_back(*std::move(whole));
    else
      append(errors, whole.errors());
  }
  if (!errors.empty()) return errors;
  return log;
}

}  // namespace tenex
