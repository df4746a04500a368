// Fits: what measured times of collectives say of a machine.
//
// Times of one collective grow with its size by pieces: each piece is a protocol and an algorithm of the library, with
// a time at size zero and a time per byte. The last piece, where bandwidth decides, gives alpha and beta by what the
// running algorithm does: t = overhead + steps * alpha + share * S * beta. Regression is robust (Huber) on relative
// residuals, and every estimate has its 95 % interval.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/exchange/measurements.hpp"
#include "tenex/files/input_files.hpp"

namespace tenex {

/// A fitted number and its 95 % interval.
struct Estimated {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// What an algorithm does for a collective of n ranks, in the model above.
struct AlgorithmCost {
  double steps = 0;  ///< hops from NPU to NPU, one after the other
  double share = 0;  ///< bytes through the busiest port of an NPU, per byte of S
};

/// The algorithms of fits: "ring", "tree", "direct".
[[nodiscard]] const std::vector<std::string_view>& fitted_algorithms();
/// The algorithm's cost; nothing where it does not do the collective. Rings: Patarasuk and Yuan 2009. Trees: two binary
/// trees with half of the data each (Sanders, Speck and Traeff 2009), NCCL's trees. Direct: all shares at once. O(1).
[[nodiscard]] std::optional<AlgorithmCost> cost_of(std::string_view algorithm, CollectiveKind kind, std::size_t ranks);
/// The algorithm that a library runs at large sizes where nothing else is said: direct for All-to-All, otherwise ring.
[[nodiscard]] std::string_view usual_algorithm(CollectiveKind kind);

struct FitOptions {
  std::string algorithm = {};                      ///< of all tables; empty: usual_algorithm()
  bool in_place = false;                           ///< the times in place instead of those out of place
  std::optional<SimTime> overhead = std::nullopt;  ///< of one call; empty: fitted where several step counts tell it
  std::optional<Machine> machine = std::nullopt;   ///< whose bandwidths are to be fitted; empty: ranks on one switch
  std::string machine_name = {};                   ///< the machine's file, for comments
  std::string name = {};                           ///< of the machine that is written; empty: from the log
};

/// Sizes of one table that one line describes: t = at_zero + S / rate.
struct FittedPiece {
  Bytes first = {};
  Bytes last = {};
  std::size_t points = 0;
  Estimated at_zero_us = {};
  Estimated us_per_byte = {};
  double spread = 0;  ///< robust standard deviation of relative residuals
  /// S / t for S without end, in bytes per second; infinite where no time per byte was seen.
  [[nodiscard]] double rate() const { return us_per_byte.value > 0 ? 1e6 / us_per_byte.value : 0; }
};

/// Two pieces meet between two sizes.
struct ChangePoint {
  Bytes below;
  Bytes above;
  std::string what;  ///< "each byte takes 0.48 of the time, the first 8.1us more: as from LL to Simple"
};

/// A measured point beside the fit.
struct FittedPoint {
  Place place;
  Bytes size;
  double measured_us = 0;
  double fitted_us = 0;
  std::size_t piece = 0;
  [[nodiscard]] double residual() const { return measured_us / fitted_us - 1; }
};

/// A row that is not fitted.
struct LeftOutRow {
  Place place;
  std::string why;
};

struct FittedTable {
  Place place;
  CollectiveKind collective = CollectiveKind::all_reduce;
  std::size_t ranks = 0;
  std::size_t hosts = 0;
  std::string algorithm = {};  ///< under whose model its last piece is read
  std::vector<FittedPiece> pieces = {};
  std::vector<ChangePoint> changes = {};
  std::vector<FittedPoint> points = {};  ///< by size
};

/// A number of the machine: "alpha", "bandwidth", "overhead", or a class of links.
struct FittedNumber {
  std::string name;
  Estimated value;  ///< us, or B/s
  bool is_rate = false;
  bool fitted = true;  ///< false: stated or assumed
  std::string origin;  ///< how it was found
};

struct Fit {
  std::vector<FittedTable> tables;
  std::vector<FittedNumber> numbers;
  std::vector<LeftOutRow> left_out;
  std::vector<std::string> notes;  ///< what the logs cannot tell
  std::string machine;             ///< a machine file; parse_machine() accepts it; empty: there is none
  Diagnostics no_machine;          ///< why there is none
};

/// Fits logs. Errors (input): no table with three usable sizes; an algorithm that does not do a collective. Where
/// tables are fitted and give no machine, Fit::no_machine says why: logs of other ranks than the known machine has
/// NPUs, times that do not grow with the size or that no machine has. O(rows + sizes^3), sizes being at most 128 per
/// table (evenly chosen of more) while pieces are sought.
[[nodiscard]] Result<Fit> fit_machine(const std::vector<MeasurementLog>& logs, const FitOptions& options);

}  // namespace tenex
