// The version of HDF5.
#pragma once

#include <string>

namespace tenex {

/// The version of the HDF5 library that this process runs with, "1.10.8"; empty if it does not say.
[[nodiscard]] std::string hdf5_version();

}  // namespace tenex
