// Builds an HDF5 file, column by column, in memory or on disk.
#include <hdf5_hl.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "files/file_sink.hpp"
#include "files/hdf5_handle.hpp"
#include "files/seal.hpp"
#include "files/tile_packer.hpp"
#include "tenex/files/atomic_write.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex {
namespace {

using hdf5::Handle;

/// Elements of a tile (HDF5's chunk) of numbers. A tile of text has as many as fit the same bytes.
constexpr hsize_t kTile = 65'536;
/// Smaller columns, in bytes, are stored uncompressed: a compressed one costs a 2 KiB index.
constexpr std::size_t kTiny = 1'024;

/// Compressed, checksummed tiles of `tile` elements, or of `tile` lists of `width`, without times.
Handle tiled(hsize_t tile, bool numbers, hsize_t width) {
  constexpr unsigned kGzipLevel = 4;
  Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(properties.id(), false);
  const hsize_t size[] = {tile, width};
  H5Pset_chunk(properties.id(), width == 0 ? 1 : 2, size);
  if (numbers) H5Pset_shuffle(properties.id());
  H5Pset_deflate(properties.id(), kGzipLevel);
  H5Pset_fletcher32(properties.id());
  return properties;
}

/// Elements per tile of a column that grows.
std::size_t tile_of(std::size_t element) { return element >= 4 ? kTile : kTile * 4 / element; }

/// The filters that pack_tile() applies to the tiles of such a column.
Handle packed(std::size_t element) {
  const hsize_t tile = tile_of(element);
  Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(properties.id(), false);
  H5Pset_chunk(properties.id(), 1, &tile);
  if (element > 1) H5Pset_shuffle(properties.id());
  H5Pset_deflate(properties.id(), kDeflateLevel);
  return properties;
}

Handle untiled() {
  Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(properties.id(), false);
  return properties;
}

}  // namespace

