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
  Digest digest;     ///< of the points' keys in order and the outputs: what a result folder belongs to
  std::vector<DesignPoint> points;
  std::size_t rows_before_keep = 0;
  std::size_t duplicates = 0;  ///< rows that shared a key with an earlier one
  /// Every machine file that the text names, by the path as written: what another reader of the text needs beside it.
  std::map<std::string, SharedText, std::less<>> machines;
  Outputs outputs;
  std::vector<bool> store_where;  ///< per point, `outputs.where` evaluated, as store_schedule; empty: all
  std::vector<bool>
      store_schedule;  ///< per point, `outputs.schedule` evaluated (on any of the rows that share its key)
};

/// What the text of a machine file says, as far as a study's checks need it.
struct MachineFacts {
  std::size_t npus = 0;
  std::size_t switches = 0;
};

/// The names that the text may use, given from outside so that this room needs no registry of rooms above it.
struct Vocabulary {
  std::vector<std::string> algorithms;  ///< textbook algorithms
  std::vector<std::string> synthesizers;
  /// Engines that the key `engine` may name, `auto` first.
  std::vector<std::string> engines = {"auto"};
  /// The collectives that an algorithm or synthesizer is defined for; one that is not listed is taken to do all.
  std::map<std::string, std::vector<CollectiveKind>, std::less<>> collectives = {};
  /// Checks a machine file's text; `file` names it in messages. Where absent, machine files are first looked at when
  /// their points are evaluated.
  std::function<Result<MachineFacts>(std::string_view content, const std::string& file)> inspect_machine = {};
  /// Asked first for a machine file's bytes, by the path as the study writes it: a result folder keeps its own copies,
  /// so that its study means the same after the folder was moved or the file changed.
  std::function<std::optional<std::string>(const std::string& path)> stored_machine = {};
};

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
