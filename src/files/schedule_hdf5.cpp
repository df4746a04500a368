// Schedules as HDF5: topology and collective, and the sends as in the storages or one by one.
#include "files/schedule_data.hpp"
#include "files/storage_columns.hpp"
#include "tenex/base/version.hpp"
#include "tenex/files/column_file.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

constexpr const char* kSends = "/sends";

void write_facts(ColumnFileWriter& writer, const ScheduleData& data) {
  writer.set_attribute("/", "version", version());
  writer.set_attribute("/", "occupancy", data.occupancy);
  writer.set_attribute("/", "algorithm", data.algorithm);
  writer.set_attribute("/", "canonical", data.canonical);
  writer.add_group("/topology");
  writer.set_attribute("/topology", "npus", data.npus);
  writer.set_attribute("/topology", "shape", data.shape);
  if (!data.unwound_shape.empty()) {
    writer.add_group("/topology/unwound");
    writer.set_attribute("/topology/unwound", "shape", data.unwound_shape);
    writer.set_attribute("/topology/unwound", "degree", data.unwound_degree);
  }
  writer.write("/topology/switch_copy", std::span<const std::int8_t>(data.switch_copy));
  writer.write("/topology/switch_reduce", std::span<const std::int8_t>(data.switch_reduce));
  if (!data.switch_buffer.empty()) {
    writer.write("/topology/switch_cut_through", std::span<const std::int8_t>(data.switch_cut_through));
    writer.write("/topology/switch_buffer", std::span<const std::int64_t>(data.switch_buffer));
  }
  if (!data.wire_links.empty()) {
    writer.write("/topology/wire_links", std::span<const std::uint32_t>(data.wire_links));
    writer.write("/topology/wire_link", std::span<const std::uint32_t>(data.wire_link));
  }
  writer.write("/topology/class_alpha_ps", std::span<const std::int64_t>(data.class_alpha_ps));
  writer.write("/topology/class_bandwidth", std::span<const std::int64_t>(data.class_bandwidth));
  if (!data.class_slowdown.empty())
    writer.write("/topology/class_slowdown", std::span<const std::int64_t>(data.class_slowdown));
  if (!data.window_class.empty())
    ScheduleData::for_each_window(data, [&](const char* name, const auto& column) {
      writer.write(std::string("/topology/") + name, std::span(column));
    });
  writer.add_group("/collective");
  writer.set_attribute("/collective", "collective", data.collective);
  writer.set_attribute("/collective", "size_bytes", data.size_bytes);
  writer.set_attribute("/collective", "chunks", data.chunks);
  writer.set_attribute("/collective", "root", data.root);
  writer.write("/collective/group_size", std::span<const std::int64_t>(data.group_size));
  writer.write("/collective/member", std::span<const std::uint32_t>(data.member));
  if (!data.group_kind.empty())
    ScheduleData::for_each_own(data, [&](const char* name, const auto& column) {
      writer.write(std::string("/collective/") + name, std::span(column));
    });
  if (data.delayed_npu.empty()) return;
  writer.write("/collective/delayed_npu", std::span<const std::uint32_t>(data.delayed_npu));
  writer.write("/collective/delay_ps", std::span<const std::int64_t>(data.delay_ps));
}

void write_links(ColumnFileWriter& writer, const Topology& topology) {
  ColumnPen<std::uint32_t> source(writer, "/topology/source");
  ColumnPen<std::uint32_t> target(writer, "/topology/target");
  ColumnPen<std::uint32_t> link_class(writer, "/topology/link_class");
  for (std::size_t i = 0; i < topology.links(); ++i) {
    source.put(topology.source(LinkId::at(i)).value());
    target.put(topology.target(LinkId::at(i)).value());
    link_class.put(topology.class_of(LinkId::at(i)));
  }
  source.finish();
  target.finish();
  link_class.finish();
}