class ColumnFileWriter::Impl {
 public:
  Impl() {
    const hdf5::Session session;
    create(hdf5::access_properties(true));
  }
  Impl(AtomicFile file, int threads) : on_disk_(std::move(file)), sink_(on_disk_->descriptor()), threads_(threads) {
    const hdf5::Session session;
    create(hdf5::access_properties(*sink_));
  }
  ~Impl() {
    const hdf5::Session session;
    growing_.clear();
    file_.reset();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void add_group(const std::string& path) {
    const hdf5::Session session;
    if (!error_.empty()) return;
    const Handle creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    H5Pset_obj_track_times(creation.id(), false);
    const Handle group(H5Gcreate2(file_.id(), path.c_str(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), H5Gclose);
    require(group.ok(), path);
  }

  void set_attribute(const std::string& object, const std::string& name, const Handle& space, hid_t stored,
                     hid_t native, const void* value) {
    if (!error_.empty()) return;
    const Handle attribute(H5Acreate_by_name(file_.id(), object.c_str(), name.c_str(), stored, space.id(), H5P_DEFAULT,
                                             H5P_DEFAULT, H5P_DEFAULT),
                           H5Aclose);
    require(attribute.ok() && H5Awrite(attribute.id(), native, value) >= 0, object + " @" + name);
  }

  void write(const std::string& path, hid_t stored, hid_t native, std::size_t element, std::size_t rows,
             const void* values, bool numbers, std::size_t width = 0) {
    if (!error_.empty()) return;
    const Handle column = create_column(path, stored, element, rows, numbers, width);
    require(column.ok() && (rows == 0 || H5Dwrite(column.id(), native, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0),
            path);
  }

  void write_characters(const std::string& path, std::size_t width, std::size_t rows,
                        const std::function<void(std::size_t, TextColumn&)>& fill) {
    if (!error_.empty()) return;
    std::optional<hdf5::Session> session(std::in_place);
    const auto type = hdf5::character_type();
    const Handle column = create_column(path, type.id(), 1, rows, false, width);
    bool good = column.ok();
    const std::size_t most = whole_tile_of(width);
    for (std::size_t first = 0; first < rows && good; first += most) {
      TextColumn part(width, std::min(most, rows - first));
      session.reset();  // other threads may use the library meanwhile
      try {
        fill(first, part);
      } catch (...) {
        session.emplace();  // handles must be closed under its lock
        throw;
      }
      session.emplace();
      good = write_part(column, type, first, part);
    }
    require(good, path);
  }

  void begin(const std::string& path, hid_t stored, std::size_t element) {
    if (!error_.empty()) return;
    const hsize_t none = 0;
    const hsize_t unlimited = H5S_UNLIMITED;
    const Handle space(H5Screate_simple(1, &none, &unlimited), H5Sclose);
    const auto properties = packed(element);
    Handle column(H5Dcreate2(file_.id(), path.c_str(), stored, space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
                  H5Dclose);
    require(column.ok(), path);
    growing_[path] = Growing{std::move(column), element, {}, 0};
  }

  void append(const std::string& path, std::span<const std::byte> values) {
    if (!error_.empty()) return;
    const auto found = growing_.find(path);
    ensure(found != growing_.end(), "append() to a column without begin()");
    auto& column = found->second;
    const std::size_t tile = tile_of(column.element) * column.element;
    const std::size_t batch = tile * 2 * static_cast<std::size_t>(std::max(1, threads_));
    while (!values.empty()) {
      const auto taken = std::min(batch - column.waiting.size(), values.size());
      column.waiting.insert(column.waiting.end(), values.begin(), values.begin() + static_cast<std::ptrdiff_t>(taken));
      values = values.subspan(taken);
      if (column.waiting.size() == batch) write_waiting(path, column);
    }
  }

  void make_dimension(const std::string& column, const std::string& name) {
    const hdf5::Session session;
    if (!error_.empty()) return;
    const Handle scale(H5Dopen2(file_.id(), column.c_str(), H5P_DEFAULT), H5Dclose);
    require(scale.ok() && H5DSset_scale(scale.id(), name.c_str()) >= 0, column);
  }

  void add_dimension(const std::string& path, std::size_t size) {
    const hdf5::Session session;
    if (!error_.empty()) return;
    const hsize_t length = size;
    const Handle space(H5Screate_simple(1, &length, nullptr), H5Sclose);
    const auto properties = untiled();
    const Handle scale(
        H5Dcreate2(file_.id(), path.c_str(), H5T_IEEE_F32BE, space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
        H5Dclose);
    const auto name = fmt::format("This is a netCDF dimension but not a netCDF variable.{:10d}", size);
    require(scale.ok() && H5DSset_scale(scale.id(), name.c_str()) >= 0, path);
  }

  void attach_dimension(const std::string& column, const std::string& dimension, unsigned axis) {
    const hdf5::Session session;
    if (!error_.empty()) return;
    const Handle values(H5Dopen2(file_.id(), column.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle scale(H5Dopen2(file_.id(), dimension.c_str(), H5P_DEFAULT), H5Dclose);
    require(values.ok() && scale.ok() && H5DSattach_scale(values.id(), scale.id(), axis) >= 0, column);
  }

  [[nodiscard]] bool good() const { return error_.empty(); }

  Status commit() {
    ensure(on_disk_.has_value(), "commit() of a file in memory");
    finish_growing();
    {
      const hdf5::Session session;
      growing_.clear();
      if (error_.empty()) require(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL) >= 0, "/");
      file_.reset();
      require_written();
    }
    if (error_.empty())
      if (const int reason = seal_file(on_disk_->descriptor()); reason != 0) refuse(reason);
    if (!error_.empty()) {
      on_disk_.reset();
      return error_;
    }
    return on_disk_->commit();
  }

  Result<std::vector<std::byte>> image() {
    finish_growing();
    const hdf5::Session session;
    growing_.clear();
    if (error_.empty()) require(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL) >= 0, "/");
    const auto size = error_.empty() ? H5Fget_file_image(file_.id(), nullptr, 0) : -1;
    if (error_.empty()) require(size >= 0, "/");
    if (!error_.empty()) return error_;
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    require(H5Fget_file_image(file_.id(), bytes.data(), bytes.size()) == size, "/");
    if (!error_.empty()) return error_;
    return bytes;
  }

 private:
  struct Growing {
    Handle column;
    std::size_t element = 1;         ///< bytes
    std::vector<std::byte> waiting;  ///< elements that are not in the file yet
    hsize_t written = 0;             ///< elements in the file, in whole tiles
  };

  /// Elements per tile of a whole column.
  static std::size_t whole_tile_of(std::size_t element) {
    return std::max<std::size_t>(1, kTile * 8 / std::max<std::size_t>(8, element));
  }

  /// Makes a whole column without its values. `width` > 0: a column of lists or characters, and `element` is the bytes
  /// of an entry.
  [[nodiscard]] Handle create_column(const std::string& path, hid_t stored, std::size_t element, std::size_t rows,
                                     bool numbers, std::size_t width = 0) const {
    const hsize_t size[] = {rows, width};
    const Handle space(H5Screate_simple(width == 0 ? 1 : 2, size, nullptr), H5Sclose);
    const std::size_t row = element * std::max<std::size_t>(1, width);
    const auto properties =
        rows * row < kTiny ? untiled() : tiled(std::min<hsize_t>(rows, whole_tile_of(row)), numbers, width);
    return {H5Dcreate2(file_.id(), path.c_str(), stored, space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
            H5Dclose};
  }

  [[nodiscard]] static bool write_part(const Handle& column, const Handle& type, hsize_t first,
                                       const TextColumn& part) {
    const hsize_t begin[] = {first, 0};
    const hsize_t count[] = {part.rows(), part.width};
    const Handle there(H5Dget_space(column.id()), H5Sclose);
    const Handle here(H5Screate_simple(2, count, nullptr), H5Sclose);
    return H5Sselect_hyperslab(there.id(), H5S_SELECT_SET, begin, nullptr, count, nullptr) >= 0 &&
           H5Dwrite(column.id(), type.id(), here.id(), there.id(), H5P_DEFAULT, part.bytes.data()) >= 0;
  }

  void create(const Handle& access) {
    const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    H5Pset_obj_track_times(creation.id(), false);
    file_ = Handle(H5Fcreate(hdf5::image_name().c_str(), H5F_ACC_TRUNC, creation.id(), access.id()), H5Fclose);
    require(file_.ok(), "/");
  }

  /// Packs the waiting tiles, the last one padded with zeros, and appends them.
  void write_waiting(const std::string& path, Growing& column) {
    const std::size_t tile = tile_of(column.element) * column.element;
    const hsize_t size = column.written + column.waiting.size() / column.element;
    column.waiting.resize((column.waiting.size() + tile - 1) / tile * tile);
    std::vector<std::vector<std::byte>> packed(column.waiting.size() / tile);
    in_parallel(threads_, packed.size(), [&](std::size_t i) {
      packed[i] = pack_tile(std::span(column.waiting).subspan(i * tile, tile), column.element);
    });
    column.waiting.clear();
    const hdf5::Session session;
    bool good = H5Dset_extent(column.column.id(), &size) >= 0;
    for (const auto& bytes : packed) {
      good =
          good && H5Dwrite_chunk(column.column.id(), H5P_DEFAULT, 0, &column.written, bytes.size(), bytes.data()) >= 0;
      column.written += tile_of(column.element);
    }
    require(good, path);
    require_written();
  }

  void finish_growing() {
    for (auto& [path, column] : growing_)
      if (error_.empty() && !column.waiting.empty()) write_waiting(path, column);
  }

  /// Keeps the disk's error as the first failure.
  void require_written() {
    if (sink_ && sink_->error() != 0 && error_.empty()) refuse(sink_->error());
  }
  void refuse(int reason) {
    error_.push_back(system_error(fmt::format("cannot write \"{}\"", on_disk_->path().string()), reason));
  }

  /// Keeps the first failure.
  void require(bool good, const std::string& what) {
    if (!good && error_.empty())
      error_.push_back(environment_error(fmt::format("cannot build \"{}\" of an HDF5 file", what), hdf5::last_error()));
  }

  std::optional<AtomicFile> on_disk_;   ///< none: in memory
  std::optional<hdf5::FileSink> sink_;  ///< passes the library's bytes to the file on disk
  int threads_ = 1;
  Handle file_;
  std::map<std::string, Growing> growing_;
  Diagnostics error_;
};

TextColumn::TextColumn(std::span<const std::string> texts) {
  for (const auto& text : texts) width = std::max(width, text.size());
  bytes.assign(texts.size() * width, '\0');
  for (std::size_t row = 0; row < texts.size(); ++row) set(row, texts[row]);
}

std::string_view TextColumn::at(std::size_t row) const {
  const auto cell = std::string_view(bytes).substr(row * width, width);
  const auto last = cell.find_last_not_of('\0');
  return last == std::string_view::npos ? std::string_view() : cell.substr(0, last + 1);
}

void TextColumn::set(std::size_t row, std::string_view text) {
  ensure(text.size() <= width, "a text is wider than its column");
  auto* cell = bytes.data() + row * width;
  std::fill(std::copy(text.begin(), text.end(), cell), cell + width, '\0');
}

ListColumn::ListColumn(std::span<const std::vector<std::int64_t>> lists) {
  for (const auto& list : lists) width = std::max(width, list.size());
  values.assign(lists.size() * width, -1);
  for (std::size_t row = 0; row < lists.size(); ++row) set(row, lists[row]);
}

std::span<const std::int64_t> ListColumn::at(std::size_t row) const {
  auto list = std::span(values).subspan(row * width, width);
  while (!list.empty() && list.back() == -1) list = list.first(list.size() - 1);
  return list;
}

void ListColumn::set(std::size_t row, std::span<const std::int64_t> list) {
  ensure(list.size() <= width, "a list is longer than its column is wide");
  auto* const cell = values.data() + row * width;
  std::fill(std::copy(list.begin(), list.end(), cell), cell + width, -1);
}

ColumnFileWriter::ColumnFileWriter() : impl_(std::make_unique<Impl>()) {}
ColumnFileWriter::ColumnFileWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<ColumnFileWriter> ColumnFileWriter::create(const std::filesystem::path& path, int threads) {
  auto file = AtomicFile::create(path);
  if (!file) return file.errors();
  return ColumnFileWriter(std::make_unique<Impl>(std::move(file).value(), threads));
}

ColumnFileWriter::~ColumnFileWriter() = default;
ColumnFileWriter::ColumnFileWriter(ColumnFileWriter&&) noexcept = default;
ColumnFileWriter& ColumnFileWriter::operator=(ColumnFileWriter&&) noexcept = default;

void ColumnFileWriter::add_group(const std::string& path) { impl_->add_group(path); }

void ColumnFileWriter::set_attribute(const std::string& object, const std::string& name, std::string_view value) {
  const hdf5::Session session;
  // Variable length: fixed-length attributes are limited to 64 KiB, and a study's text may be longer.
  const auto type = hdf5::text_type(0);
  const std::string text(value);
  const char* pointer = text.c_str();
  impl_->set_attribute(object, name, Handle(H5Screate(H5S_SCALAR), H5Sclose), type.id(), type.id(), &pointer);
}

void ColumnFileWriter::set_attribute(const std::string& object, const std::string& name, std::int64_t value) {
  const hdf5::Session session;
  impl_->set_attribute(object, name, Handle(H5Screate(H5S_SCALAR), H5Sclose), H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

void ColumnFileWriter::set_attribute(const std::string& object, const std::string& name,
                                     std::span<const std::int8_t> values) {
  const hdf5::Session session;
  const hsize_t size = values.size();
  impl_->set_attribute(object, name, Handle(H5Screate_simple(1, &size, nullptr), H5Sclose), H5T_STD_I8LE,
                       H5T_NATIVE_INT8, values.data());
}

template <class T>
void ColumnFileWriter::write(const std::string& path, std::span<const T> values) {
  const hdf5::Session session;
  impl_->write(path, hdf5::stored_type<T>(), hdf5::native_type<T>(), sizeof(T), values.size(), values.data(), true);
}

void ColumnFileWriter::write(const std::string& path, const TextColumn& values) {
  const hdf5::Session session;
  const auto type = hdf5::text_type(values.width);
  impl_->write(path, type.id(), type.id(), values.width, values.rows(), values.bytes.data(), false);
}

void ColumnFileWriter::write(const std::string& path, const ListColumn& values) {
  const hdf5::Session session;
  impl_->write(path, hdf5::stored_type<std::int64_t>(), hdf5::native_type<std::int64_t>(), sizeof(std::int64_t),
               values.rows(), values.values.data(), true, values.width);
}

void ColumnFileWriter::write_characters(const std::string& path, std::size_t width, std::size_t rows,
                                        const std::function<void(std::size_t first, TextColumn& part)>& fill) {
  impl_->write_characters(path, width, rows, fill);
}

template <class T>
void ColumnFileWriter::begin(const std::string& path) {
  const hdf5::Session session;
  impl_->begin(path, hdf5::stored_type<T>(), sizeof(T));
}

template <class T>
void ColumnFileWriter::append(const std::string& path, std::span<const T> values) {
  impl_->append(path, std::as_bytes(values));
}

void ColumnFileWriter::make_dimension(const std::string& column, const std::string& name) {
  impl_->make_dimension(column, name);
}
void ColumnFileWriter::add_dimension(const std::string& path, std::size_t size) { impl_->add_dimension(path, size); }
void ColumnFileWriter::attach_dimension(const std::string& column, const std::string& dimension, unsigned axis) {
  impl_->attach_dimension(column, dimension, axis);
}

bool ColumnFileWriter::good() const { return impl_->good(); }

Status ColumnFileWriter::commit() { return impl_->commit(); }

Result<std::vector<std::byte>> ColumnFileWriter::image() { return impl_->image(); }

Status ColumnFileWriter::save(const std::filesystem::path& path) {
  const auto bytes = image();
  if (!bytes) return bytes.errors();
  return write_file_atomically(path, *bytes);
}

template void ColumnFileWriter::write(const std::string&, std::span<const std::int8_t>);
template void ColumnFileWriter::write(const std::string&, std::span<const std::uint8_t>);
template void ColumnFileWriter::write(const std::string&, std::span<const std::uint16_t>);
template void ColumnFileWriter::write(const std::string&, std::span<const std::uint32_t>);
template void ColumnFileWriter::write(const std::string&, std::span<const std::int64_t>);
template void ColumnFileWriter::write(const std::string&, std::span<const std::uint64_t>);
template void ColumnFileWriter::write(const std::string&, std::span<const double>);
template void ColumnFileWriter::begin<std::int8_t>(const std::string&);
template void ColumnFileWriter::begin<std::uint8_t>(const std::string&);
template void ColumnFileWriter::begin<std::uint16_t>(const std::string&);
template void ColumnFileWriter::begin<std::uint32_t>(const std::string&);
template void ColumnFileWriter::begin<std::int64_t>(const std::string&);
template void ColumnFileWriter::begin<std::uint64_t>(const std::string&);
template void ColumnFileWriter::begin<double>(const std::string&);
template void ColumnFileWriter::append(const std::string&, std::span<const std::int8_t>);
template void ColumnFileWriter::append(const std::string&, std::span<const std::uint8_t>);
template void ColumnFileWriter::append(const std::string&, std::span<const std::uint16_t>);
template void ColumnFileWriter::append(const std::string&, std::span<const std::uint32_t>);
template void ColumnFileWriter::append(const std::string&, std::span<const std::int64_t>);
template void ColumnFileWriter::append(const std::string&, std::span<const std::uint64_t>);
template void ColumnFileWriter::append(const std::string&, std::span<const double>);

}  // namespace tenex
