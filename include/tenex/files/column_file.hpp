// HDF5 files as tables of columns. Only this module's column files use HDF5.
//
// Writers build the file in memory (HDF5's core driver, no object times, so equal content gives equal bytes) and return
// its image; then POSIX calls write it (atomic_write.hpp). Files too large for memory go to disk as they grow, through
// a driver that hides failures from the library: HDF5 does not survive a full disk. Columns have one dimension, columns
// of lists two. They are compressed unless they are tiny: whole ones by gzip + shuffle + fletcher32; those that grow by
// gzip + shuffle alone (gzip has a checksum of its own), tile by tile on several threads. Every HDF5 library has these
// filters. The library may be built without thread safety, so every call here takes one process-wide mutex. File
// locking is off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

/// Texts of one width in bytes, NUL-padded, end to end: this is how text columns are stored, as strings of fixed length
/// or as characters. (A million variable-length strings take a thousand times as much space as this does compressed.)
struct TextColumn {
  std::size_t width = 1;
  std::string bytes;  ///< rows() * width

  TextColumn() = default;
  /// `rows` empty texts.
  TextColumn(std::size_t width_in_bytes, std::size_t rows)
      : width(width_in_bytes), bytes(rows * width_in_bytes, '\0') {}
  /// With the width of the longest text, at least 1. O(bytes).
  explicit TextColumn(std::span<const std::string> texts);

  [[nodiscard]] std::size_t rows() const { return bytes.size() / width; }
  /// Without the padding.
  [[nodiscard]] std::string_view at(std::size_t row) const;
  /// `text` must fit the width.
  void set(std::size_t row, std::string_view text);
};

/// Lists of at most `width` integers >= 0, one per row, padded with -1: a dataset of rows by width.
struct ListColumn {
  std::size_t width = 1;
  std::vector<std::int64_t> values;  ///< rows() * width

  ListColumn() = default;
  /// `rows` empty lists.
  ListColumn(std::size_t width_of_all, std::size_t rows) : width(width_of_all), values(rows * width_of_all, -1) {}
  /// With the width of the longest list, at least 1. O(values).
  explicit ListColumn(std::span<const std::vector<std::int64_t>> lists);

  [[nodiscard]] std::size_t rows() const { return values.size() / width; }
  /// Without the -1 at the end.
  [[nodiscard]] std::span<const std::int64_t> at(std::size_t row) const;
  /// `list` must fit the width.
  void set(std::size_t row, std::span<const std::int64_t> list);
};

/// Builds one HDF5 file, in memory or on disk. After the first failure all calls do nothing, and image(), save() or
/// commit() returns that failure. Elements of columns: int8, uint8, uint16, uint32, int64, uint64, double. Paths are
/// absolute ("/point", "/links/bytes").
class ColumnFileWriter {
 public:
  /// A file in memory.
  ColumnFileWriter();
  /// A file on disk under a temporary name, until commit(). `threads` threads compress columns that grow; their number
  /// never changes the bytes. Errors (environment): no permission, folder missing.
  [[nodiscard]] static Result<ColumnFileWriter> create(const std::filesystem::path& path, int threads = 1);
  ~ColumnFileWriter();
  ColumnFileWriter(ColumnFileWriter&&) noexcept;
  ColumnFileWriter& operator=(ColumnFileWriter&&) noexcept;

  void add_group(const std::string& path);

  /// Attributes of a group or column. Text is UTF-8 of any length.
  void set_attribute(const std::string& object, const std::string& name, std::string_view value);
  void set_attribute(const std::string& object, const std::string& name, std::int64_t value);
  void set_attribute(const std::string& object, const std::string& name, std::span<const std::int8_t> values);

  /// Writes a whole column.
  template <class T>
  void write(const std::string& path, std::span<const T> values);
  void write(const std::string& path, const TextColumn& values);
  void write(const std::string& path, const ListColumn& values);
  /// Writes a column of `rows` texts as netCDF does: a dataset of `rows` by `width` characters. `fill` makes the texts
  /// piece by piece: it sets those of a part, which are empty at first, for the rows from `first` on, in order. Takes
  /// the memory of one tile (512 KiB).
  void write_characters(const std::string& path, std::size_t width, std::size_t rows,
                        const std::function<void(std::size_t first, TextColumn& part)>& fill);

