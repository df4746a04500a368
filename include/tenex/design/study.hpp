// Study: turns a TOML text into a list of design points; all mistakes are refused at once before any work.
//
// Grammar and meaning of every key: experiments/guide/studies.md. Rows are the union of the sweeps, in
// order; the last axis varies fastest. Points with equal keys appear once, at the first one's position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/design/point_table.hpp"
#include "tenex/design/search_choice.hpp"
#include "tenex/files/input_files.hpp"

namespace tenex {

/// The schema of the studies that this version reads.
inline constexpr std::int64_t kStudySchema = 1;

/// The outputs that a study stores beside the metrics.
struct Outputs {
  std::vector<std::string> store;        ///< "link_bytes", "group_times", "utilization", "arrivals"
  std::string where;                     ///< condition on the points to which `store` applies; empty: all
  std::uint32_t utilization_bins = 100;  ///< of "utilization"
  std::string schedule;  ///< condition (expression text) on points whose schedules are stored; empty: none
};

/// An enumerated study. Every rank makes the same value from the same text, so points are never sent between ranks.
struct Study {
  std::string name;
  std::string text;  ///< the TOML as read
  Digest digest;     ///< of the points' keys in order, the outputs and the pruning; a result folder belongs to it
  PointTable points;
  bool trains = false;  ///< whether any point trains a model: then result files have columns for training
  std::size_t rows_before_keep = 0;
  std::size_t duplicates = 0;  ///< rows that shared a key with an earlier one
  /// Every file that the text names (machines, workloads, cost models; not built-in ones), by the path as written:
  /// another reader of the text needs them.
  std::map<std::string, SharedText, std::less<>> machines;
  Outputs outputs;
  SearchChoice search;
  std::vector<bool> store_where;  ///< per point, `outputs.where` evaluated, as store_schedule; empty: all
  std::vector<bool>
      store_schedule;  ///< per point, `outputs.schedule` evaluated (on any of the rows that share its key)
  std::vector<std::string> warnings;  ///< suspicious but valid settings, each with its place: for users
};

/// The names that a text may use: registries of modules above this one, and the source of files.
struct Vocabulary {
  /// Entries of registries: textbook algorithms, then synthesizers, as messages list them.
  std::vector<const AlgorithmTraits*> algorithms;
  std::vector<const AlgorithmTraits*> missing = {};  ///< entries that this build lacks (AlgorithmTraits::packages)
  std::vector<ObjectiveName> objectives = {};        ///< the metrics that [search] may name
  std::vector<BuiltinFile> workloads = builtin_workloads();
  std::vector<BuiltinFile> cost_models = builtin_cost_models();
  std::vector<BuiltinFile> machines = builtin_machines();
  /// Asked first for the bytes of a machine, workload or cost model file, by the path as the study writes it. A result
  /// folder keeps copies of its own, so that its study means the same after the folder was moved or the file changed.
  std::function<std::optional<std::string>(const std::string& path)> stored_file = {};
  /// The errors of a training point, as far as its settings show them: a parallelization that does not fit the shape,
  /// contradictory constraints, a workload file's errors. Called once per distinct choice and shape (if the bandwidths
  /// are given, total_bandwidth and split do not count). Places: the file is the name of the key at fault ("hp"), or
  /// the place is complete: that of a constraint, or one in a workload or cost model file. Without a file the key is
  /// hp.
  std::function<Diagnostics(const DesignPoint& point)> check_training = {};

  /// All engines that the key `engine` may name, "auto" first.
  [[nodiscard]] std::vector<std::string_view> engines() const;
  /// The names of the algorithms, then their long names.
  [[nodiscard]] std::vector<std::string_view> algorithm_names() const;
  /// The built-in files of `kind` "workload" or "cost_model". (Those of machines are `machines`.)
  [[nodiscard]] const std::vector<BuiltinFile>& builtin_files(std::string_view kind) const {
    return kind == "workload" ? workloads : cost_models;
  }
};

/// The traits of an algorithm, by its name or long name; null if there is none with this name.
[[nodiscard]] const AlgorithmTraits* find_traits(const Vocabulary& vocabulary, std::string_view algorithm);

/// Parses and enumerates. Places name `file`; machine files are searched relative to its folder, then to the working
/// directory. Errors: every mistake that the text alone shows, at once, in the order of their places; for rows that
/// contradict themselves the first 20. O(rows) plus the sizes of the topologies from which links are removed.
[[nodiscard]] Result<Study> parse_study(std::string_view text, const std::string& file, const Vocabulary& vocabulary);
/// Reads the file first. Errors (environment): unreadable.
[[nodiscard]] Result<Study> read_study(const std::filesystem::path& path, const Vocabulary& vocabulary);

/// Builds one point from `name -> text` pairs in the study's words (for the one-shot commands). Errors as for a study,
/// with the option's name ("--size") as the file of the place. `notes` gets how values were read that may be meant
/// otherwise; null: nobody asks.
[[nodiscard]] Result<DesignPoint> make_point(const std::vector<std::pair<std::string, std::string>>& settings,
                                             const Vocabulary& vocabulary, std::vector<std::string>* notes = nullptr);

}  // namespace tenex
