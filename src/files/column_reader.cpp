// Reading HDF5 files column by column, trusting nothing: type, rank and size are checked before memory is taken.
#include <algorithm>

#include <fmt/core.h>

#include "files/hdf5_handle.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex {
namespace {

using hdf5::Handle;

/// Deflate expands at most 1,032-fold: a column that claims more is a damaged or hostile file.
constexpr hsize_t kMostExpansion = 1'100;
constexpr hsize_t kSlackBytes = hsize_t{1} << 20;

/// An element type as read must hold every value of the type as stored.
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
  };
  [[nodiscard]] Result<Column> column(const std::string& path) const {
    if (!exists(path)) return wrong(path, "there is no such column");
    Column found;
    found.set = Handle(H5Dopen2(file(), path.c_str(), H5P_DEFAULT), H5Dclose);
    if (!found.set.ok()) return wrong(path, "it is no column");
    const Handle space(H5Dget_space(found.set.id()), H5Sclose);
    found.type = Handle(H5Dget_type(found.set.id()), H5Tclose);
    if (!space.ok() || !found.type.ok() || H5Sget_simple_extent_ndims(space.id()) != 1)
      return wrong(path, "a column has one dimension");
    hsize_t size = 0;
    H5Sget_simple_extent_dims(space.id(), &size, nullptr);
    const auto element = H5Tget_size(found.type.id());
    const auto most = H5Dget_storage_size(found.set.id()) * kMostExpansion + kSlackBytes;
    if (element == 0 || size > most / element)
      return environment_error(fmt::format("{}: \"{}\" is damaged", name_, path),
                               fmt::format("it claims {} rows, more than the file can hold", size));
    found.rows = size;
    return found;
  }

  /// Whether every part of the path is a link that exists.
  [[nodiscard]] bool exists(const std::string& path) const {
    for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
      if (H5Lexists(file(), path.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) return false;
      if (slash == std::string::npos) return true;
    }
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
};

ColumnFileReader::ColumnFileReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ColumnFileReader::~ColumnFileReader() = default;
ColumnFileReader::ColumnFileReader(ColumnFileReader&&) noexcept = default;
ColumnFileReader& ColumnFileReader::operator=(ColumnFileReader&&) noexcept = default;

Result<ColumnFileReader> ColumnFileReader::open(const std::filesystem::path& path) {
  std::error_code error;  // the system's reason is better than the library's
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::is_regular_file(status))
    return environment_error(fmt::format("cannot read \"{}\"", path.string()),
                             error ? error.message() : "it is not a regular file");
  const hdf5::Session session;
  const auto kind = H5Fis_hdf5(path.c_str());
  if (kind < 0) return environment_error(fmt::format("cannot read \"{}\"", path.string()), hdf5::last_error());
  if (kind == 0) return input_error({path.string(), 0, 0}, "this is no HDF5 file", "the HDF5 signature is missing");
  const auto access = hdf5::access_properties(false);
  Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
  if (!file.ok()) return environment_error(fmt::format("\"{}\" is damaged", path.string()), hdf5::last_error());
  return ColumnFileReader(std::make_unique<Impl>(std::move(file), path.string()));
}

Result<ColumnFileReader> ColumnFileReader::open_image(std::vector<std::byte> bytes, std::string name) {
  const hdf5::Session session;
  const auto access = hdf5::access_properties(true);
  H5Pset_file_image(access.id(), bytes.data(), bytes.size());
  Handle file(H5Fopen(hdf5::image_name().c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
  if (!file.ok()) return environment_error(fmt::format("\"{}\" is damaged", name), hdf5::last_error());
  return ColumnFileReader(std::make_unique<Impl>(std::move(file), std::move(name)));
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

Result<TextColumn> ColumnFileReader::read_text(const std::string& path) const {
  const hdf5::Session session;
  const auto column = impl_->column(path);
  if (!column) return column.errors();
  if (H5Tget_class(column->type.id()) != H5T_STRING || H5Tis_variable_str(column->type.id()) != 0)
    return impl_->wrong(path, "its elements are no text of fixed length");
  TextColumn values(H5Tget_size(column->type.id()), column->rows);
  const auto native = hdf5::text_type(values.width);
  if (!impl_->read(*column, native.id(), 0, column->rows, values.bytes.data())) return impl_->damaged(path);
  return values;
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
template Result<std::vector<std::uint32_t>> ColumnFileReader::read(const std::string&) const;
template Result<std::vector<std::int64_t>> ColumnFileReader::read(const std::string&) const;
template Result<std::vector<double>> ColumnFileReader::read(const std::string&) const;
template Result<std::vector<std::int8_t>> ColumnFileReader::read(const std::string&, std::size_t, std::size_t) const;
template Result<std::vector<std::uint32_t>> ColumnFileReader::read(const std::string&, std::size_t, std::size_t) const;
template Result<std::vector<std::int64_t>> ColumnFileReader::read(const std::string&, std::size_t, std::size_t) const;
template Result<std::vector<double>> ColumnFileReader::read(const std::string&, std::size_t, std::size_t) const;

}  // namespace tenex
