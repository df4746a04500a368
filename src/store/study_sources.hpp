// The files that a merge of several studies reads, and which of their rows it takes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "store/row_selection.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/files/column_file.hpp"
#include "tenex/store/merge_studies.hpp"

namespace tenex::store {

/// One result file and what the new one takes from it.
struct Source {
  std::string name;
  ColumnFileReader reader;
  std::size_t rows = 0;
  std::vector<RowPlace> chosen;    ///< by row
  std::vector<RowPlace> repeated;  ///< ok rows that must equal the chosen one
};

/// Errors: as merge_studies() for one file.
[[nodiscard]] Result<Source> open_source(const std::filesystem::path& file);

/// Chooses the row for each key, and its position: positions are in the order of files and rows. Fills in `chosen` and
/// `repeated` of the sources. Errors: columns are missing or damaged. O(rows log rows).
[[nodiscard]] Result<StudiesReport> choose_rows(std::vector<Source>& sources);

}  // namespace tenex::store
