// Numbers rows in a mixed-radix system: the axes' lengths are the bases, and the last axis is the fastest digit.
#include "design/row_source.hpp"

#include <algorithm>
#include <utility>

#include "design/enumerate.hpp"

namespace tenex {

namespace {

/// The part of the vocabulary that building a point needs. Functions that read files are left out: they were called
/// during parsing, and may refer to objects that no longer exist.
Vocabulary words_of(Vocabulary vocabulary) {
  vocabulary.stored_file = {};
  vocabulary.check_training = {};
  return vocabulary;
}

}  // namespace

std::size_t rows_of(const Sweep& sweep) {
  if (sweep.drawn) return std::min(sweep.drawn->size(), kMostRows + 1);
  std::size_t rows = 1;
  for (const Axis& axis : sweep.axes) {
    if (__builtin_mul_overflow(rows, axis.length(), &rows)) return kMostRows + 1;
  }
  return std::min(rows, kMostRows + 1);
}

bool set_varying(const Sweep& sweep, std::size_t number, Row& row) {
  if (sweep.drawn) number = (*sweep.drawn)[number];
  bool whole = true;
  for (std::size_t a = sweep.axes.size(); a-- > 0;) {
    const Axis& axis = sweep.axes[a];
    const std::size_t at = number % axis.length();
    number /= axis.length();
    for (std::size_t k = 0; k < axis.keys.size(); ++k) {
      const SettingValue* value = axis.columns[k][at].get();
      row[index_of(axis.keys[k])] = value;
      whole = whole && value != nullptr;
    }
  }
  return whole;
}

RowSource::RowSource(std::vector<Sweep> sweeps, const Vocabulary& vocabulary)
    : sweeps_(std::move(sweeps)), first_{0}, vocabulary_(words_of(vocabulary)) {
  for (const Sweep& sweep : sweeps_) {
    const std::size_t rows = sweep.usable ? rows_of(sweep) : 0;
    first_.push_back(first_.back() + (first_.back() + rows > kMostRows ? 0 : rows));
  }
}

std::size_t RowSource::number_of_sweep(std::size_t row) const {
  // The last sweep that begins at or before the row: a sweep without rows begins where the next one does.
  const auto sweep = static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), row) - first_.begin()) - 1;
  ensure(sweep < sweeps_.size(), "a row that no sweep has");
  return sweep;
}

DesignPoint RowSource::build(std::size_t row, Groups groups) const {
  const auto sweep = number_of_sweep(row);
  Row values{};
  for (std::size_t i = 0; i < kKeyCount; ++i) values[i] = sweeps_[sweep].fixed[i].get();
  ensure(set_varying(sweeps_[sweep], row - first_[sweep], values), "a row without a value was made a point");
  return build_point(values, std::move(groups), vocabulary_);
}

}  // namespace tenex
