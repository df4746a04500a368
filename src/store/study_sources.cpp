#include "store/study_sources.hpp"

#include <algorithm>
#include <span>
#include <tuple>

#include <fmt/core.h>

#include "store/folder_layout.hpp"
#include "store/open_result.hpp"
#include "store/ragged_groups.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/evaluate/evaluation.hpp"

namespace tenex::store {

Result<Source> open_source(const std::filesystem::path& file) {
  auto reader = open_result(file);
  if (!reader) return reader.errors();
  const auto physics = reader->integer_attribute("/", "physics");
  if (!physics) return physics.errors();
  if (*physics != physics_version)
    return input_error({file.string(), 0, 0}, fmt::format("the file was made with physics {}", *physics),
                       fmt::format("this version computes physics {}, so the rows cannot be mixed", physics_version),
                       "merge files of one physics, with the version that made them");
  const auto rows = reader->rows("/point");
  if (!rows) return rows.errors();
  return Source{file.string(), std::move(reader).value(), *rows, {}, {}};
}

namespace {

/// A row that may be chosen for its key.
struct Choice {
  Digest key;
  std::uint32_t source = 0;
  std::uint32_t row = 0;
  bool ok = false;
  bool pruned = false;
  std::uint8_t outputs = 0;  ///< number of kinds of ragged entries that it has
};

/// Reads keys, statuses and numbers of entries, and chooses.
class Chooser {
 public:
  Status read(std::uint32_t number, const Source& source) {
    const auto keys = source.reader.read_text("/key");
    if (!keys) return keys.errors();
    const auto status = source.reader.read<std::int8_t>("/status", 0, source.rows);
    if (!status) return status.errors();
    std::vector<std::uint8_t> outputs(source.rows, 0);
    for (const auto& ragged : ragged_groups()) {
      const auto counts = source.reader.read<std::int64_t>(ragged.count, 0, source.rows);
      if (!counts) return counts.errors();
      for (std::size_t row = 0; row < source.rows; ++row)
        if ((*counts)[row] > 0) ++outputs[row];
    }
    for (std::size_t row = 0; row < source.rows; ++row) {
      const auto digest = row < keys->rows() ? parse_digest(keys->at(row)) : std::nullopt;
      if (!digest) return environment_error(fmt::format("{}: row {} has no key", source.name, row));
      const Choice choice{*digest,
                          number,
                          static_cast<std::uint32_t>(row),
                          (*status)[row] == static_cast<std::int8_t>(PointStatus::ok),
                          (*status)[row] == static_cast<std::int8_t>(PointStatus::pruned),
                          outputs[row]};
      rows_.push_back(choice);
    }
    return success();
  }

  /// Positions in the order of files and rows.
  StudiesReport assign(std::vector<Source>& sources) {
    std::ranges::sort(rows_, {}, [](const Choice& c) { return std::tuple(c.key.high, c.key.low, c.source, c.row); });
    std::vector<std::span<const Choice>> keys;  // the rows of each key, the chosen one first
    for (std::size_t first = 0; first < rows_.size();) {
      auto last = first;
      auto best = first;
      for (; last < rows_.size() && rows_[last].key == rows_[first].key; ++last)
        if (worth(rows_[last]) > worth(rows_[best])) best = last;
      std::swap(rows_[first], rows_[best]);
      keys.push_back(std::span<const Choice>(rows_).subspan(first, last - first));
      first = last;
    }
    std::ranges::sort(keys, {}, [](const auto& rows) { return std::pair(rows[0].source, rows[0].row); });
    StudiesReport report{keys.size(), 0, rows_.size() - keys.size()};
    for (std::uint32_t position = 0; position < keys.size(); ++position) {
      const auto& best = keys[position][0];
      sources[best.source].chosen.emplace_back(best.row, position);
      report.failed += best.ok || best.pruned ? 0 : 1;
      for (const auto& other : keys[position].subspan(1))
        if (other.ok) sources[other.source].repeated.emplace_back(other.row, position);
    }
    return report;
  }

 private:
  static int worth(const Choice& row) { return row.ok ? 1 + row.outputs : 0; }

  std::vector<Choice> rows_;
};

}  // namespace

Result<StudiesReport> choose_rows(std::vector<Source>& sources) {
  Chooser chooser;
  for (std::uint32_t s = 0; s < sources.size(); ++s)
    if (auto status = chooser.read(s, sources[s]); !status) return status.errors();
  return chooser.assign(sources);
}

}  // namespace tenex::store
