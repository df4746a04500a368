#include "files/hdf5_handle.hpp"

#include <atomic>

namespace tenex::hdf5 {
namespace {

/// Serial builds of the library are often not thread-safe. Its state belongs to the process, and so does its lock.
std::mutex& library_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

Session::Session() : lock_(library_mutex()) { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

std::string last_error() {
  std::string message;
  const auto take = [](unsigned, const H5E_error2_t* error, void* into) -> herr_t {
    auto& text = *static_cast<std::string*>(into);
    if (text.empty() && error->desc != nullptr) text = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &message);
  return message.empty() ? "unknown" : message;
}

Handle access_properties(bool in_memory) {
  constexpr std::size_t kGrowth = std::size_t{1} << 20;
  Handle properties(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (in_memory) H5Pset_fapl_core(properties.id(), kGrowth, false);
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(properties.id(), false, true);
#endif
  return properties;
}

std::string image_name() {
  static std::atomic<std::uint64_t> count{0};
  return "/dev/null/" + std::to_string(count.fetch_add(1));  // no file can exist below a device
}

Handle text_type(std::size_t width) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), width == 0 ? H5T_VARIABLE : width);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  H5Tset_strpad(type.id(), width == 0 ? H5T_STR_NULLTERM : H5T_STR_NULLPAD);
  return type;
}

Handle character_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
  return type;
}

}  // namespace tenex::hdf5
