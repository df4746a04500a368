// The files that a merge of several studies reads, and which of their rows it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/files/column_file.hpp"
#include "tenex/store/merge_studies.hpp"

namespace tenex::store {

using Position = std::pair<std::uint32_t, std::uint32_t>;  ///< (row of the file, row of the result)

/// One result file and what the new one takes from it.
struct Source {
  std::string name;
  ColumnFileReader reader;
  std::size_t rows = 0;
  std::vector<Position> chosen;    ///< by row
  std::vector<Position> repeated;  ///< ok rows that must equal the chosen one
};

/// A group of entries of which a row has any number, and the names of its parts on the format page.
struct Ragged {
  struct Part {
    const char* name;
    const char* units;
    const char* meaning;
  };
  const char* group;
  const char* count;
  const char* offset;
  std::vector<Part> parts;
};

/// The ragged groups of a result file, in its order.
[[nodiscard]] const std::vector<Ragged>& ragged_groups();

/// Errors: as merge_studies() for one file.
[[nodiscard]] Result<Source> open_source(const std::filesystem::path& file);

/// Chooses the row for each key, and its position: positions are in the order of files and rows. Fills in `chosen` and
/// `repeated` of the sources. Errors: columns are missing or damaged. O(rows log rows).
[[nodiscard]] Result<StudiesReport> choose_rows(std::vector<Source>& sources);

}  // namespace tenex::store
