// Asks the HDF5 library for its version.
#include "tenex/files/hdf5_version.hpp"

#include <fmt/core.h>
#include <hdf5.h>

namespace tenex {

std::string hdf5_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  if (H5get_libversion(&major, &minor, &release) < 0) return {};
  return fmt::format("{}.{}.{}", major, minor, release);
}

}  // namespace tenex
