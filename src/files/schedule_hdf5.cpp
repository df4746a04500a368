// Schedules as HDF5: the sends as compressed columns, appended window by window.
#include <fmt/core.h>

#include "files/schedule_data.hpp"
#include "tenex/base/version.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex {
namespace {

constexpr const char* kStart = "/sends/start_ps";
constexpr const char* kLink = "/sends/link";
constexpr const char* kChunk = "/sends/chunk";
constexpr const char* kStage = "/sends/stage";
constexpr const char* kMessage = "/sends/message";
constexpr const char* kDestination = "/sends/destination";

void write_facts(ColumnFileWriter& writer, const ScheduleData& data) {
  writer.set_attribute("/", "kind", kScheduleKind);
  writer.set_attribute("/", "schema", kScheduleSchema);
  writer.set_attribute("/", "version", version());
  writer.set_attribute("/", "occupancy", data.occupancy);
  writer.set_attribute("/", "algorithm", data.algorithm);
  writer.set_attribute("/", "canonical", data.canonical);
  writer.add_group("/topology");
  writer.set_attribute("/topology", "npus", data.npus);
  writer.set_attribute("/topology", "shape", data.shape);
  writer.write("/topology/switch_copy", std::span<const std::int8_t>(data.switch_copy));
  writer.write("/topology/switch_reduce", std::span<const std::int8_t>(data.switch_reduce));
  writer.write("/topology/class_alpha_ps", std::span<const std::int64_t>(data.class_alpha_ps));
  writer.write("/topology/class_bandwidth", std::span<const std::int64_t>(data.class_bandwidth));
  writer.write("/topology/source", std::span<const std::uint32_t>(data.source));
  writer.write("/topology/target", std::span<const std::uint32_t>(data.target));
  writer.write("/topology/link_class", std::span<const std::uint32_t>(data.link_class));
  writer.add_group("/collective");
  writer.set_attribute("/collective", "collective", data.collective);
  writer.set_attribute("/collective", "size_bytes", data.size_bytes);
  writer.set_attribute("/collective", "chunks", data.chunks);
  writer.set_attribute("/collective", "root", data.root);
  writer.write("/collective/group_size", std::span<const std::int64_t>(data.group_size));
  writer.write("/collective/member", std::span<const std::uint32_t>(data.member));
}

/// One window's sends in the element types of the columns.
struct Window {
  std::vector<std::int64_t> start;
  std::vector<std::uint32_t> link, chunk, message, destination;
  std::vector<std::int8_t> stage;

  void fill(const SendBatch& batch, const OptionalColumns& needed) {
    start.clear(), link.clear(), chunk.clear(), message.clear(), destination.clear(), stage.clear();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto send = batch[i];
      start.push_back(send.start.count());
      link.push_back(send.link.value());
      chunk.push_back(send.chunk.value());
      if (needed.stage) stage.push_back(static_cast<std::int8_t>(send.stage));
      if (needed.message) message.push_back(send.message.value());
      if (needed.message) destination.push_back(send.destination.value());
    }
  }
};

void write_sends(ColumnFileWriter& writer, const Schedule& schedule) {
  const auto needed = optional_columns(schedule);
  writer.add_group("/sends");
  writer.begin<std::int64_t>(kStart);
  writer.begin<std::uint32_t>(kLink);
  writer.begin<std::uint32_t>(kChunk);
  if (needed.stage) writer.begin<std::int8_t>(kStage);
  if (needed.message) writer.begin<std::uint32_t>(kMessage);
  if (needed.message) writer.begin<std::uint32_t>(kDestination);
  SendBuffer buffer;
  Window window;
  for (std::size_t i = 0; i < schedule.windows(); ++i) {
    schedule.read(i, buffer);
    window.fill(buffer.batch, needed);
    writer.append(kStart, std::span<const std::int64_t>(window.start));
    writer.append(kLink, std::span<const std::uint32_t>(window.link));
    writer.append(kChunk, std::span<const std::uint32_t>(window.chunk));
    if (needed.stage) writer.append(kStage, std::span<const std::int8_t>(window.stage));
    if (needed.message) writer.append(kMessage, std::span<const std::uint32_t>(window.message));
    if (needed.message) writer.append(kDestination, std::span<const std::uint32_t>(window.destination));
  }
}

/// Reads attributes and columns, keeping the first errors.
class Facts {
 public:
  explicit Facts(const ColumnFileReader& reader) : reader_(reader) {}
  void text(const std::string& object, const char* name, std::string& into) {
    take(reader_.text_attribute(object, name), into);
  }
  void integer(const std::string& object, const char* name, std::int64_t& into) {
    take(reader_.integer_attribute(object, name), into);
  }
  template <class T>
  void column(const std::string& path, std::vector<T>& into) {
    take(reader_.read<T>(path), into);
  }
  [[nodiscard]] const Diagnostics& errors() const { return errors_; }

