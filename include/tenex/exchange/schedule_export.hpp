// Schedules of tenex in forms that other tools run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/files/schedule_file.hpp"

namespace tenex {

struct ScheduleExportOptions {
  std::string executor = {};    ///< MSCCLang: whose limits hold; empty: "rccl"
  std::string protocol = {};    ///< MSCCLang: Simple (if empty), LL, LL128; mscclpp: Simple, LL; empty: by the size
  std::string name = {};        ///< of the algorithm; empty: made of the schedule's
  std::uint32_t node_npus = 0;  ///< mscclpp: NPUs of a node, joined by memory channels; 0: all
};

/// Who runs MSCCLang XML: "azure", "rccl", "msccl".
[[nodiscard]] std::vector<std::string_view> mscclang_executor_names();

/// MSCCLang XML. Expects: a valid schedule. Errors: (unsupported) what the format cannot say, or more steps or
/// threadblocks than the executor runs, with the numbers. maxBytes is not given here: the interpreter knows at which
/// size a FIFO fills. O(sends log sends).
[[nodiscard]] Result<std::string> to_mscclang(const ScheduleFile& file, const ScheduleExportOptions& options);

/// An execution plan of mscclpp 0.9.0, with packets (LL) for collectives of at most 64 KiB. The same.
[[nodiscard]] Result<std::string> to_mscclpp(const ScheduleFile& file, const ScheduleExportOptions& options);

/// The text as users get it: written, read again and interpreted as if somebody else had made it; where a FIFO fills,
/// maxBytes lies below. Errors: those of writing; (unsupported) the interpreter found it not valid, with its reason.
[[nodiscard]] Result<std::string> to_checked_mscclang(const ScheduleFile& file, const ScheduleExportOptions& options);
[[nodiscard]] Result<std::string> to_checked_mscclpp(const ScheduleFile& file, const ScheduleExportOptions& options);

/// ForestColl's trees, read again and interpreted. Errors (unsupported): another collective than an All-Gather of all
/// NPUs; chunks that pass NPUs which have them already. O(sends log sends).
[[nodiscard]] Result<std::string> to_checked_forestcoll(const ScheduleFile& file, const ScheduleExportOptions& options);

/// A file: what its name adds to that of the export, and its bytes.
struct NamedText {
  std::string name;
  std::string text;
};
/// Chakra execution traces that ASTRA-sim runs as a custom collective, ".0.et" and so on by NPU; a workload of that one
/// collective, ".workload.0.et"; and ".system.json" and ".memory.json". The traces are read again and interpreted as
/// those of somebody else. `options.name`: the path that the system names, relative to where ASTRA-sim runs. Errors:
/// (unsupported) what plan_moves() cannot say; the interpreter found them not valid, with its reason.
[[nodiscard]] Result<std::vector<NamedText>> to_checked_chakra(const ScheduleFile& file,
                                                               const ScheduleExportOptions& options);

/// Events for Perfetto and Chrome's tracing: a track for each link and for what comes to each NPU, arrows from a
/// delivery to the sends that need it. Errors (unsupported): more than a million sends. O(sends).
[[nodiscard]] Result<std::string> to_perfetto(const ScheduleFile& file);

}  // namespace tenex
