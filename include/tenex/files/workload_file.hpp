// Workload files: a model's training iteration in TOML, `schema = 1`, as a table of layers or as the model's
// dimensions, from which layers are made. docs: experiments/workloads/README.md
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/workload/workload_model.hpp"

namespace tenex {

/// A workload with the facts in its file.
struct WorkloadFile {
  std::string name;
  WorkloadModel model;
  Digest content;  ///< of the file's bytes: stands for the file in canonical keys
};

/// Reads and checks a workload file. Errors: unreadable (environment), everything that the schema forbids (input, with
/// places).
[[nodiscard]] Result<WorkloadFile> read_workload_file(const std::filesystem::path& path);
/// The same from text; `file` is used in places.
[[nodiscard]] Result<WorkloadFile> parse_workload(std::string_view text, const std::string& file);

}  // namespace tenex
