// Gathering copies the committed rows of several result folders of one study into one folder.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/design/study.hpp"

namespace tenex {

/// What gather() copied.
struct GatherReport {
  std::size_t shards = 0;             ///< copied now, without those that the folder had already
  std::size_t rows = 0;               ///< in them
  std::vector<std::string> warnings;  ///< shards that are damaged or vanished: their rows were not copied
};

/// Copies the committed shards and the schedule files of the folders `from` into the folder `into`, which is made if it
/// does not exist. Afterwards `into` is a result folder like any other: it can be merged, and a run continues it. The
/// shards keep their bytes and get names and journals of new incarnations, one journal per folder and incarnation.
/// Gathering again copies only what is new; killing it leaves whole shards or nothing. Errors: (input) a folder is not
/// a result folder, belongs to another study or another physics; (environment) `into` is in use or cannot be written, a
/// folder cannot be read. Memory: one shard.
[[nodiscard]] Result<GatherReport> gather(const std::filesystem::path& into,
                                          const std::vector<std::filesystem::path>& from, const Study& study);

}  // namespace tenex
