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
  /// Every file that the text names (machines, workloads, cost models; not those that tenex brings along), by the path
  /// as written: what another reader of the text needs beside it.
  std::map<std::string, SharedText, std::less<>> machines;
  Outputs outputs;
  SearchChoice search;
  std::vector<bool> store_where;  ///< per point, `outputs.where` evaluated, as store_schedule; empty: all
  std::vector<bool>
      store_schedule;  ///< per point, `outputs.schedule` evaluated (on any of the rows that share its key)
  std::vector<std::string> warnings;  ///< what is no mistake but may not be meant, each with its place: for users
};

/// What the text of a machine file says, as far as a study's checks need it.
struct MachineFacts {
  std::size_t npus = 0;
  std::size_t switches = 0;
};

/// The names that the text may use, given from outside so that this room needs no registry of rooms above it.
struct Vocabulary {
  std::vector<AlgorithmFacts> algorithms;  ///< textbook algorithms, then synthesizers, as messages list them
  /// Engines that the key `engine` may name, `auto` first.
  std::vector<std::string> engines = {"auto"};
  /// Checks a machine file's text; `file` names it in messages. Where absent, machine files are first looked at when
  /// their points are evaluated.
  std::function<Result<MachineFacts>(std::string_view content, const std::string& file)> inspect_machine = {};
  /// Asked first for the bytes of a machine, workload or cost model file, by the path as the study writes it: a result
  /// folder keeps its own copies, so that its study means the same after the folder was moved or the file changed.
  std::function<std::optional<std::string>(const std::string& path)> stored_machine = {};

  /// The canonical form of the word of a training key that is a text: hp, compute, training_loop, batch_rule,
  /// collective_time, contention, in_network, scheme, optimize_with, optimize_for, split, constraints (one element at a
  /// time where they are an array), cost_budget, price_level, dimension_kinds. Of constraints only spaces may change.
  /// Of optimize_for it is "NAME HP-(m,n) xW; ...", the names as written: this room reads the files. Errors: input, at
  /// `place`, which is where the text's first character stands. Absent: no point may train.
  std::function<Result<std::string>(std::string_view key, std::string_view text, const Place& place)> training_word =
      {};
  /// What is wrong with a point that trains, as far as its text shows: a parallelization that does not fit the shape,
  /// contradictory constraints, a workload file's mistakes. Asked once per distinct choice and shape (of scheme "given"
  /// total_bandwidth, split and bandwidths are no part of that). Places: the file is the name of the key at fault
  /// ("hp", "constraints"), with line 1 and the column in TrainingChoice's text of it, or 0 and 0 for all of it; or it
  /// is the path of a workload or cost model file (a place of its own); without a file it is the key hp.
  std::function<Diagnostics(const DesignPoint& point)> check_training = {};
  /// The content of a workload or cost model that tenex brings along, by kind ("workload", "cost_model") and name.
  std::function<std::optional<std::string>(std::string_view kind, std::string_view name)> builtin_file = {};
  /// The names of those, for messages.
  std::function<std::vector<std::string>(std::string_view kind)> builtin_names = {};
  /// The metrics that [search] may name.
  std::vector<ObjectiveName> objectives = {};
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
