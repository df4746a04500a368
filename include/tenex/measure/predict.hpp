// Predictions: the time that a library's algorithms take on a machine, beside measured times.
//
// Rings (of Broadcast and Reduce: chains) and trees are simulated, with a chunk of each NPU for each channel, or as
// many of 2 MiB as a channel passes on one after the other. A protocol makes S bytes take the time of more, adds its
// overhead, and its hops take at least its own latency (tenex/exchange/library_model.hpp). NVLS is a formula. The
// library is taken to run what is predicted fastest.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/exchange/measurements.hpp"
#include "tenex/files/input_files.hpp"

namespace tenex {

struct PredictOptions {
  int channels = 8;  ///< chunks of an NPU at least
  /// Of a call, in place of each protocol's own latencies: hops take what the machine's links do.
  std::optional<SimTime> overhead = std::nullopt;
  std::size_t boxes = 0;  ///< of the machine, for latencies between boxes; 0: the hosts of each log, or one
  std::optional<Bandwidth> ll_limit = std::nullopt;  ///< of busbw under LL (least_ll_us()); empty: half the bandwidth
  bool in_place = false;
  bool nvls = false;  ///< switches add and multicast, and the library uses it
};

/// What a library may run: "ring/simple".
struct LibraryChoice {
  std::string algorithm;
  std::string protocol;
};

struct PredictedRow {
  Place place;
  Bytes size;
  double measured_us = 0;
  std::vector<double> predicted_us;  ///< per choice
  std::size_t fastest = 0;           ///< of the choices
  [[nodiscard]] double predicted() const { return predicted_us[fastest]; }
  /// predicted / measured - 1.
  [[nodiscard]] double difference() const { return predicted() / measured_us - 1; }
};

struct PredictedTable {
  Place place;
  CollectiveKind collective = CollectiveKind::all_reduce;
  std::size_t ranks = 0;
  std::vector<LibraryChoice> choices;
  std::vector<PredictedRow> rows;
};

struct Prediction {
  std::vector<PredictedTable> tables;
  std::vector<std::string> notes;  ///< tables and rows that were left out, with the reason
};

/// Predicts the rows of logs on a machine. Errors (input): a log of other ranks than the machine's NPUs, no row that
/// can be predicted; those of simulate(). A simulation per size, algorithm and share of bandwidth.
[[nodiscard]] Result<Prediction> predict(const Machine& machine, const std::vector<MeasurementLog>& logs,
                                         const PredictOptions& options);

}  // namespace tenex
