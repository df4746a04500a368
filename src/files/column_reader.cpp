// Reads HDF5 files column by column, trusting nothing: type, rank and size are checked before memory is allocated.
#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "files/hdf5_handle.hpp"
#include "files/seal.hpp"
#include "files/tile_packer.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex {
namespace {

using hdf5::Handle;

/// Deflate expands at most 1,032-fold. A column that claims more is in a damaged or hostile file.
constexpr hsize_t kMostExpansion = 1'100;
constexpr hsize_t kSlackBytes = hsize_t{1} << 20;
/// Most elements of a tile that is unpacked here; the writer's tiles have fewer.
constexpr std::size_t kLargestTile = std::size_t{1} << 20;

/// Whether an element type can hold every value of the stored type.
template <class T>
bool can_hold(hid_t stored) {
  const auto kind = H5Tget_class(stored);
  const auto size = H5Tget_size(stored);
  if constexpr (std::is_same_v<T, double>) return kind == H5T_FLOAT && size <= sizeof(T);
  if (kind != H5T_INTEGER) return false;
  const bool same_sign = (H5Tget_sign(stored) == H5T_SGN_2) == std::is_signed_v<T>;
  return size < sizeof(T) ? same_sign || std::is_signed_v<T> : size == sizeof(T) && same_sign;
}

}  // namespace

class ColumnFileReader::Impl {
 public:
  Impl(Handle file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}
  ~Impl() {
    const hdf5::Session session;
    file_.reset();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[nodiscard]] hid_t file() const { return file_.id(); }
  [[nodiscard]] Diagnostic wrong(const std::string& what, std::string why) const {
    return input_error({name_, 0, 0}, fmt::format("\"{}\" cannot be read", what), std::move(why));
  }
  [[nodiscard]] Diagnostic damaged(const std::string& what) const {
    return environment_error(fmt::format("{}: \"{}\" is damaged", name_, what), hdf5::last_error());
  }