Result<ScheduleData> read_facts(const ColumnFileReader& reader) {
  ScheduleData data;
  ColumnFacts file(reader, "/");
  file.text("occupancy", data.occupancy);
  file.text("algorithm", data.algorithm);
  file.text("canonical", data.canonical);
  ColumnFacts topology(reader, "/topology");
  topology.integer("npus", data.npus);
  topology.text("shape", data.shape);
  ColumnFacts unwound(reader, "/topology/unwound");
  if (reader.has("/topology/unwound")) {
    unwound.text("shape", data.unwound_shape);
    unwound.integer("degree", data.unwound_degree);
  }
  topology.column("switch_copy", data.switch_copy);
  topology.column("switch_reduce", data.switch_reduce);
  if (reader.has("/topology/switch_buffer")) {
    topology.column("switch_cut_through", data.switch_cut_through);
    topology.column("switch_buffer", data.switch_buffer);
  }
  if (reader.has("/topology/wire_links")) {
    topology.column("wire_links", data.wire_links);
    topology.column("wire_link", data.wire_link);
  }
  topology.column("class_alpha_ps", data.class_alpha_ps);
  topology.column("class_bandwidth", data.class_bandwidth);
  if (reader.has("/topology/class_slowdown")) topology.column("class_slowdown", data.class_slowdown);
  if (reader.has("/topology/window_class"))
    ScheduleData::for_each_window(data, [&](const char* name, auto& column) { topology.column(name, column); });
  topology.column("source", data.source);
  topology.column("target", data.target);
  topology.column("link_class", data.link_class);
  ColumnFacts collective(reader, "/collective");
  collective.text("collective", data.collective);
  collective.integer("size_bytes", data.size_bytes);
  collective.integer("chunks", data.chunks);
  collective.integer("root", data.root);
  collective.column("group_size", data.group_size);
  collective.column("member", data.member);
  if (reader.has("/collective/group_kind"))
    ScheduleData::for_each_own(data, [&](const char* name, auto& column) { collective.column(name, column); });
  if (reader.has("/collective/delayed_npu")) {
    collective.column("delayed_npu", data.delayed_npu);
    collective.column("delay_ps", data.delay_ps);
  }
  for (const auto* facts : {&file, &topology, &unwound, &collective})
    if (!facts->errors().empty()) return facts->errors();
  return data;
}

}  // namespace

Status write_schedule_hdf5(const std::filesystem::path& path, const ScheduleFile& file, const WriteOptions& options) {
  auto writer = ColumnFileWriter::create(path, options.threads);
  if (!writer) return writer.errors();
  const bool compact = options.layout == SendLayout::compact && has_compact_form(file.schedule);
  writer->set_attribute("/", "kind", kScheduleKind);
  writer->set_attribute("/", "schema", compact ? kScheduleSchema : kExpandedSchema);
  write_facts(*writer, describe_schedule(file, false));
  write_links(*writer, physical_network(file.topology));
  const StorageTarget target{*writer, file.topology, options.threads};
  if (compact) {
    write_storages(target, file.schedule);
  } else {
    writer->add_group(kSends);
    write_sends(target, kSends, file.schedule);
  }
  return writer->commit();
}

Result<ScheduleFile> read_schedule_hdf5(const std::filesystem::path& path, const ReadOptions& options) {
  auto reader = ColumnFileReader::open(path);
  if (!reader) return reader.errors();
  reader->set_threads(options.threads);
  return read_schedule_columns(*reader, path.string(), options);
}

Result<ScheduleFile> read_schedule_columns(const ColumnFileReader& reader, const std::string& name,
                                           const ReadOptions& options) {
  if (auto status = check_file_kind(reader, name, kScheduleKind, kScheduleSchema); !status) return status.errors();
  auto data = read_facts(reader);
  if (!data) return data.errors();
  auto file = restore_frame(std::move(data).value(), name);
  if (!file) return file;
  const StorageSource source{reader, name, file->topology, file->collective, options.threads};
  auto stored = reader.has("/storage") ? read_storages(source) : read_sends(source, kSends);
  if (!stored) return stored.errors();
  if (auto status = check_times(*file, stored->schedule, stored->sends_of_busiest, name); !status)
    return status.errors();
  file->schedule = std::move(stored->schedule);
  return file;
}

}  // namespace tenex
