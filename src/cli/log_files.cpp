#include "log_files.hpp"

#include <fmt/format.h>

#include <system_error>

#include "commands.hpp"
#include "tenex/base/units.hpp"
#include "tenex/exchange/machine_import.hpp"
#include "tenex/files/atomic_write.hpp"

namespace tenex::cli {

Result<std::vector<MeasurementLog>> read_logs(const LogArguments& arguments) {
  LogOptions options{.ranks = arguments.ranks};
  if (!arguments.collective.empty()) {
    const auto kind = parse_collective_kind(arguments.collective, {"--collective", 0, 0});
    if (!kind) return kind.errors();
    options.collective = *kind;
  }
  std::vector<MeasurementLog> logs;
  Diagnostics errors;
  for (const auto& file : arguments.files) {
    const auto bytes = read_file(file);
    auto log = bytes ? read_measurements({file.string(), std::string(text_of(*bytes))}, options)
                     : Result<MeasurementLog>(bytes.errors());
    if (log)
      logs.push_back(*std::move(log));
    else
      append(errors, log.errors());
  }
  if (!errors.empty()) return errors;
  return logs;
}

Result<std::optional<SimTime>> overhead_of(const LogArguments& arguments) {
  if (arguments.overhead.empty()) return std::optional<SimTime>();
  const auto time = parse_time(arguments.overhead, {"--overhead", 0, 0});
  if (!time) return time.errors();
  return std::optional(*time);
}

Result<std::optional<Bandwidth>> ll_limit_of(const std::string& text) {
  if (text.empty()) return std::optional<Bandwidth>();
  const auto limit = parse_bandwidth(text, {"--ll-limit", 0, 0});
  if (!limit) return limit.errors();
  return std::optional(*limit);
}

Result<Machine> machine_of(const std::string& word) {
  std::error_code error;
  if (!std::filesystem::exists(word, error))
    if (const auto builtin = find_builtin(builtin_machines(), word)) return parse_machine(*builtin, word);
  const auto bytes = read_file(word);
  if (!bytes) return bytes.errors();
  const std::string text(text_of(*bytes));
  if (!is_foreign_machine(text)) return parse_machine(text, word);
  const auto imported = import_machine({word, text}, {});
  if (!imported) return imported.errors();
  for (const auto& warning : imported->warnings) warn(warning);
  return parse_machine(imported->text, word);
}

std::string place_text(const Place& place) { return fmt::format("{}:{}", place.file, place.line); }

void warn_of(const std::vector<MeasurementLog>& logs) {
  for (const auto& log : logs) {
    for (const auto& note : log.notes) warn(note);
    for (const auto& skipped : log.skipped) warn(to_string(skipped));
    if (log.skipped_rows > log.skipped.size())
      warn(fmt::format("{} more rows cannot be read", log.skipped_rows - log.skipped.size()));
  }
}

std::vector<Report> skipped_rows(const std::vector<MeasurementLog>& logs) {
  std::vector<Report> rows;
  for (const auto& log : logs)
    for (const auto& skipped : log.skipped) {
      Report row;
      row.add("place", place_text(skipped.place));
      row.add("why", skipped.problem);
      rows.push_back(std::move(row));
    }
  return rows;
}

}  // namespace tenex::cli
