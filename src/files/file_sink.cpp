#include "files/file_sink.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

namespace tenex::hdf5 {
namespace {

/// The library's file object, which must be the first member, and ours.
struct SinkFile {
  H5FD_t base;
  FileSink* sink;
  haddr_t allocated;  ///< end of the library's allocations
  haddr_t written;    ///< end of the library's writes
};

SinkFile* file_of(H5FD_t* file) { return reinterpret_cast<SinkFile*>(file); }
const SinkFile* file_of(const H5FD_t* file) { return reinterpret_cast<const SinkFile*>(file); }

H5FD_t* open_file(const char* /*name*/, unsigned /*flags*/, hid_t properties, haddr_t /*most*/) {
  const void* info = H5Pget_driver_info(properties);
  if (info == nullptr) return nullptr;
  auto file = std::make_unique<SinkFile>();
  file->sink = *static_cast<FileSink* const*>(info);
  return &file.release()->base;  // owned by the library until close_file()
}

herr_t close_file(H5FD_t* file) {
  const std::unique_ptr<SinkFile> closed(file_of(file));
  return 0;
}

/// Same features as the library's own driver for files: small pieces are allocated together.
herr_t query(const H5FD_t* /*file*/, unsigned long* flags) {
  if (flags != nullptr)
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t get_eoa(const H5FD_t* file, H5FD_mem_t /*type*/) { return file_of(file)->allocated; }
herr_t set_eoa(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t address) {
  file_of(file)->allocated = address;
  return 0;
}
haddr_t get_eof(const H5FD_t* file, H5FD_mem_t /*type*/) { return file_of(file)->written; }

herr_t read_bytes(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t at, std::size_t size, void* into) {
  file_of(file)->sink->read(at, into, size);
  return 0;
}

herr_t write_bytes(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t at, std::size_t size,
                   const void* from) {
  file_of(file)->sink->write(at, from, size);
  file_of(file)->written = std::max<haddr_t>(file_of(file)->written, at + size);
  return 0;
}

/// At the end the file has the length that the library expects.
herr_t truncate_file(H5FD_t* file, hid_t /*transfer*/, hbool_t /*closing*/) {
  auto& own = *file_of(file);
  if (own.written != own.allocated) own.sink->resize(own.allocated);
  own.written = own.allocated;
  return 0;
}

H5FD_class_t make_driver() {
  H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 0)
  constexpr int kValue = 500;  // in the range that the library reserves for tests
  driver.version = H5FD_CLASS_VERSION;
  driver.value = kValue;
#endif
  driver.name = "tenex_sink";
  driver.maxaddr = (haddr_t{1} << 62) - 1;
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.fapl_size = sizeof(FileSink*);  // NOLINT(bugprone-sizeof-expression): HDF5 copies the pointer
  driver.open = open_file;
  driver.close = close_file;
  driver.query = query;
  driver.get_eoa = get_eoa;
  driver.set_eoa = set_eoa;
  driver.get_eof = get_eof;
  driver.read = read_bytes;
  driver.write = write_bytes;
  driver.truncate = truncate_file;
  const H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(map), std::end(map), driver.fl_map);
  return driver;
}

}  // namespace

void FileSink::write(std::uint64_t at, const void* bytes, std::size_t size) {
  const char* from = static_cast<const char*>(bytes);
  while (error_ == 0 && size > 0) {
    const auto done = ::pwrite(descriptor_, from, size, static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      error_ = errno;
      break;
    }
    from += done;
    at += static_cast<std::uint64_t>(done);
    size -= static_cast<std::size_t>(done);
  }
  if (size > 0) lost_.push_back({at, std::vector<char>(from, from + size)});
}

void FileSink::read(std::uint64_t at, void* bytes, std::size_t size) {
  char* const into = static_cast<char*>(bytes);
  std::size_t done = 0;
  while (done < size) {
    const auto got = ::pread(descriptor_, into + done, size - done, static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && error_ == 0) error_ = errno;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  std::memset(into + done, 0, size - done);
  for (const Lost& lost : lost_) {
    const auto first = std::max(at, lost.at);
    const auto last = std::min(at + size, lost.at + lost.bytes.size());
    if (first < last) std::memcpy(into + (first - at), lost.bytes.data() + (first - lost.at), last - first);
  }
}

void FileSink::resize(std::uint64_t size) {
  if (error_ == 0 && ::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) error_ = errno;
}

Handle access_properties(FileSink& sink) {
  static const H5FD_class_t driver = make_driver();
  Handle properties(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  const Handle registered(H5FDregister(&driver), H5FDunregister);
  FileSink* const info = &sink;
  H5Pset_driver(properties.id(), registered.id(), static_cast<const void*>(&info));
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(properties.id(), false, true);
#endif
  return properties;
}

}  // namespace tenex::hdf5
