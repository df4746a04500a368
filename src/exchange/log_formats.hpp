// Internal to exchange: the formats of measured times. Each is one file; measurement_log.cpp tells them apart and
// completes what they read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/exchange/measurements.hpp"

namespace tenex::exchange {

inline constexpr std::size_t kLargestLog = std::size_t{16} << 20;  ///< bytes of text

/// A table whose collective and ranks may still be unknown.
struct RawTable {
  Place place{};
  std::string test{};       ///< "all_reduce", as the test's program is called without "_perf"; empty: not said
  std::size_t devices = 0;  ///< ranks that the log lists; 0: none
  std::size_t hosts = 0;
  bool reduces = false;   ///< the rows name an operation
  double algbw = 0;       ///< GB/s of the row with the largest
  double busbw = 0;       ///< of the same row
  bool per_rank = false;  ///< sizes are those of one rank's share, to be multiplied by the ranks
  std::vector<MeasuredRow> rows{};
};

struct RawLog {
  std::string format{};
  std::vector<RawTable> tables{};
  std::vector<Diagnostic> skipped{};
  std::size_t skipped_rows = 0;

  void skip(Place place, std::string reason, std::string why = {});
  /// Notes the bandwidths of a row, of which the largest tell the number of ranks.
  static void note_bandwidths(RawTable& table, double algbw, double busbw);
};

/// A finite number that is not negative, as printf writes it; nothing otherwise.
[[nodiscard]] std::optional<double> measured_number(std::string_view text);
/// A time of a call in us, from a picosecond to 11 days; nothing for other texts.
[[nodiscard]] std::optional<double> measured_time(std::string_view text);
/// The words of a line.
[[nodiscard]] std::vector<std::string_view> words_of_line(std::string_view line);
/// The next line of a text without its end, which is removed from the text.
[[nodiscard]] std::string_view take_line(std::string_view& text);

[[nodiscard]] Result<RawLog> read_nccl_tests_text(const SourceText& source);
[[nodiscard]] Result<RawLog> read_nccl_tests_json(const SourceText& source);
[[nodiscard]] Result<RawLog> read_osu_text(const SourceText& source);

}  // namespace tenex::exchange
