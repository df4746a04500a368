// Built-in workloads and cost models, by name: the files of experiments/workloads and experiments/cost_models at build
// time, so that `--workload gpt3` means the same wherever it runs.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace tenex {

/// A file inside the binary.
struct BuiltinFile {
  std::string_view name;     ///< without ".toml"
  std::string_view content;  ///< its bytes
};

/// All built-in workloads, by name.
[[nodiscard]] const std::vector<BuiltinFile>& builtin_workloads();
[[nodiscard]] const std::vector<BuiltinFile>& builtin_cost_models();

/// The content of the file with this name; nullopt if there is none. O(files).
[[nodiscard]] std::optional<std::string_view> find_builtin(const std::vector<BuiltinFile>& files,
                                                           std::string_view name);

}  // namespace tenex
