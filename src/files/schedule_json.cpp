// Schedules as JSON: the same content for people and other tools, one send per line, with the vertices of its link.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/core.h>

#include "files/schedule_data.hpp"
#include "files/schedule_sends.hpp"
#include "files/send_choice.hpp"
#include "files/send_facts.hpp"
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
    topology["switches"].back()["cut_through"] = data.switch_cut_through[i] == 1;
    if (data.switch_cut_through[i] == 2) topology["switches"].back()["virtual_cut_through"] = true;
    topology["switches"].back()["buffer"] = data.switch_buffer[i];
  }
  topology["classes"] = Json::array();
  for (std::size_t i = 0; i < data.class_alpha_ps.size(); ++i) {
    topology["classes"].push_back(
        {{"alpha_ps", data.class_alpha_ps[i]}, {"bandwidth_bytes_per_s", data.class_bandwidth[i]}});
    if (!data.class_overhead_ps.empty()) topology["classes"].back()["overhead_ps"] = data.class_overhead_ps[i];
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
                  {"total_chunks", data.total_chunks},
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

/// The columns of a row, in their order; the last two only where a send belongs to a message.
constexpr std::array<const char*, 10> kColumns{"start_ps", "arrival_ps", "source", "target",  "link",
                                               "chunk",    "bytes",      "stage",  "message", "destination"};
constexpr std::size_t kColumnsOfMessages = 2;

std::string describe_send(const Send& send, const SendFacts& facts, bool with_message) {
  const auto row = fmt::format("[{}, {}, {}, {}, {}, {}, {}, \"{}\"", send.start.count(), facts.arrival.count(),
                               facts.source.value(), facts.target.value(), send.link.value(), send.chunk.value(),
                               facts.bytes.count(), send.stage == Stage::reduce ? "reduce" : "copy");
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

ScheduleData read_json_facts(const Json& document) {
  ScheduleData data;
  data.occupancy = document.at("occupancy").get<std::string>();
  data.algorithm = document.at("algorithm").get<std::string>();
  data.canonical = document.at("canonical").get<std::string>();
  if (document.contains("part")) data.part = document.at("part").get<std::string>();
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
    const bool early = item.contains("virtual_cut_through") && item.at("virtual_cut_through").get<bool>();
    data.switch_cut_through.push_back(early ? 2 : item.at("cut_through").get<bool>() ? 1 : 0);
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
    data.class_overhead_ps.push_back(item.contains("overhead_ps") ? integer(item.at("overhead_ps")) : 0);
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

struct StatedSend {
  Send send;
  SendFacts facts;
};

StatedSend read_send(const Json& row) {
  StatedSend stated{{SimTime::of(integer(row.at(0))), LinkId(id(row.at(4))), ChunkId(id(row.at(5)))},
                    {SimTime::of(integer(row.at(1))), VertexId(id(row.at(2))), VertexId(id(row.at(3))),
                     Bytes::of(integer(row.at(6)))}};
  const auto stage = row.at(7).get<std::string>();
  if (stage != "reduce" && stage != "copy") throw std::out_of_range("\"" + stage + "\" is no stage");
  stated.send.stage = stage == "reduce" ? Stage::reduce : Stage::copy;
  if (row.size() > 8 && !row.at(8).is_null()) {
    stated.send.message = MessageId(id(row.at(8)));
    stated.send.destination = NpuId(id(row.at(9)));
  }
  return stated;
}

/// Payloads: for sends of several chunks a list of chunks each, and where some state their contributors a list of ranks
/// each. Their numbers begin above the collective's chunks.
Payloads read_json_payloads(const Json& document) {
  Payloads payloads;
  if (!document.contains("payloads")) return payloads;
  const bool states = document.contains("payload_contributors");
  std::vector<ChunkId> chunks;
  std::vector<std::uint32_t> contributors;
  for (std::size_t i = 0; const auto& list : document.at("payloads")) {
    chunks.clear();
    contributors.clear();
    for (const auto& chunk : list) chunks.emplace_back(id(chunk));
    if (states)
      for (const auto& rank : document.at("payload_contributors").at(i++)) contributors.push_back(id(rank));
    payloads.add(chunks, contributors);
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

Json describe_contributors(const Payloads& payloads) {
  auto lists = Json::array();
  for (std::size_t i = 0; i < payloads.size(); ++i) lists.push_back(Json(payloads.contributors_of(i)));
  return lists;
}

/// Reads the sends into the frame. Errors (input): times beyond the range, unsound payloads, wrong facts.
Result<ScheduleContent> with_sends(ScheduleFile frame, const Json& document, const std::string& name) {
  auto payloads = read_json_payloads(document);
  if (auto status = check_payloads(frame, payloads, name); !status) return status.errors();
  if (auto status = check_times(frame, payloads, 0, name); !status) return status.errors();  // facts do not overflow
  std::vector<Send> sends;
  std::vector<std::uint64_t> sends_of_link(frame.topology.links(), 0);
  {
    const FactsOfSends facts(frame, payloads.size() > 0 ? &payloads : nullptr);
    for (const auto& row : document.at("sends")) {
      const auto [send, stated] = read_send(row);
      if (auto status = check_start(send.start, sends.size(), name); !status) return status.errors();
      if (auto status = facts.check(send, stated, sends.size(), name); !status) return status.errors();
      if (send.link.index() < sends_of_link.size()) ++sends_of_link[send.link.index()];
      sends.push_back(send);
    }
  }
  const auto busiest = sends_of_link.empty() ? 0 : std::ranges::max(sends_of_link);
  if (auto status = check_times(frame, payloads, busiest, name); !status) return status.errors();
  frame.schedule = make_list_schedule(std::move(sends), std::move(payloads));
  return ScheduleContent(std::move(frame));
}

Result<ScheduleContent> read_json_recipe(const Json& document, const std::string& name) {
  ScheduleRecipe recipe;
  recipe.canonical = document.at("canonical").get<std::string>();
  recipe.machine = document.at("machine").get<std::string>();
  recipe.version = document.at("version").get<std::string>();
  recipe.memory_bytes = integer(document.at("memory_bytes"));
  recipe.memory_limit_bytes = integer(document.at("memory_limit_bytes"));
  return complete_recipe(std::move(recipe),
                         {document.at("hash").get<std::string>(), integer(document.at("sends")),
                          integer(document.at("collective_time_ps"))},
                         name);
}

/// What every file begins with.
Json head_of(const char* content) {
  return {{"kind", kScheduleKind}, {"schema", kScheduleSchema}, {"content", content}, {"version", version()}};
}

/// The entries of an object, one a line, so that people can read the file.
std::string lines_of(const Json& object) {
  std::string text;
  for (const auto& [key, value] : object.items())
    text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ",\n", key,
                        value.dump(-1, ' ', false, Json::error_handler_t::replace));
  return text;
}

Status check_kind(const Json& document, const std::string& name) {
  if (!document.is_object() || !document.contains("kind") || document["kind"] != kScheduleKind)
    return input_error({name, 0, 0}, "this is no schedule file",
                       fmt::format("its key \"kind\" is not \"{}\"", kScheduleKind));
  if (!document.contains("schema") || !document["schema"].is_number_integer() || document["schema"] < 1)
    return input_error({name, 0, 0}, "the schedule has no schema", "its key \"schema\" is a positive integer");
  const auto& schema = document["schema"];
  if (schema < kScheduleSchema) return too_old(name, schema.get<std::int64_t>(), "as a list without arrivals");
  if (schema > kScheduleSchema)
    return input_error({name, 0, 0}, fmt::format("schedule schema {} is newer than this version", schema.dump()),
                       fmt::format("this version reads schema {}", kScheduleSchema), "use a newer tenex");
  return success();
}

}  // namespace

Status write_schedule_json(const std::filesystem::path& path, const ScheduleFile& file, const SendChoice& choice) {
  if (choice.text().empty() && file.schedule.sends() > kMostJsonSends)
    return too_large_for_json(path, fmt::format("{}", file.schedule.sends()));
  const auto data = describe_schedule(file, choice, true);
  const bool messages = has_messages(file.schedule);
  Json head = head_of(kListContent);
  head["occupancy"] = data.occupancy;
  head["algorithm"] = data.algorithm;
  head["canonical"] = data.canonical;
  if (!data.part.empty()) head["part"] = data.part;
  head["collective"] = describe_collective(data);
  head["topology"] = describe_topology(data);
  head["columns"] = std::vector(kColumns.begin(), messages ? kColumns.end() : kColumns.end() - kColumnsOfMessages);
  if (const Payloads* payloads = file.schedule.payloads()) {
    head["payloads"] = describe_payloads(*payloads);
    if (payloads->states_contributors()) head["payload_contributors"] = describe_contributors(*payloads);
  }
  std::string text = "{\n" + lines_of(head) + ",\n\"sends\": [";
  const FactsOfSends facts(file, file.schedule.payloads());
  std::uint64_t written = 0;
  ChosenSends(file, choice, facts).visit([&](const Send& send) {
    text += written == 0 ? "\n" : ",\n";
    text += describe_send(send, facts.of(send), messages);
    return ++written <= kMostJsonSends;
  });
  if (written > kMostJsonSends) return too_large_for_json(path, fmt::format("more than {}", kMostJsonSends));
  text += "\n]\n}\n";
  return write_file_atomically(path, text);
}

Status write_recipe_json(const std::filesystem::path& path, const ScheduleRecipe& recipe) {
  Json file = head_of(kRecipeContent);
  file["version"] = recipe.version;
  file["canonical"] = recipe.canonical;
  file["machine"] = recipe.machine;
  file["sends"] = recipe.sends;
  file["collective_time_ps"] = recipe.time.count();
  file["hash"] = hash_text(recipe.hash);
  file["memory_bytes"] = recipe.memory_bytes;
  file["memory_limit_bytes"] = recipe.memory_limit_bytes;
  return write_file_atomically(path, "{\n" + lines_of(file) + "\n}\n");
}

Result<ScheduleContent> read_schedule_json(const std::filesystem::path& path) {
  const auto name = path.string();
  std::error_code error;
  if (std::filesystem::file_size(path, error) > kMostBytes && !error)
    return resource_error(fmt::format("\"{}\" is too large for a schedule in JSON", name), "", "use HDF5");
  const auto bytes = read_file(path);
  if (!bytes) return bytes.errors();
  try {
    const auto document = Json::parse(text_of(*bytes));
    if (auto status = check_kind(document, name); !status) return status.errors();
    const auto content = document.at("content").get<std::string>();
    if (content == kRecipeContent) return read_json_recipe(document, name);
    if (content != kListContent) return unknown_content(name, content);
    auto frame = restore_frame(read_json_facts(document), name);
    if (!frame) return frame.errors();
    return with_sends(std::move(frame).value(), document, name);
  } catch (const nlohmann::json::exception& wrong) {
    return input_error({name, 0, 0}, "this is no sound schedule", wrong.what());
  } catch (const std::out_of_range& wrong) {
    return input_error({name, 0, 0}, "this is no sound schedule", wrong.what());
  }
}

}  // namespace tenex
