// An HDF5 file driver over a file descriptor that never fails.
//
// The library does not survive a failed write: closing the file afterwards may crash. This driver hides failures from
// the library. It keeps the first one, and remembers what it could not write, so that the library reads back its own
// metadata. The writer checks error() after every piece and stops there, so little is remembered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "files/hdf5_handle.hpp"

namespace tenex::hdf5 {

/// Writes and reads a file's bytes. Must outlive the file.
class FileSink {
 public:
  /// `descriptor` is open for reading and writing, and empty; the caller closes it.
  explicit FileSink(int descriptor) : descriptor_(descriptor) {}

  /// The first failure (an errno), 0 if there was none.
  [[nodiscard]] int error() const { return error_; }

  void write(std::uint64_t at, const void* bytes, std::size_t size);
  /// Bytes that were never written read as zero.
  void read(std::uint64_t at, void* bytes, std::size_t size);
  void resize(std::uint64_t size);

 private:
  struct Lost {
    std::uint64_t at = 0;
    std::vector<char> bytes;
  };
  int descriptor_;
  int error_ = 0;
  std::vector<Lost> lost_;  ///< in the order in which they were written
};

/// Access properties that make H5Fcreate() write into `sink`. Needs the library's lock (Session).
[[nodiscard]] Handle access_properties(FileSink& sink);

}  // namespace tenex::hdf5
