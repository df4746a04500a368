// Tuner tables made from results: which of a library's own algorithms and protocols is fastest on a machine, for every
// size, and what is left beside the best algorithm of the study.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/exchange/tuner_table.hpp"
#include "tenex/store/store.hpp"

namespace tenex {

struct TunerOptions {
  TunerReader reader = TunerReader::nccl;
  std::int64_t channels = -1;  ///< of every line; -1: the library's own choice, which only RCCL has
  std::int64_t nodes = -1;     ///< boxes that the lines are for; -1: any, with the latencies of one
  std::optional<Bandwidth> ll_limit = std::nullopt;  ///< of busbw under LL (least_ll_us()); empty: half the bandwidth
  std::string source = {};                           ///< the result, for a comment
};

/// A size of the study: what the library takes at best, and what the study found.
struct LeftOnTable {
  CollectiveKind collective = CollectiveKind::all_reduce;
  Bytes size;
  std::int64_t ranks = 0;
  std::string library;  ///< "ring/simple"
  double library_us = 0;
  std::string best;  ///< the study's algorithm that is fastest under the same protocols; the library's where none is
  double best_us = 0;
  /// The share of the library's time that the best one saves.
  [[nodiscard]] double saved() const { return 1 - best_us / library_us; }
};

struct TunerTable {
  std::vector<TunerRule> rules;
  std::vector<LeftOnTable> left;
  std::vector<std::string> notes;
  std::string text;  ///< the file
};

/// Makes a table of a study's rows. A library's ring is the fastest of `ring`, `ring_unidirectional` and `rings` of the
/// study, its tree is `dbt`. A protocol that carries data in a share of its bytes takes the time of more bytes, which
/// is read off the study's own sizes, on a line between two and beyond the last two; it has its overhead, and its hops
/// (library_model.hpp) make the time of the smallest size longer where they are. The best algorithm is given the
/// protocols, too, with hops longer by the same factor, so that both are compared alike. Errors (input): no row of a
/// ring or a tree; rows of several networks with the same number of NPUs; -1 channels for NCCL. O(rows log rows).
[[nodiscard]] Result<TunerTable> make_tuner_table(const ResultTable& result, const TunerOptions& options);

}  // namespace tenex
