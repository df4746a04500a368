// Study: a TOML text to a list of design points, all mistakes refused at once before any work.
//
// Grammar and meaning of every key: experiments/README.md (study reference). Rows are the union of the sweeps, in
// order; the last axis varies fastest. Points whose keys are equal appear once, where they came first.
#pragma once

#include <cstddef>
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
#include "tenex/files/builtin_files.hpp"

namespace tenex {

/// What a study asks to be stored beside the metrics.
struct Outputs {
  std::vector<std::string> store;        ///< "link_bytes", "group_times", "utilization", "arrivals"
  std::string where;                     ///< condition on the points for which `store` holds; empty: all
  std::uint32_t utilization_bins = 100;  ///< of "utilization"
  std::string schedule;  ///< condition (expression text) on points whose schedules are stored; empty: none
};

/// A study, enumerated. Every rank makes the same value from the same text, so points are never sent over the wire.
struct Study {
  std::string name;
  std::string text;  ///< the TOML as read
  Digest digest;     ///< of the points' keys in order, the outputs and what is pruned: what a result folder belongs to
  PointTable points;
  bool trains = false;  ///< whether any point trains a model: result files then have columns for it
  std::size_t rows_before_keep = 0;
  std::size_t duplicates = 0;  ///< rows that shared a key with an earlier one
  /// Every file that the text names (machines, workloads, cost models; no built-in ones), by the path
  /// as written: what another reader of the text needs beside it.
  std::map<std::string, SharedText, std::less<>> machines;
  Outputs outputs;
  SearchChoice search;
  std::vector<bool> store_where;  ///< per point, `outputs.where` evaluated, as store_schedule; empty: all
  std::vector<bool>
      store_schedule;  ///< per point, `outputs.schedule` evaluated (on any of the rows that share its key)
  std::vector<std::string> warnings;  ///< suspicious but valid settings, each with its place: for users
};

/// The registries of modules above this one, and where files are read from: all that a text may name.
struct Vocabulary {
  std::vector<AlgorithmFacts> algorithms;      ///< textbook algorithms, then synthesizers, as messages list them
  std::vector<ObjectiveName> objectives = {};  ///< the metrics that [search] may name
  std::vector<BuiltinFile> workloads = builtin_workloads();
  std::vector<BuiltinFile> cost_models = builtin_cost_models();
  /// Asked first for the bytes of a machine, workload or cost model file, by the path as the study writes it: a result
  /// folder keeps its own copies, so that its study means the same after the folder was moved or the file changed.
  std::function<std::optional<std::string>(const std::string& path)> stored_file = {};
  /// What is wrong with a point that trains, as far as its settings show: a parallelization that does not fit the
  /// shape, contradictory constraints, a workload file's errors. Asked once per distinct choice and shape (where the
  /// bandwidths are given, total_bandwidth and split are no part of that). Places: the file is the name of the key at
  /// fault ("hp"), or it is a place of its own: that of a constraint, or one in a workload or cost model file; without
  /// a file it is the key hp.
  std::function<Diagnostics(const DesignPoint& point)> check_training = {};

  /// All engines that the key `engine` may name, "auto" first.
  [[nodiscard]] std::vector<std::string_view> engines() const;
  /// The names of the algorithms.
  [[nodiscard]] std::vector<std::string_view> algorithm_names() const;
  /// The built-in files of `kind` "workload" or "cost_model".
  [[nodiscard]] const std::vector<BuiltinFile>& builtin_files(std::string_view kind) const {
    return kind == "workload" ? workloads : cost_models;
  }
};

/// The facts of an algorithm; null where there is none of that name.
[[nodiscard]] const AlgorithmFacts* find_facts(const Vocabulary& vocabulary, std::string_view algorithm);

/// Parses and enumerates. `file` is named in places; machine files are found relative to its folder, then to the
/// working directory. Errors: every mistake that the text alone shows, at once, in the order of their places; of rows
/// that contradict themselves the first 20. O(rows) plus the sizes of the topologies from which links are removed.
[[nodiscard]] Result<Study> parse_study(std::string_view text, const std::string& file, const Vocabulary& vocabulary);
/// Reads the file first. Errors (environment): unreadable.
[[nodiscard]] Result<Study> read_study(const std::filesystem::path& path, const Vocabulary& vocabulary);

/// Builds one point from `name -> text` pairs in the study's words (the command line's one-shot commands). Errors as
/// for a study, with the option's name ("--size") in the place of the file.
[[nodiscard]] Result<DesignPoint> make_point(const std::vector<std::pair<std::string, std::string>>& settings,
                                             const Vocabulary& vocabulary);

}  // namespace tenex
