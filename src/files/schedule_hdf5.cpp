// Schedules as HDF5: topology, collective and sends as columns; a recipe as attributes.
#include <algorithm>

#include <fmt/core.h>

#include "files/column_streams.hpp"
#include "files/schedule_data.hpp"
#include "files/schedule_sends.hpp"
#include "tenex/base/version.hpp"
#include "tenex/files/column_file.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

void write_facts(ColumnFileWriter& writer, const ScheduleData& data) {
  writer.set_attribute("/", "version", version());
  writer.set_attribute("/", "occupancy", data.occupancy);
  writer.set_attribute("/", "algorithm", data.algorithm);
  writer.set_attribute("/", "canonical", data.canonical);
  if (!data.part.empty()) writer.set_attribute("/", "part", data.part);
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
  if (!data.class_overhead_ps.empty())
    writer.write("/topology/class_overhead_ps", std::span<const std::int64_t>(data.class_overhead_ps));
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
  writer.set_attribute("/collective", "total_chunks", data.total_chunks);
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
  if (reader.text_attribute("/", "part")) file.text("part", data.part);
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
  if (reader.has("/topology/class_overhead_ps")) topology.column("class_overhead_ps", data.class_overhead_ps);
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

Result<ScheduleContent> read_recipe(const ColumnFileReader& reader, const std::string& name) {
  ScheduleRecipe recipe;
  std::string hash;
  std::int64_t sends = 0;
  std::int64_t time = 0;
  ColumnFacts file(reader, "/");
  file.text("canonical", recipe.canonical);
  file.text("machine", recipe.machine);
  file.text("version", recipe.version);
  file.text("hash", hash);
  file.integer("sends", sends);
  file.integer("collective_time_ps", time);
  file.integer("memory_bytes", recipe.memory_bytes);
  file.integer("memory_limit_bytes", recipe.memory_limit_bytes);
  if (!file.errors().empty()) return file.errors();
  return complete_recipe(std::move(recipe), {hash, sends, time}, name);
}

/// What stands under /storage of a file of schema 2: "symmetric", "relabelled"; a list's schema 1 has none.
std::string former_storages(const ColumnFileReader& reader) {
  const auto count = reader.integer_attribute("/storage", "count");
  if (!count) return "as a list without arrivals";
  std::string kinds;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(*count, 16); ++i)
    if (const auto kind = reader.text_attribute(fmt::format("/storage/{}", i), "kind"))
      kinds += (kinds.empty() ? "" : ", ") + *kind;
  return fmt::format("compactly ({})", kinds);
}

}  // namespace

Status write_schedule_hdf5(const std::filesystem::path& path, const ScheduleFile& file, const WriteOptions& options) {
  auto writer = ColumnFileWriter::create(path, options.threads);
  if (!writer) return writer.errors();
  writer->set_attribute("/", "kind", kScheduleKind);
  writer->set_attribute("/", "schema", kScheduleSchema);
  writer->set_attribute("/", "content", kListContent);
  write_facts(*writer, describe_schedule(file, options.choice, false));
  write_links(*writer, physical_network(file.topology));
  write_sends(*writer, file, options.choice);
  return writer->commit();
}

Status write_recipe_hdf5(const std::filesystem::path& path, const ScheduleRecipe& recipe) {
  auto writer = ColumnFileWriter::create(path);
  if (!writer) return writer.errors();
  writer->set_attribute("/", "kind", kScheduleKind);
  writer->set_attribute("/", "schema", kScheduleSchema);
  writer->set_attribute("/", "content", kRecipeContent);
  writer->set_attribute("/", "version", recipe.version);
  writer->set_attribute("/", "canonical", recipe.canonical);
  writer->set_attribute("/", "machine", recipe.machine);
  writer->set_attribute("/", "sends", static_cast<std::int64_t>(recipe.sends));
  writer->set_attribute("/", "collective_time_ps", recipe.time.count());
  writer->set_attribute("/", "hash", hash_text(recipe.hash));
  writer->set_attribute("/", "memory_bytes", recipe.memory_bytes);
  writer->set_attribute("/", "memory_limit_bytes", recipe.memory_limit_bytes);
  return writer->commit();
}

bool holds_schedule(const std::filesystem::path& path) {
  if (path.extension() != ".h5") return path.extension() == ".json";
  const auto reader = ColumnFileReader::open(path);
  if (!reader) return false;
  const auto kind = reader->text_attribute("/", "kind");
  return kind && *kind == kScheduleKind;
}

Result<ScheduleContent> read_schedule_hdf5(const std::filesystem::path& path, const ReadOptions& options) {
  auto reader = ColumnFileReader::open(path);
  if (!reader) return reader.errors();
  reader->set_threads(options.threads);
  return read_schedule_columns(*reader, path.string());
}

Result<ScheduleContent> read_schedule_columns(const ColumnFileReader& reader, const std::string& name) {
  if (auto status = check_file_kind(reader, name, kScheduleKind, kScheduleSchema); !status) return status.errors();
  if (const auto schema = reader.integer_attribute("/", "schema"); schema && *schema < kScheduleSchema)
    return too_old(name, *schema, former_storages(reader));
  const auto content = reader.text_attribute("/", "content");
  if (!content) return content.errors();
  if (*content == kRecipeContent) return read_recipe(reader, name);
  if (*content != kListContent) return unknown_content(name, *content);
  auto data = read_facts(reader);
  if (!data) return data.errors();
  auto file = restore_frame(std::move(data).value(), name);
  if (!file) return file.errors();
  auto schedule = read_sends(reader, *file, name);
  if (!schedule) return schedule.errors();
  file->schedule = *std::move(schedule);
  return ScheduleContent(*std::move(file));
}

}  // namespace tenex
