// Tuner tables: the CSV by which NCCL's example plugin and RCCL's built-in tuner choose an algorithm, a protocol and a
// number of channels for a collective and a range of sizes (NCCL_TUNER_CONFIG_FILE).
//
//   collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff
//
// The first line that matches wins; bounds are inclusive; -1 in the last four matches anything. The two readers differ
// in what they do with a line that is not as they expect, which the lint says. Sources: NVIDIA/nccl
// plugins/tuner/example/plugin.c (2026-06, API v6), ROCm/rocm-systems projects/rccl/src/plugin/tuner/csv_tuner.cc
// (2026).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/exchange/machine_import.hpp"

namespace tenex {

/// Who reads the table.
enum class TunerReader : std::uint8_t { nccl, rccl };
/// "nccl", "rccl".
[[nodiscard]] const std::vector<std::string_view>& tuner_reader_names();
/// Errors (input): an unknown name, at `place`.
[[nodiscard]] Result<TunerReader> parse_tuner_reader(std::string_view text, const Place& place);

/// The largest size of a table: that of size_t.
inline constexpr std::uint64_t kLargestTunedSize = std::numeric_limits<std::uint64_t>::max();

/// A line of a table, as its reader understands it.
struct TunerRule {
  Place place = {};
  std::string collective = {};  ///< "allreduce", ...
  std::uint64_t first = 0;      ///< bytes
  std::uint64_t last = kLargestTunedSize;
  std::string algorithm = {};
  std::string protocol = {};
  std::int64_t channels = -1;
  std::int64_t nodes = -1;
  std::int64_t ranks = -1;
  std::int64_t pipe_operations = -1;
  std::int64_t registered = -1;
};

/// The word of a table for a collective; nothing for those that no table tunes.
[[nodiscard]] std::optional<std::string_view> tuner_word(CollectiveKind kind);

/// Whether a reader's library has this algorithm and protocol for the collective. O(1).
[[nodiscard]] bool has_combination(TunerReader reader, std::string_view collective, std::string_view algorithm,
                                   std::string_view protocol);

/// The table's text, comments above the rules. Comments are cut to lines that each reader skips whole.
[[nodiscard]] std::string tuner_table_text(const std::vector<std::string>& comments,
                                           const std::vector<TunerRule>& rules);

/// What a reader does with a line that its author may not expect.
struct TunerFinding {
  bool wrong = false;  ///< the library does something else than the line says; otherwise it is only suspicious
  Diagnostic what;
};

struct TunerLint {
  std::vector<TunerRule> rules;        ///< those that the reader keeps, in order
  std::vector<TunerFinding> findings;  ///< in order of lines; sizes that no rule covers come last; at most 200
};

/// Reads a table as the reader does, and says where that differs from what stands there. Errors (input): a text over
/// 1 MiB, NUL bytes, more than 4,096 rules; (unsupported) JSON, which NCCLX reads. O(rules^2).
[[nodiscard]] Result<TunerLint> lint_tuner_table(const SourceText& source, TunerReader reader);

}  // namespace tenex