 private:
  template <class T>
  void take(Result<T> value, T& into) {
    if (value)
      into = std::move(value).value();
    else
      append(errors_, value.errors());
  }
  const ColumnFileReader& reader_;
  Diagnostics errors_;
};

Result<ScheduleData> read_facts(const ColumnFileReader& reader) {
  ScheduleData data;
  Facts facts(reader);
  facts.text("/", "occupancy", data.occupancy);
  facts.text("/", "algorithm", data.algorithm);
  facts.text("/", "canonical", data.canonical);
  facts.integer("/topology", "npus", data.npus);
  facts.text("/topology", "shape", data.shape);
  facts.column("/topology/switch_copy", data.switch_copy);
  facts.column("/topology/switch_reduce", data.switch_reduce);
  facts.column("/topology/class_alpha_ps", data.class_alpha_ps);
  facts.column("/topology/class_bandwidth", data.class_bandwidth);
  facts.column("/topology/source", data.source);
  facts.column("/topology/target", data.target);
  facts.column("/topology/link_class", data.link_class);
  facts.text("/collective", "collective", data.collective);
  facts.integer("/collective", "size_bytes", data.size_bytes);
  facts.integer("/collective", "chunks", data.chunks);
  facts.integer("/collective", "root", data.root);
  facts.column("/collective/group_size", data.group_size);
  facts.column("/collective/member", data.member);
  if (!facts.errors().empty()) return facts.errors();
  return data;
}

/// Appends a piece of the sends.
Status read_piece(const ColumnFileReader& reader, const OptionalColumns& present, std::size_t first, std::size_t count,
                  const std::string& name, std::vector<Send>& sends) {
  const auto start = reader.read<std::int64_t>(kStart, first, count);
  if (!start) return start.errors();
  const auto link = reader.read<std::uint32_t>(kLink, first, count);
  if (!link) return link.errors();
  const auto chunk = reader.read<std::uint32_t>(kChunk, first, count);
  if (!chunk) return chunk.errors();
  using Ids = Result<std::vector<std::uint32_t>>;
  using Stages = Result<std::vector<std::int8_t>>;
  const auto stage =
      present.stage ? reader.read<std::int8_t>(kStage, first, count) : Stages(std::vector<std::int8_t>());
  if (!stage) return stage.errors();
  const auto message =
      present.message ? reader.read<std::uint32_t>(kMessage, first, count) : Ids(std::vector<std::uint32_t>());
  if (!message) return message.errors();
  const auto destination =
      present.message ? reader.read<std::uint32_t>(kDestination, first, count) : Ids(std::vector<std::uint32_t>());
  if (!destination) return destination.errors();
  for (std::size_t i = 0; i < count; ++i) {
    Send send{SimTime::of((*start)[i]), LinkId((*link)[i]), ChunkId((*chunk)[i])};
    if (present.stage) {
      if ((*stage)[i] < 0 || (*stage)[i] > 1)
        return input_error({name, 0, 0}, fmt::format("send {} has the stage {}", first + i, (*stage)[i]),
                           "0 is reduce, 1 is copy");
      send.stage = static_cast<Stage>((*stage)[i]);
    }
    if (present.message) {
      send.message = MessageId((*message)[i]);
      send.destination = NpuId((*destination)[i]);
    }
    sends.push_back(send);
  }
  return success();
}

}  // namespace

Status write_schedule_hdf5(const std::filesystem::path& path, const ScheduleFile& file) {
  ColumnFileWriter writer;
  write_facts(writer, describe_schedule(file));
  write_sends(writer, file.schedule);
  return writer.save(path);
}

Result<ScheduleFile> read_schedule_hdf5(const std::filesystem::path& path) {
  const auto name = path.string();
  const auto reader = ColumnFileReader::open(path);
  if (!reader) return reader.errors();
  if (auto status = check_file_kind(*reader, name, kScheduleKind, kScheduleSchema); !status) return status.errors();
  auto data = read_facts(*reader);
  if (!data) return data.errors();
  const auto size = reader->rows(kStart);
  if (!size) return size.errors();
  const OptionalColumns present{reader->has(kStage), reader->has(kMessage)};
  for (const auto* column : {kLink, kChunk, kStage, kMessage, kDestination}) {
    if (!reader->has(column)) continue;
    const auto rows = reader->rows(column);
    if (!rows) return rows.errors();
    if (*rows != *size) return input_error({name, 0, 0}, "the columns of the sends differ in length");
  }
  std::vector<Send> sends;
  sends.reserve(*size);
  constexpr std::size_t kPiece = 65'536;
  for (std::size_t first = 0; first < *size; first += kPiece)
    if (auto status = read_piece(*reader, present, first, std::min(kPiece, *size - first), name, sends); !status)
      return status.errors();
  return assemble_schedule(std::move(data).value(), std::move(sends), name);
}

}  // namespace tenex