  /// Opens an attribute; not ok when it is absent.
  [[nodiscard]] Handle attribute(const std::string& object, const std::string& name) const {
    if (object != "/" && H5Lexists(file(), object.c_str(), H5P_DEFAULT) <= 0) return {};
    if (H5Aexists_by_name(file(), object.c_str(), name.c_str(), H5P_DEFAULT) <= 0) return {};
    return Handle(H5Aopen_by_name(file(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  }

  struct Column {
    Handle set;
    Handle type;
    std::size_t rows = 0;
    std::size_t width = 1;  ///< of lists and characters
  };
  /// `rank`: 1, or 2 for lists and characters.
  [[nodiscard]] Result<Column> column(const std::string& path, int rank = 1) const {
    if (!exists(path)) return wrong(path, "there is no such column");
    Column found;
    found.set = Handle(H5Dopen2(file(), stored(path).c_str(), H5P_DEFAULT), H5Dclose);
    if (!found.set.ok()) return wrong(path, "it is no column");
    const Handle space(H5Dget_space(found.set.id()), H5Sclose);
    found.type = Handle(H5Dget_type(found.set.id()), H5Tclose);
    if (!space.ok() || !found.type.ok() || H5Sget_simple_extent_ndims(space.id()) != rank)
      return wrong(path, rank == 1 ? "a column has one dimension" : "a column of lists has two dimensions");
    std::array<hsize_t, 2> sizes{0, 1};
    H5Sget_simple_extent_dims(space.id(), sizes.data(), nullptr);
    const auto [size, width] = sizes;
    const auto element = H5Tget_size(found.type.id());
    const auto most = H5Dget_storage_size(found.set.id()) * kMostExpansion + kSlackBytes;
    if (element == 0 || width == 0 || width > most / element || size > most / element / width)
      return environment_error(fmt::format("{}: \"{}\" is damaged", name_, path),
                               fmt::format("it claims {} rows, more than the file can hold", size));
    found.rows = size;
    found.width = width;
    return found;
  }

  /// A column of texts of fixed length, which are strings or rows of characters.
  [[nodiscard]] Result<Column> text(const std::string& path) const {
    auto found = column(path, is_table(path) ? 2 : 1);
    if (!found) return found;
    const auto type = found->type.id();
    if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 ||
        (found->width > 1 && H5Tget_size(type) > 1))
      return wrong(path, "its elements are no text of fixed length");
    return found;
  }

  void rename(const std::string& path, const std::string& stored_path) { renamed_[path] = stored_path; }
  [[nodiscard]] const std::string& stored(const std::string& path) const {
    const auto found = renamed_.find(path);
    return found == renamed_.end() ? path : found->second;
  }

  /// Whether every part of the path is a link that exists.
  [[nodiscard]] bool exists(const std::string& name) const {
    const auto& path = stored(name);
    for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
      if (H5Lexists(file(), path.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) return false;
      if (slash == std::string::npos) return true;
    }
  }

  /// Whether it is a column of two dimensions.
  [[nodiscard]] bool is_table(const std::string& path) const {
    if (!exists(path)) return false;
    const Handle set(H5Dopen2(file(), stored(path).c_str(), H5P_DEFAULT), H5Dclose);
    if (!set.ok()) return false;
    const Handle space(H5Dget_space(set.id()), H5Sclose);
    return space.ok() && H5Sget_simple_extent_ndims(space.id()) == 2;
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  void set_threads(int threads) { threads_ = threads; }
  [[nodiscard]] int threads() const { return threads_; }

  /// Elements per tile if ColumnFileWriter grew the column and its elements are as in memory; else 0.
  [[nodiscard]] static std::size_t packed_tile(const Column& column, hid_t native) {
    if (H5Tequal(column.type.id(), native) <= 0) return 0;
    const Handle properties(H5Dget_create_plist(column.set.id()), H5Pclose);
    hsize_t tile = 0;
    if (H5Pget_layout(properties.id()) != H5D_CHUNKED || H5Pget_chunk(properties.id(), 1, &tile) != 1) return 0;
    const bool shuffled = H5Tget_size(native) > 1;
    if (H5Pget_nfilters(properties.id()) != (shuffled ? 2 : 1)) return 0;
    const auto filter = [&](unsigned index) {
      unsigned flags = 0, config = 0;
      std::size_t values = 0;
      return H5Pget_filter2(properties.id(), index, &flags, &values, nullptr, 0, nullptr, &config);
    };
    if (shuffled && filter(0) != H5Z_FILTER_SHUFFLE) return 0;
    return filter(shuffled ? 1 : 0) == H5Z_FILTER_DEFLATE ? tile : 0;
  }

  /// The stored bytes of tile `number`; empty if it is absent or stored otherwise.
  [[nodiscard]] static std::vector<std::byte> stored_tile(const Column& column, std::size_t tile, std::size_t number,
                                                          std::size_t most_bytes) {
    const hsize_t offset = tile * number;
    hsize_t size = 0;
    if (H5Dget_chunk_storage_size(column.set.id(), &offset, &size) < 0 || size == 0 || size > most_bytes) return {};
    std::vector<std::byte> bytes(size);
    std::uint32_t skipped = 0;
    if (H5Dread_chunk(column.set.id(), H5P_DEFAULT, &offset, &skipped, bytes.data()) < 0 || skipped != 0) return {};
    return bytes;
  }

  /// Reads `count` elements from `first` into `into`.
  [[nodiscard]] bool read(const Column& column, hid_t native, std::size_t first, std::size_t count, void* into) const {
    if (count == 0) return true;
    const hsize_t start = first;
    const hsize_t size = count;
    const Handle source(H5Dget_space(column.set.id()), H5Sclose);
    const Handle target(H5Screate_simple(1, &size, nullptr), H5Sclose);
    return H5Sselect_hyperslab(source.id(), H5S_SELECT_SET, &start, nullptr, &size, nullptr) >= 0 &&
           H5Dread(column.set.id(), native, target.id(), source.id(), H5P_DEFAULT, into) >= 0;
  }

 private:
  Handle file_;
  std::string name_;
  std::map<std::string, std::string> renamed_;  ///< names that callers use -> stored names
  int threads_ = 1;
};

/// Reads packed tiles: takes them from the file one after another under the library's lock, and unpacks them on several
/// threads outside it.
class PackedRead {
 public:
  using Impl = ColumnFileReader::Impl;

  PackedRead(std::size_t tile, std::size_t element, std::size_t first, std::span<std::byte> into)
      : tile_(tile), element_(element), first_(first), into_(into) {}

  [[nodiscard]] bool take(const Impl::Column& column) {
    const std::size_t last = (first_ * element_ + into_.size() + tile_ * element_ - 1) / (tile_ * element_);
    for (std::size_t number = first_ / tile_; number < last; ++number) {
      tiles_.push_back(Impl::stored_tile(column, tile_, number, 2 * tile_ * element_ + 1'024));
      if (tiles_.back().empty()) return false;
    }
    return true;
  }

  [[nodiscard]] bool unpack(int threads) {
    std::atomic<bool> good{true};
    in_parallel(threads, tiles_.size(), [&](std::size_t i) {
      const std::size_t bytes = tile_ * element_;
      const auto begin = (first_ / tile_ + i) * bytes;  // in the tile, in bytes of the column
      const auto from = std::max(begin, first_ * element_);
      const auto to = std::min(begin + bytes, first_ * element_ + into_.size());
      const auto target = into_.subspan(from - first_ * element_, to - from);
      if (target.size() == bytes) {
        if (!unpack_tile(tiles_[i], element_, target)) good = false;
        return;
      }
      std::vector<std::byte> whole(bytes);
      if (!unpack_tile(tiles_[i], element_, whole)) good = false;
      std::copy_n(whole.data() + (from - begin), target.size(), target.data());
    });
    return good;
  }

 private:
  std::size_t tile_;
  std::size_t element_;
  std::size_t first_;  ///< number of an element
  std::span<std::byte> into_;
  std::vector<std::vector<std::byte>> tiles_;
};

ColumnFileReader::ColumnFileReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ColumnFileReader::~ColumnFileReader() = default;
ColumnFileReader::ColumnFileReader(ColumnFileReader&&) noexcept = default;
ColumnFileReader& ColumnFileReader::operator=(ColumnFileReader&&) noexcept = default;

Result<ColumnFileReader> ColumnFileReader::open(const std::filesystem::path& path) {
  std::error_code error;  // the system's reason is more precise than the library's
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::is_regular_file(status))
    return environment_error(fmt::format("cannot read \"{}\"", path.string()),
                             error ? error.message() : "it is not a regular file");
  if (check_seal(path) == Seal::broken)
    return environment_error(fmt::format("\"{}\" is damaged", path.string()),
                             "its content is not what was written: the checksum at its end differs");
  const hdf5::Session session;
  const auto kind = H5Fis_hdf5(path.c_str());
  if (kind < 0) return environment_error(fmt::format("cannot read \"{}\"", path.string()), hdf5::last_error());
  if (kind == 0) return input_error({path.string(), 0, 0}, "this is no HDF5 file", "the HDF5 signature is missing");
  const auto access = hdf5::access_properties(false);
  Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
  if (!file.ok()) return environment_error(fmt::format("\"{}\" is damaged", path.string()), hdf5::last_error());
  return ColumnFileReader(std::make_unique<Impl>(std::move(file), path.string()));
}

namespace {

/// Many images may be open at once, each read one column after another. The library may forget metadata of columns (up
/// to 32 MiB per file), since reading them again only copies memory.
void keep_little_metadata(const hdf5::Handle& access) {
  constexpr std::size_t kKept = std::size_t{64} << 10;
  H5AC_cache_config_t config{};
  config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  if (H5Pget_mdc_config(access.id(), &config) < 0) return;
  config.set_initial_size = true;
  config.initial_size = kKept;
  config.min_size = kKept;
  config.max_size = kKept;
  H5Pset_mdc_config(access.id(), &config);
}

}  // namespace

Result<ColumnFileReader> ColumnFileReader::open_image(std::vector<std::byte> bytes, std::string name) {
  const hdf5::Session session;
  const auto access = hdf5::access_properties(true);
  H5Pset_file_image(access.id(), bytes.data(), bytes.size());
  bytes = {};  // the library has its own copy
  keep_little_metadata(access);
  Handle file(H5Fopen(hdf5::image_name().c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
  if (!file.ok()) return environment_error(fmt::format("\"{}\" is damaged", name), hdf5::last_error());
  return ColumnFileReader(std::make_unique<Impl>(std::move(file), std::move(name)));
}

void ColumnFileReader::rename(const std::string& path, const std::string& stored) { impl_->rename(path, stored); }

bool ColumnFileReader::is_text(const std::string& path) const {
  const hdf5::Session session;
  return impl_->text(path).ok();
}

bool ColumnFileReader::has(const std::string& path) const {
  const hdf5::Session session;
  return impl_->exists(path);
}

Result<std::string> ColumnFileReader::text_attribute(const std::string& object, const std::string& name) const {
  const hdf5::Session session;
  const auto what = object + " @" + name;
  const auto attribute = impl_->attribute(object, name);
  if (!attribute.ok()) return impl_->wrong(what, "there is no such attribute");
  const Handle stored(H5Aget_type(attribute.id()), H5Tclose);
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  if (H5Tget_class(stored.id()) != H5T_STRING || H5Tis_variable_str(stored.id()) <= 0 ||
      H5Sget_simple_extent_npoints(space.id()) != 1)
    return impl_->wrong(what, "it is no text");
  const auto native = hdf5::text_type(0);
  char* pointer = nullptr;
  if (H5Aread(attribute.id(), native.id(), &pointer) < 0) return impl_->damaged(what);
  std::string text = pointer == nullptr ? "" : pointer;
  H5free_memory(pointer);
  return text;
}

Result<std::int64_t> ColumnFileReader::integer_attribute(const std::string& object, const std::string& name) const {
  const hdf5::Session session;
  const auto what = object + " @" + name;
  const auto attribute = impl_->attribute(object, name);
  if (!attribute.ok()) return impl_->wrong(what, "there is no such attribute");
  const Handle stored(H5Aget_type(attribute.id()), H5Tclose);
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  if (!can_hold<std::int64_t>(stored.id()) || H5Sget_simple_extent_npoints(space.id()) != 1)
    return impl_->wrong(what, "it is no integer");
  std::int64_t value = 0;
  if (H5Aread(attribute.id(), H5T_NATIVE_INT64, &value) < 0) return impl_->damaged(what);
  return value;
}

Result<std::size_t> ColumnFileReader::rows(const std::string& path) const {
  const hdf5::Session session;
  const auto column = impl_->column(path);
  if (!column) return column.errors();
  return column->rows;
}

template <class T>
Result<std::vector<T>> ColumnFileReader::read(const std::string& path) const {
  const auto size = rows(path);
  if (!size) return size.errors();
  return read<T>(path, 0, *size);
}

template <class T>
Result<std::vector<T>> ColumnFileReader::read(const std::string& path, std::size_t first, std::size_t count) const {
  const hdf5::Session session;
  const auto column = impl_->column(path);
  if (!column) return column.errors();
  if (!can_hold<T>(column->type.id())) return impl_->wrong(path, "its elements are of another type");
  if (first > column->rows || count > column->rows - first)
    return impl_->wrong(path, fmt::format("it ends after {} rows", column->rows));
  std::vector<T> values(count);
  if (!impl_->read(*column, hdf5::native_type<T>(), first, count, values.data())) return impl_->damaged(path);
  return values;
}

template <class T>
Status ColumnFileReader::read_into(const std::string& path, std::size_t first, std::span<T> into) const {
  std::optional<PackedRead> packed;
  {
    const hdf5::Session session;
    const auto column = impl_->column(path);
    if (!column) return column.errors();
    if (!can_hold<T>(column->type.id())) return impl_->wrong(path, "its elements are of another type");
    if (first > column->rows || into.size() > column->rows - first)
      return impl_->wrong(path, fmt::format("it ends after {} rows", column->rows));
    const auto tile = Impl::packed_tile(*column, hdf5::native_type<T>());
    if (tile > 0 && tile <= kLargestTile) {
      packed.emplace(tile, sizeof(T), first, std::as_writable_bytes(into));
      if (!packed->take(*column)) packed.reset();
    }
    if (!packed && !impl_->read(*column, hdf5::native_type<T>(), first, into.size(), into.data()))
      return impl_->damaged(path);
  }
  if (packed && !packed->unpack(impl_->threads()))
    return environment_error(fmt::format("{}: \"{}\" is damaged", impl_->name(), path), "a tile cannot be unpacked");
  return success();
}

void ColumnFileReader::set_threads(int threads) { impl_->set_threads(threads); }

Result<TextColumn> ColumnFileReader::read_text(const std::string& path) const {
  const hdf5::Session session;
  const auto column = impl_->text(path);
  if (!column) return column.errors();
  // The stored type: nothing is converted, and the rest of a row is NUL.
  TextColumn values(column->width * H5Tget_size(column->type.id()), column->rows);
  if (!values.bytes.empty() &&
      H5Dread(column->set.id(), column->type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.bytes.data()) < 0)
    return impl_->damaged(path);
  return values;
}

Result<ListColumn> ColumnFileReader::read_lists(const std::string& path) const {
  const hdf5::Session session;
  const auto column = impl_->column(path, 2);
  if (!column) return column.errors();
  if (!can_hold<std::int64_t>(column->type.id())) return impl_->wrong(path, "its elements are of another type");
  ListColumn lists(column->width, column->rows);
  if (!lists.values.empty() &&
      H5Dread(column->set.id(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, lists.values.data()) < 0)
    return impl_->damaged(path);
  return lists;
}

Status check_file_kind(const ColumnFileReader& reader, const std::string& file, std::string_view kind,
                       std::int64_t schema) {
  const auto found_kind = reader.text_attribute("/", "kind");
  if (!found_kind || *found_kind != kind)
    return input_error(
        {file, 0, 0}, fmt::format("this is no {} of tenex", kind),
        found_kind ? fmt::format("its kind is \"{}\"", *found_kind) : "it is HDF5 without the attribute \"kind\"");
  const auto found_schema = reader.integer_attribute("/", "schema");
  if (!found_schema) return found_schema.errors();
  if (*found_schema > schema)
    return input_error({file, 0, 0}, fmt::format("{} schema {} is newer than this version", kind, *found_schema),
                       fmt::format("this version reads schema {}", schema), "use a newer tenex");
  if (*found_schema < 1)
    return input_error({file, 0, 0}, fmt::format("{} schema {} is not known", kind, *found_schema));
  return success();
}

template Result<std::vector<std::int8_t>> ColumnFileReader::read(const std::string&) const;
template Result<std::vector<std::uint8_t>> ColumnFileReader::read(const std::string&) const;
template Result<std::vector<std::uint16_t>> ColumnFileReader::read(const std::string&) const;
template Result<std::vector<std::uint32_t>> ColumnFileReader::read(const std::string&) const;
template Result<std::vector<std::int64_t>> ColumnFileReader::read(const std::string&) const;
template Result<std::vector<std::uint64_t>> ColumnFileReader::read(const std::string&) const;
template Result<std::vector<double>> ColumnFileReader::read(const std::string&) const;
template Result<std::vector<std::int8_t>> ColumnFileReader::read(const std::string&, std::size_t, std::size_t) const;
template Result<std::vector<std::uint8_t>> ColumnFileReader::read(const std::string&, std::size_t, std::size_t) const;
template Result<std::vector<std::uint16_t>> ColumnFileReader::read(const std::string&, std::size_t, std::size_t) const;
template Result<std::vector<std::uint32_t>> ColumnFileReader::read(const std::string&, std::size_t, std::size_t) const;
template Result<std::vector<std::int64_t>> ColumnFileReader::read(const std::string&, std::size_t, std::size_t) const;
template Result<std::vector<std::uint64_t>> ColumnFileReader::read(const std::string&, std::size_t, std::size_t) const;
template Result<std::vector<double>> ColumnFileReader::read(const std::string&, std::size_t, std::size_t) const;
template Status ColumnFileReader::read_into(const std::string&, std::size_t, std::span<std::int8_t>) const;
template Status ColumnFileReader::read_into(const std::string&, std::size_t, std::span<std::uint8_t>) const;
template Status ColumnFileReader::read_into(const std::string&, std::size_t, std::span<std::uint16_t>) const;
template Status ColumnFileReader::read_into(const std::string&, std::size_t, std::span<std::uint32_t>) const;
template Status ColumnFileReader::read_into(const std::string&, std::size_t, std::span<std::int64_t>) const;
template Status ColumnFileReader::read_into(const std::string&, std::size_t, std::span<std::uint64_t>) const;
template Status ColumnFileReader::read_into(const std::string&, std::size_t, std::span<double>) const;

std::string hdf5_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  if (H5get_libversion(&major, &minor, &release) < 0) return {};
  return fmt::format("{}.{}.{}", major, minor, release);
}

}  // namespace tenex
