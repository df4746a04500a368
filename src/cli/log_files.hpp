// Internal to cli: what fit and predict read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure_arguments.hpp"
#include "report.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/exchange/measurements.hpp"
#include "tenex/files/input_files.hpp"

namespace tenex::cli {

/// The logs in order. Errors: those of all files.
[[nodiscard]] Result<std::vector<MeasurementLog>> read_logs(const LogArguments& arguments);
/// --overhead as a time, if it is given.
[[nodiscard]] Result<std::optional<SimTime>> overhead_of(const LogArguments& arguments);
/// --ll-limit as a bandwidth, if it is given.
[[nodiscard]] Result<std::optional<Bandwidth>> ll_limit_of(const std::string& text);
/// A machine file, another tool's machine, or a built-in machine by name.
[[nodiscard]] Result<Machine> machine_of(const std::string& word);
/// Warns of rows that could not be read, and of what was concluded.
void warn_of(const std::vector<MeasurementLog>& logs);
/// The rows that could not be read, for a report.
[[nodiscard]] std::vector<Report> skipped_rows(const std::vector<MeasurementLog>& logs);
/// "log.txt:12".
[[nodiscard]] std::string place_text(const Place& place);

}  // namespace tenex::cli
