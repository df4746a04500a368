// Internal to cli: what `list` says of points that train a model, and of built-in files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenex::cli {

/// A word that a study may use for a training key, and what it means.
struct Word {
  std::string_view name;
  std::string_view description;
};

[[nodiscard]] const std::vector<Word>& scheme_words();
[[nodiscard]] const std::vector<Word>& collective_time_words();
[[nodiscard]] const std::vector<Word>& training_loop_words();

/// One "  name  description" line.
[[nodiscard]] std::string list_line(std::string_view name, std::string_view description);

/// The built-in machines with their NPUs.
[[nodiscard]] std::string list_machines();
/// The built-in workloads and cost models, each with the description in its file.
[[nodiscard]] std::string list_workloads();
[[nodiscard]] std::string list_cost_models();
/// The NPUs that npu_memory may name, with their memory and rates.
[[nodiscard]] std::string list_npus();

}  // namespace tenex::cli
