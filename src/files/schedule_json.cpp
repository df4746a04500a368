// Schedules as JSON: the same content for people and other tools, one send per line.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "files/schedule_data.hpp"
#include "tenex/base/version.hpp"
#include "tenex/files/atomic_write.hpp"
#include "tenex/topology/time_range.hpp"

namespace tenex {
namespace {

using Json = nlohmann::ordered_json;

/// Most bytes of 1,000,000 sends with all columns, and of a topology.
constexpr std::uintmax_t kMostBytes = std::uintmax_t{512} << 20;

Json describe_topology(const ScheduleData& data) {
  Json topology;
  topology["npus"] = data.npus;
  topology["shape"] = data.shape;
  if (!data.unwound_shape.empty())
    topology["unwound"] = {{"shape", data.unwound_shape}, {"degree", data.unwound_degree}};
  topology["switches"] = Json::array();
  for (std::size_t i = 0; i < data.switch_copy.size(); ++i) {
    topology["switches"].push_back({{"copy", data.switch_copy[i] != 0}, {"reduce", data.switch_reduce[i] != 0}});
    if (data.switch_buffer.empty()) continue;
    topology["switches"].back()["cut_through"] = data.switch_cut_through[i] != 0;
    topology["switches"].back()["buffer"] = data.switch_buffer[i];
  }
  topology["classes"] = Json::array();
  for (std::size_t i = 0; i < data.class_alpha_ps.size(); ++i) {
    topology["classes"].push_back(
        {{"alpha_ps", data.class_alpha_ps[i]}, {"bandwidth_bytes_per_s", data.class_bandwidth[i]}});
    if (!data.class_slowdown.empty()) topology["classes"].back()["slowdown_thousandths"] = data.class_slowdown[i];
  }
  for (std::size_t i = 0; i < data.window_class.size(); ++i)
    topology["windows"].push_back({{"class", data.window_class[i]},
                                   {"from_ps", data.window_from_ps[i]},
                                   {"until_ps", data.window_until_ps[i]},
                                   {"slowdown_thousandths", data.window_slowdown[i]}});
  topology["links"] = Json::array();  // [source, target, class]
  for (std::size_t i = 0; i < data.source.size(); ++i)
    topology["links"].push_back({data.source[i], data.target[i], data.link_class[i]});
  if (data.wire_links.empty()) return topology;
  topology["wires"] = Json::array();  // the links of each wire; sends are on wires
  for (std::size_t wire = 0, at = 0; wire < data.wire_links.size(); at += data.wire_links[wire++])
    topology["wires"].push_back(
        std::vector(data.wire_link.begin() + static_cast<std::ptrdiff_t>(at),
                    data.wire_link.begin() + static_cast<std::ptrdiff_t>(at + data.wire_links[wire])));
  return topology;
}

Json describe_collective(const ScheduleData& data) {
  Json collective{{"collective", data.collective},
                  {"size_bytes", data.size_bytes},
                  {"chunks", data.chunks},
                  {"root", data.root},
                  {"groups", Json::array()}};
  std::size_t next = 0;
  for (const auto size : data.group_size) {
    auto group = Json::array();
    for (std::int64_t i = 0; i < size; ++i) group.push_back(data.member[next++]);
    collective["groups"].push_back(std::move(group));
  }
  if (!data.group_kind.empty())
    ScheduleData::for_each_own(data, [&](const char* name, const auto& column) { collective[name] = column; });
  for (std::size_t i = 0; i < data.delayed_npu.size(); ++i)
    collective["start_delays"].push_back({{"npu", data.delayed_npu[i]}, {"delay_ps", data.delay_ps[i]}});
  return collective;
}

std::string describe_send(const Send& send, bool with_message) {
  const auto row = fmt::format("[{}, {}, {}, \"{}\"", send.start.count(), send.link.value(), send.chunk.value(),
                               send.stage == Stage::reduce ? "reduce" : "copy");
  if (!with_message) return row + "]";
  if (!send.message.exists()) return row + ", null, null]";
  return fmt::format("{}, {}, {}]", row, send.message.value(), send.destination.value());
}

/// An integer of at least `least` and at most `most`; throws Json::exception or std::out_of_range.
std::int64_t integer_in(const Json& value, std::int64_t least, std::int64_t most) {
  if (!value.is_number_integer()) throw std::out_of_range(value.dump() + " is no integer");
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    throw std::out_of_range(value.dump() + " is too large");
  const auto number = value.get<std::int64_t>();
  if (number < least || number > most) throw std::out_of_range(value.dump() + " is out of range");
  return number;
}
std::int64_t integer(const Json& value) {
  return integer_in(value, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
}
std::uint32_t id(const Json& value) {
  return static_cast<std::uint32_t>(integer_in(value, 0, std::numeric_limits<std::uint32_t>::max()));
}

ScheduleData read_facts(const Json& document) {
  ScheduleData data;
  data.occupancy = document.at("occupancy").get<std::string>();
  data.algorithm = document.at("algorithm").get<std::string>();
  data.canonical = document.at("canonical").get<std::string>();
  const auto& topology = document.at("topology");
  data.npus = integer(topology.at("npus"));
  data.shape = topology.at("shape").get<std::string>();
  if (topology.contains("unwound")) {
    data.unwound_shape = topology.at("unwound").at("shape").get<std::string>();
    data.unwound_degree = integer(topology.at("unwound").at("degree"));
  }
  for (const auto& item : topology.at("switches")) {
    data.switch_copy.push_back(item.at("copy").get<bool>() ? 1 : 0);
    data.switch_reduce.push_back(item.at("reduce").get<bool>() ? 1 : 0);
    if (!item.contains("buffer")) continue;
    data.switch_cut_through.push_back(item.at("cut_through").get<bool>() ? 1 : 0);
    data.switch_buffer.push_back(integer(item.at("buffer")));
  }
  if (topology.contains("wires"))
    for (const auto& wire : topology.at("wires")) {
      data.wire_links.push_back(static_cast<std::uint32_t>(wire.size()));
      for (const auto& link : wire) data.wire_link.push_back(id(link));
    }
  for (const auto& item : topology.at("classes")) {
    data.class_alpha_ps.push_back(integer(item.at("alpha_ps")));
    data.class_bandwidth.push_back(integer(item.at("bandwidth_bytes_per_s")));
    data.class_slowdown.push_back(item.contains("slowdown_thousandths") ? integer(item.at("slowdown_thousandths"))
                                                                        : kNoSlowdown);
  }
  if (topology.contains("windows"))
    for (const auto& item : topology.at("windows")) {
      data.window_class.push_back(id(item.at("class")));
      data.window_from_ps.push_back(integer(item.at("from_ps")));
      data.window_until_ps.push_back(integer(item.at("until_ps")));
      data.window_slowdown.push_back(integer(item.at("slowdown_thousandths")));
    }
  for (const auto& link : topology.at("links")) {
    data.source.push_back(id(link.at(0)));
    data.target.push_back(id(link.at(1)));
    data.link_class.push_back(id(link.at(2)));
  }
  const auto& collective = document.at("collective");
  data.collective = collective.at("collective").get<std::string>();
  data.size_bytes = integer(collective.at("size_bytes"));
  data.chunks = integer(collective.at("chunks"));
  data.root = integer(collective.at("root"));
  for (const auto& group : collective.at("groups")) {
    data.group_size.push_back(static_cast<std::int64_t>(group.size()));
    for (const auto& npu : group) data.member.push_back(id(npu));
  }
  if (collective.contains("group_kind"))
    ScheduleData::for_each_own(data, [&](const char* name, auto& column) {
      for (const auto& value : collective.at(name))
        if constexpr (std::is_same_v<decltype(column), std::vector<std::uint32_t>&>)
          column.push_back(id(value));
        else
          column.push_back(integer(value));
    });
  if (collective.contains("start_delays"))
    for (const auto& item : collective.at("start_delays")) {
      data.delayed_npu.push_back(id(item.at("npu")));
      data.delay_ps.push_back(integer(item.at("delay_ps")));
    }
  return data;
}

std::vector<Send> read_sends(const Json& document) {
  std::vector<Send> sends;
  for (const auto& row : document.at("sends")) {
    Send send{SimTime::of(integer(row.at(0))), LinkId(id(row.at(1))), ChunkId(id(row.at(2)))};
    const auto stage = row.at(3).get<std::string>();
    if (stage != "reduce" && stage != "copy") throw std::out_of_range("\"" + stage + "\" is no stage");
    send.stage = stage == "reduce" ? Stage::reduce : Stage::copy;
    if (row.size() > 4 && !row.at(4).is_null()) {
      send.message = MessageId(id(row.at(4)));
      send.destination = NpuId(id(row.at(5)));
    }
    sends.push_back(send);
  }
  return sends;
}

/// Payloads: for sends of several chunks a list of chunks each. Their numbers begin above the collective's chunks.
Payloads read_payloads(const Json& document) {
  Payloads payloads;
  if (!document.contains("payloads")) return payloads;
  for (const auto& list : document.at("payloads")) {
    for (const auto& chunk : list) payloads.chunks.emplace_back(id(chunk));
    payloads.first.push_back(payloads.chunks.size());
  }
  return payloads;
}

Json describe_payloads(const Payloads& payloads) {
  auto lists = Json::array();
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    lists.push_back(Json::array());
    for (const ChunkId chunk : payloads.of(i)) lists.back().push_back(chunk.value());
  }
  return lists;
}

bool has_messages(const Schedule& schedule) {
  SendBuffer buffer;
  for (std::size_t segment = 0; schedule.may_carry_messages() && segment < schedule.segments(); ++segment) {
    schedule.read(segment, buffer);
    if (!buffer.batch.message.empty()) return true;
  }
  return false;
}

/// Joins the parts. Errors (input): times beyond the range, payloads of unknown chunks.
Result<ScheduleFile> with_sends(ScheduleFile file, std::vector<Send> sends, Payloads payloads,
                                const std::string& name) {
  std::vector<std::uint64_t> sends_of_link(file.topology.links(), 0);
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const auto start = sends[i].start;
    if (start > kLongestTime || start < SimTime::zero() - kLongestTime)
      return input_error({name, 0, 0}, fmt::format("send {} starts at {} ps", i, start.count()),
                         "times of up to 26 days (2^61 ps) are computed");
    if (sends[i].link.index() < sends_of_link.size()) ++sends_of_link[sends[i].link.index()];
  }
  for (const ChunkId chunk : payloads.chunks)
    if (chunk.index() >= file.collective.chunks())
      return input_error({name, 0, 0}, fmt::format("a payload of chunk {}", chunk.value()));
  const auto busiest = sends_of_link.empty() ? 0 : std::ranges::max(sends_of_link);
  auto schedule = make_list_schedule(std::move(sends), std::move(payloads));
  if (auto status = check_times(file, schedule, busiest, name); !status) return status.errors();
  file.schedule = std::move(schedule);
  return file;
}

Status check_kind(const Json& document, const std::string& name) {
  if (!document.is_object() || !document.contains("kind") || document["kind"] != kScheduleKind)
    return input_error({name, 0, 0}, "this is no schedule file",
                       fmt::format("its key \"kind\" is not \"{}\"", kScheduleKind));
  if (!document.contains("schema") || !document["schema"].is_number_integer() || document["schema"] < 1)
    return input_error({name, 0, 0}, "the schedule has no schema", "its key \"schema\" is a positive integer");
  if (document["schema"] > kExpandedSchema)
    return input_error({name, 0, 0},
                       fmt::format("schedule schema {} is newer than this version", document["schema"].dump()),
                       fmt::format("this version reads schema {}", kExpandedSchema), "use a newer tenex");
  return success();
}

}  // namespace

