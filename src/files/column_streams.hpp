// Columns of HDF5 files as streams of values: reading and writing in pieces, and facts of one group together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "tenex/base/diagnostic.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex {

/// Reads the rows of one column in order, in pieces of many tiles.
template <class T>
class ColumnCursor {
 public:
  ColumnCursor(const ColumnFileReader& file, std::string path, std::size_t rows)
      : file_(file), path_(std::move(path)), left_(rows) {}

  /// Fills `into`. Errors: as ColumnFileReader::read, or fewer rows are left.
  [[nodiscard]] Status take(std::span<T> into) {
    while (!into.empty()) {
      if (at_ == piece_.size())
        if (auto status = fill(); !status) return status;
      const auto count = std::min(into.size(), piece_.size() - at_);
      std::copy_n(piece_.data() + at_, count, into.data());
      at_ += count;
      into = into.subspan(count);
    }
    return success();
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 20;  ///< whole tiles of any element type

  Status fill() {
    if (left_ == 0) return environment_error(fmt::format("\"{}\" is damaged", path_), "it is too short");
    piece_.resize(std::min(kPiece, left_));
    if (auto status = file_.read_into<T>(path_, first_, std::span<T>(piece_)); !status) return status;
    first_ += piece_.size();
    left_ -= piece_.size();
    at_ = 0;
    return success();
  }

  const ColumnFileReader& file_;
  std::string path_;
  std::size_t first_ = 0;
  std::size_t left_;
  std::vector<T> piece_;
  std::size_t at_ = 0;
};

/// Writes a column piece by piece. Tiny columns are kept until the end and stored uncompressed.
template <class T>
class ColumnPen {
 public:
  ColumnPen(ColumnFileWriter& file, std::string path) : file_(file), path_(std::move(path)) {}

  void put(T value) {
    piece_.push_back(value);
    if (piece_.size() == kPiece) flush();
  }
  void put(std::span<const T> values) {
    for (const T value : values) put(value);
  }
  /// Call once, at the end.
  void finish() {
    if (begun_)
      flush();
    else
      file_.write(path_, std::span<const T>(piece_));
  }

 private:
  static constexpr std::size_t kPiece = 16'384;

  void flush() {
    if (!begun_) file_.begin<T>(path_);
    begun_ = true;
    file_.append(path_, std::span<const T>(piece_));
    piece_.clear();
  }

  ColumnFileWriter& file_;
  std::string path_;
  std::vector<T> piece_;
  bool begun_ = false;
};

/// Reads several whole columns of one group, and keeps the first errors.
class ColumnFacts {
 public:
  ColumnFacts(const ColumnFileReader& file, std::string group) : file_(file), group_(std::move(group)) {}

  void text(const char* name, std::string& into) { take(file_.text_attribute(group_, name), into); }
  void integer(const char* name, std::int64_t& into) { take(file_.integer_attribute(group_, name), into); }
  template <class T>
  void column(const char* name, std::vector<T>& into) {
    take(file_.read<T>(group_ + "/" + name), into);
  }
  void rows(const char* name, std::size_t& into) { take(file_.rows(group_ + "/" + name), into); }
  [[nodiscard]] const Diagnostics& errors() const { return errors_; }

 private:
  template <class T>
  void take(Result<T> value, T& into) {
    if (value)
      into = std::move(value).value();
    else
      append(errors_, value.errors());
  }

  const ColumnFileReader& file_;
  std::string group_;
  Diagnostics errors_;
};

}  // namespace tenex
