// nccl-tests' JSON (-J, version 3). The test's name is only in args[0]; env holds the whole environment and is not
// read.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <string_view>

#include "exchange/log_formats.hpp"
#include "exchange/value_tree.hpp"
#include "tenex/base/decimal.hpp"

namespace tenex::exchange {
namespace {

constexpr std::int64_t kVersion = 3;

/// One half of a row: its time, or NaN; its bandwidths and wrong results.
struct Half {
  double us = std::numeric_limits<double>::quiet_NaN();
  double algbw = 0;
  double busbw = 0;
  std::int64_t wrong = -1;
};

Half half_of(const TreeValue* value) {
  Half half;
  if (value == nullptr || !value->is(TreeValue::Kind::map)) return half;
  const auto number = [&](std::string_view key) { return measured_number(value->text_of(key)); };
  const auto time = measured_time(value->text_of(value->find("time") != nullptr ? "time" : "cpu_time"));
  if (time) half.us = *time;
  half.algbw = number("alg_bw").value_or(0);
  half.busbw = number("bus_bw").value_or(0);
  if (const auto wrong = number("nwrong"); wrong) half.wrong = *wrong > 0 ? 1 : 0;
  return half;
}

std::int64_t count_in(const TreeValue* config, std::string_view key) {
  if (config == nullptr) return 1;
  return std::clamp<std::int64_t>(read_number<std::int64_t>(config->text_of(key)).value_or(1), 1, 1 << 16);
}

void read_config(const TreeValue* config, RawTable& table) {
  if (config == nullptr) return;
  std::set<std::string_view> hosts;
  for (const auto& device : config->list_of("devices")) hosts.insert(device.text_of("hostname"));
  table.hosts = hosts.size();
  table.devices = config->list_of("devices").size() * static_cast<std::size_t>(count_in(config, "ngpus")) *
                  static_cast<std::size_t>(count_in(config, "nthreads"));
}

}  // namespace

Result<RawLog> read_nccl_tests_json(const SourceText& source) {
  const auto file = parse_values(source.file, source.text);
  if (!file) {
    auto errors = file.errors();
    errors.front().suggestion = "a run that was killed leaves its JSON open-ended: read the text of its output";
    return errors;
  }
  const auto* const results = file->find("results");
  if (results == nullptr || !results->is(TreeValue::Kind::list))
    return input_error(file->place, "this is no log of nccl-tests", "its JSON has a list of results");
  if (const auto version = file->text_of("version"); read_number<std::int64_t>(version) != kVersion)
    return unsupported_error(file->place, fmt::format("version \"{}\" of nccl-tests' JSON", version.substr(0, 20)),
                             fmt::format("version {} is read", kVersion));
  RawLog log{.format = "nccl-tests JSON"};
  RawTable table{.place = results->place};
  if (const auto& arguments = file->list_of("args"); !arguments.empty()) {
    const std::string_view program = arguments.front().text;
    const auto name = program.substr(program.find_last_of('/') + 1);
    table.test = name.substr(0, name.find("_perf"));
  }
  read_config(file->find("config"), table);
  for (const auto& item : results->items) {
    const auto size = read_number<std::int64_t>(item.text_of("size"));
    const auto out = half_of(item.find("out_of_place"));
    const auto in = half_of(item.find("in_place"));
    if (!size || *size < 0 || (out.us != out.us && in.us != in.us)) {
      log.skip(item.place, "a result without a size or a time");
      continue;
    }
    table.reduces = table.reduces || item.text_of("redop") != "none";
    RawLog::note_bandwidths(table, out.algbw, out.busbw);
    table.rows.push_back({item.place, bytes(*size), out.us, in.us, std::max(out.wrong, in.wrong)});
  }
  if (!table.rows.empty()) log.tables.push_back(std::move(table));
  return log;
}

}  // namespace tenex::exchange