Status write_schedule_json(const std::filesystem::path& path, const ScheduleFile& file) {
  if (file.schedule.sends() > kMostJsonSends) return too_large_for_json(path, fmt::format("{}", file.schedule.sends()));
  const auto data = describe_schedule(file, true);
  const bool with_message = has_messages(file.schedule);
  Json head{{"kind", kScheduleKind},
            {"schema", kExpandedSchema},
            {"version", version()},
            {"occupancy", data.occupancy},
            {"algorithm", data.algorithm},
            {"canonical", data.canonical},
            {"collective", describe_collective(data)},
            {"topology", describe_topology(data)}};
  head["columns"] = with_message ? Json{"start_ps", "link", "chunk", "stage", "message", "destination"}
                                 : Json{"start_ps", "link", "chunk", "stage"};
  if (const Payloads* payloads = file.schedule.payloads()) head["payloads"] = describe_payloads(*payloads);
  // The head is written key by key and the sends row by row, so that people can read the file.
  std::string text = "{\n";
  for (const auto& [key, value] : head.items())
    text += fmt::format("\"{}\": {},\n", key, value.dump(-1, ' ', false, Json::error_handler_t::replace));
  text += "\"sends\": [";
  std::string separator = "\n";
  SendBuffer buffer;
  for (std::size_t segment = 0; segment < file.schedule.segments(); ++segment) {
    file.schedule.read(segment, buffer);
    for (std::size_t i = 0; i < buffer.batch.size(); ++i) {
      text += separator + describe_send(buffer.batch[i], with_message);
      separator = ",\n";
    }
  }
  text += "\n]\n}\n";
  return write_file_atomically(path, text);
}

Result<ScheduleFile> read_schedule_json(const std::filesystem::path& path) {
  const auto name = path.string();
  std::error_code error;
  if (std::filesystem::file_size(path, error) > kMostBytes && !error)
    return resource_error(fmt::format("\"{}\" is too large for a schedule in JSON", name), "", "use HDF5");
  const auto bytes = read_file(path);
  if (!bytes) return bytes.errors();
  try {
    const auto document = Json::parse(text_of(*bytes));
    if (auto status = check_kind(document, name); !status) return status.errors();
    auto file = restore_frame(read_facts(document), name);
    if (!file) return file;
    return with_sends(std::move(file).value(), read_sends(document), read_payloads(document), name);
  } catch (const nlohmann::json::exception& wrong) {
    return input_error({name, 0, 0}, "this is no sound schedule", wrong.what());
  } catch (const std::out_of_range& wrong) {
    return input_error({name, 0, 0}, "this is no sound schedule", wrong.what());
  }
}

}  // namespace tenex
