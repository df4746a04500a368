// Gathering: the committed rows of several result folders of one study, brought together in one folder.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/design/study.hpp"

namespace tenex {

/// What gather() took.
struct GatherReport {
  std::size_t shards = 0;             ///< taken now; those that the folder had already are not taken again
  std::size_t rows = 0;               ///< in them
  std::vector<std::string> warnings;  ///< shards that are damaged or went away: their rows were not taken
};

/// Copies the committed shards and the schedule files of the folders `from` into the folder `into`, which is made where
/// there is none and is a result folder like any other afterwards: it can be merged, and a run continues it. The shards
/// keep their bytes and get names and a journal of new incarnations, a journal per folder and incarnation. Gathering
/// again takes only what is new; a killed gathering leaves whole shards or nothing. Errors: (input) a folder is none,
/// belongs to another study or another physics; (environment) `into` is in use or cannot be written, a folder cannot be
/// read. Memory: one shard.
[[nodiscard]] Result<GatherReport> gather(const std::filesystem::path& into,
                                          const std::vector<std::filesystem::path>& from, const Study& study);

}  // namespace tenex