  /// Writes a column that grows: begin once, append in pieces. Costs memory for two tiles per thread (of 256 or 512
  /// KiB).
  template <class T>
  void begin(const std::string& path);
  /// False after a failure: further appends do nothing, so a caller may stop.
  [[nodiscard]] bool good() const;
  template <class T>
  void append(const std::string& path, std::span<const T> values);

  /// Declares a column to be a dimension (an HDF5 dimension scale), and attaches columns to it. `axis` is 0, or 1 for
  /// the entries of lists and for characters.
  void make_dimension(const std::string& column, const std::string& name);
  /// Makes a dimension of this size without values, as netCDF stores it.
  void add_dimension(const std::string& path, std::size_t size);
  void attach_dimension(const std::string& column, const std::string& dimension, unsigned axis = 0);

  /// The bytes of a file in memory. Call once, at the end. Errors (environment): the first failure of any call.
  [[nodiscard]] Result<std::vector<std::byte>> image();
  /// Writes the image atomically. Errors (environment): as image(), or the file system's.
  [[nodiscard]] Status save(const std::filesystem::path& path);
  /// Appends a checksum of the whole file on disk and gives the file its name. Call once, at the end. Errors
  /// (environment): the first failure of any call, or the file system's; then the file is as it was before.
  [[nodiscard]] Status commit();

 private:
  class Impl;
  explicit ColumnFileWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Reads one HDF5 file. Foreign and damaged files give errors, never wrong values: types and sizes are checked before
/// reading.
class ColumnFileReader {
 public:
  /// Errors (environment): unreadable, truncated or damaged (if there is a checksum at its end, the whole file is
  /// checked here); (input): not HDF5.
  [[nodiscard]] static Result<ColumnFileReader> open(const std::filesystem::path& path);
  /// The same from bytes in memory; `name` stands for the file in messages.
  [[nodiscard]] static Result<ColumnFileReader> open_image(std::vector<std::byte> bytes, std::string name);
  ~ColumnFileReader();
  ColumnFileReader(ColumnFileReader&&) noexcept;
  ColumnFileReader& operator=(ColumnFileReader&&) noexcept;

  /// From now on `path` refers to the column that is stored as `stored`.
  void rename(const std::string& path, const std::string& stored);

  [[nodiscard]] bool has(const std::string& path) const;
  /// Whether a column has texts, as strings of fixed length or as characters.
  [[nodiscard]] bool is_text(const std::string& path) const;
  /// Errors (input): absent or of another type.
  [[nodiscard]] Result<std::string> text_attribute(const std::string& object, const std::string& name) const;
  [[nodiscard]] Result<std::int64_t> integer_attribute(const std::string& object, const std::string& name) const;
  /// Number of elements of a column. Errors (input): absent or not one-dimensional.
  [[nodiscard]] Result<std::size_t> rows(const std::string& path) const;

  /// A column, or `count` elements of it from `first`. Errors: absent, of another type or shorter (input), damaged
  /// (environment).
  template <class T>
  [[nodiscard]] Result<std::vector<T>> read(const std::string& path) const;
  template <class T>
  [[nodiscard]] Result<std::vector<T>> read(const std::string& path, std::size_t first, std::size_t count) const;
  /// Sets the number of threads that unpack tiles for read_into(); 1 at first.
  void set_threads(int threads);
  /// Fills `into` with the elements from `first` on.
  template <class T>
  [[nodiscard]] Status read_into(const std::string& path, std::size_t first, std::span<T> into) const;
  [[nodiscard]] Result<TextColumn> read_text(const std::string& path) const;
  /// Errors: as read(); (input) not of two dimensions.
  [[nodiscard]] Result<ListColumn> read_lists(const std::string& path) const;

 private:
  friend class PackedRead;
  class Impl;
  explicit ColumnFileReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Checks the attributes `kind` and `schema` that every HDF5 file of tenex has at its root. Errors (input): of another
/// kind, of a newer schema.
[[nodiscard]] Status check_file_kind(const ColumnFileReader& reader, const std::string& file, std::string_view kind,
                                     std::int64_t schema);

/// The version of the HDF5 library that this process runs with, "1.10.8"; empty if it does not say.
[[nodiscard]] std::string hdf5_version();

}  // namespace tenex
