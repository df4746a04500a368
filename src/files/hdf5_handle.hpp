// Handles of HDF5 objects that close themselves, the mutex of the library, and its error stack as text.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace tenex::hdf5 {

/// An identifier with the function that closes it.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, H5I_INVALID_HID);
      close_ = other.close_;
    }
    return *this;
  }
  ~Handle() { reset(); }

  [[nodiscard]] hid_t id() const { return id_; }
  [[nodiscard]] bool ok() const { return id_ >= 0; }
  void reset() {
    if (id_ >= 0) close_(id_);
    id_ = H5I_INVALID_HID;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// Holds the process-wide mutex of the library and keeps its error stack from being printed.
class Session {
 public:
  Session();

 private:
  std::lock_guard<std::mutex> lock_;
};

/// The innermost message of the library's error stack; "unknown" when it is empty.
[[nodiscard]] std::string last_error();

/// File access without locking; the core driver (memory only) if `in_memory`.
[[nodiscard]] Handle access_properties(bool in_memory);

/// A unique name for a file in memory. The core driver treats images of equal names as one file, and refuses names that
/// exist on disk.
[[nodiscard]] std::string image_name();

/// The element type in memory.
template <class T>
hid_t native_type();
template <>
inline hid_t native_type<std::int8_t>() {
  return H5T_NATIVE_INT8;
}
template <>
inline hid_t native_type<std::uint32_t>() {
  return H5T_NATIVE_UINT32;
}
template <>
inline hid_t native_type<std::int64_t>() {
  return H5T_NATIVE_INT64;
}
template <>
inline hid_t native_type<std::uint8_t>() {
  return H5T_NATIVE_UINT8;
}
template <>
inline hid_t native_type<std::uint16_t>() {
  return H5T_NATIVE_UINT16;
}
template <>
inline hid_t native_type<std::uint64_t>() {
  return H5T_NATIVE_UINT64;
}
template <>
inline hid_t native_type<double>() {
  return H5T_NATIVE_DOUBLE;
}

/// The element type in files: little-endian everywhere.
template <class T>
hid_t stored_type();
template <>
inline hid_t stored_type<std::int8_t>() {
  return H5T_STD_I8LE;
}
template <>
inline hid_t stored_type<std::uint32_t>() {
  return H5T_STD_U32LE;
}
template <>
inline hid_t stored_type<std::int64_t>() {
  return H5T_STD_I64LE;
}
template <>
inline hid_t stored_type<std::uint8_t>() {
  return H5T_STD_U8LE;
}
template <>
inline hid_t stored_type<std::uint16_t>() {
  return H5T_STD_U16LE;
}
template <>
inline hid_t stored_type<std::uint64_t>() {
  return H5T_STD_U64LE;
}
template <>
inline hid_t stored_type<double>() {
  return H5T_IEEE_F64LE;
}

/// UTF-8 of a fixed width, NUL-padded; width 0: of variable length.
[[nodiscard]] Handle text_type(std::size_t width);
/// A character of a text, as netCDF stores them: a byte of UTF-8 that HDF5 calls ASCII.
[[nodiscard]] Handle character_type();

}  // namespace tenex::hdf5
