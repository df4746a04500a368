// The samplers.
//
// Axes are discrete, so a drawn point may fall into a row that was drawn before. `random` then draws again. `sobol`
// goes on along its sequence; if that brings nothing new for long (in many dimensions the last free rows are hit late)
// the rest is drawn at random. `latin_hypercube` exchanges positions on one axis between a repeated row and another
// one, which leaves all strata as they are; rows that no exchange makes distinct are drawn at random.
#include "tenex/design/sampler.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/random.hpp"
#include "tenex/design/sobol.hpp"

namespace tenex {

namespace {

constexpr std::uint64_t kRandomStream = 0x72616e646f6dULL;  // "random"
constexpr std::uint64_t kLatinStream = 0x4c6174696eULL;     // "Latin"
constexpr std::uint32_t kMostRepeats = 4096;                // in a row, before a Sobol' sequence is abandoned
constexpr int kMostExchanges = 64;                          // tried for one repeated row

/// The rows drawn so far.
class Drawn {
 public:
  explicit Drawn(const std::vector<std::size_t>& lengths) : lengths_(lengths) {}

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  /// Adds the row; returns whether it is new.
  bool add(std::uint64_t row) { return rows_.insert(row).second; }
  /// Draws at random until there are `rows` rows.
  void fill(std::size_t rows, std::uint64_t seed) {
    Random random(seed, kRandomStream);
    while (rows_.size() < rows) {
      std::uint64_t row = 0;
      for (const std::size_t length : lengths_) row = row * length + random.below(static_cast<std::uint32_t>(length));
      add(row);
    }
  }
  [[nodiscard]] std::vector<std::uint64_t> sorted() const {
    std::vector<std::uint64_t> rows(rows_.begin(), rows_.end());
    std::sort(rows.begin(), rows.end());
    return rows;
  }

 private:
  const std::vector<std::size_t>& lengths_;
  std::unordered_set<std::uint64_t> rows_;
};

/// The position on an axis for a fraction of 2^32.
std::uint64_t position_of(std::uint32_t fraction, std::size_t length) {
  return (std::uint64_t{fraction} * length) >> 32U;
}

void draw_sobol(Drawn& drawn, const std::vector<std::size_t>& lengths, std::size_t rows, std::uint64_t seed) {
  const Sobol sobol(lengths.size(), seed);
  std::uint32_t repeats = 0;
  for (std::uint32_t index = 0; drawn.size() < rows && repeats < kMostRepeats && index != ~0U; ++index) {
    std::uint64_t row = 0;
    for (std::size_t axis = 0; axis < lengths.size(); ++axis) {
      row = row * lengths[axis] + position_of(sobol.at(index, axis), lengths[axis]);
    }
    repeats = drawn.add(row) ? 0 : repeats + 1;
  }
}

/// Positions by axis and row, and how often each row's number occurs.
class LatinDesign {
 public:
  LatinDesign(const std::vector<std::size_t>& lengths, std::size_t rows, std::uint64_t seed)
      : lengths_(lengths), random_(seed, kLatinStream), numbers_(rows) {
    std::vector<std::uint32_t> strata(rows);
    for (const std::size_t length : lengths) {
      std::iota(strata.begin(), strata.end(), 0U);
      random_.shuffle(std::span(strata));
      std::vector<std::uint64_t>& column = positions_.emplace_back(rows);
      for (std::size_t i = 0; i < rows; ++i) column[i] = position_in(strata[i], length, rows);
    }
    for (std::size_t i = 0; i < rows; ++i) ++times_[numbers_[i] = number_of(i)];
    for (std::size_t axis = 0; axis < lengths.size(); ++axis) {
      if (lengths[axis] > 1) free_axes_.push_back(axis);
    }
  }

  /// Makes repeated rows distinct as far as exchanges can.
  void mend() {
    if (free_axes_.empty()) return;
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      for (int attempt = 0; times_[numbers_[i]] > 1 && attempt < kMostExchanges; ++attempt) exchange(i);
    }
  }

  void put_into(Drawn& drawn) const {
    for (const std::uint64_t number : numbers_) drawn.add(number);
  }

 private:
  /// The position of a random point in stratum `stratum` of `rows`.
  std::uint64_t position_in(std::uint32_t stratum, std::size_t length, std::size_t rows) {
    __extension__ using Wide = unsigned __int128;
    const Wide place = (Wide{stratum} << 32U) + random_();
    return static_cast<std::uint64_t>(place * length / (Wide{rows} << 32U));
  }

  [[nodiscard]] std::uint64_t number_of(std::size_t i) const {
    std::uint64_t number = 0;
    for (std::size_t axis = 0; axis < lengths_.size(); ++axis) number = number * lengths_[axis] + positions_[axis][i];
    return number;
  }

  [[nodiscard]] bool is_free(std::uint64_t number) const {
    const auto known = times_.find(number);
    return known == times_.end() || known->second == 0;
  }

  /// Exchanges a position of row i with that of another row, if that makes both rows new.
  void exchange(std::size_t i) {
    const std::size_t j = random_.below(static_cast<std::uint32_t>(numbers_.size()));
    std::vector<std::uint64_t>& column =
        positions_[free_axes_[random_.below(static_cast<std::uint32_t>(free_axes_.size()))]];
    if (column[i] == column[j]) return;
    std::swap(column[i], column[j]);
    const std::uint64_t at_i = number_of(i);
    const std::uint64_t at_j = number_of(j);
    if (at_i == at_j || !is_free(at_i) || !is_free(at_j)) {
      std::swap(column[i], column[j]);
      return;
    }
    --times_[numbers_[i]];
    --times_[numbers_[j]];
    ++times_[numbers_[i] = at_i];
    ++times_[numbers_[j] = at_j];
  }

  const std::vector<std::size_t>& lengths_;
  Random random_;
  std::vector<std::vector<std::uint64_t>> positions_;
  std::vector<std::uint64_t> numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> times_;
  std::vector<std::size_t> free_axes_;  ///< axes with several values
};

}  // namespace

const std::vector<std::string_view>& sampler_names() {
  static const std::vector<std::string_view> names{"grid", "random", "latin_hypercube", "sobol"};
  return names;
}

std::optional<Sampler> find_sampler(std::string_view name) {
  const auto& names = sampler_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Sampler>(found - names.begin());
}

std::optional<std::uint64_t> grid_rows(const std::vector<std::size_t>& lengths) {
  std::uint64_t rows = 1;
  for (const std::size_t length : lengths) {
    if (__builtin_mul_overflow(rows, length, &rows) || rows > kMostGridRows) return std::nullopt;
  }
  return rows;
}

std::vector<std::uint64_t> draw_rows(Sampler sampler, const std::vector<std::size_t>& lengths, std::size_t rows,
                                     std::uint64_t seed) {
  const auto all = grid_rows(lengths);
  ensure(all && sampler != Sampler::grid, "rows of a grid are not drawn");
  if (*all <= rows) {
    std::vector<std::uint64_t> numbers(static_cast<std::size_t>(*all));
    std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
    return numbers;
  }
  Drawn drawn(lengths);
  if (sampler == Sampler::sobol) draw_sobol(drawn, lengths, rows, seed);
  if (sampler == Sampler::latin_hypercube) {
    LatinDesign design(lengths, rows, seed);
    design.mend();
    design.put_into(drawn);
  }
  drawn.fill(rows, seed);
  return drawn.sorted();
}

}  // namespace tenex
