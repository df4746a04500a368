// Files as values: machines, workloads, cost models. The bytes are read once, so that every point and every rank sees
// the same content however long the study runs.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include <fmt/core.h>

#include "design/setting_value.hpp"
#include "tenex/base/units.hpp"
#include "tenex/exchange/machine_import.hpp"
#include "tenex/files/input_files.hpp"
#include "tenex/topology/distance.hpp"

namespace tenex {

Result<std::string> read_bytes(const std::filesystem::path& path) {
  constexpr std::size_t kLargest = std::size_t{64} << 20;
  const auto fail = [&](std::string why) {
    return environment_error(fmt::format("cannot read \"{}\"", path.string()), std::move(why));
  };
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) return fail("it is a directory");
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return fail(errno == 0 ? "it cannot be opened" : std::strerror(errno));
  std::string text;
  std::string block(std::size_t{1} << 16, '\0');
  while (stream) {
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block, 0, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > kLargest) return fail(fmt::format("it is larger than {} bytes", kLargest));
  }
  if (stream.bad()) return fail(errno == 0 ? "reading failed" : std::strerror(errno));
  return text;
}

namespace {

/// "a_b" as the words "a b".
std::string words_of_kind(std::string_view kind) {
  std::string words(kind);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

/// Returned without a message, since a file that is used twice is reported once. The caller only needs to know that
/// there is no value.
Diagnostic known_to_be_wrong(std::string_view what, const std::string& path, const Place& place) {
  return input_error(place, fmt::format("the {} \"{}\" cannot be used", what, path), "its errors are reported once");
}

}  // namespace

Result<TopologyValue> FileReader::read_machine(const std::string& path, const Place& place) {
  const auto known = machines_.find(path);
  if (known == machines_.end()) return machines_.emplace(path, load_machine(path, place)).first->second;
  if (!known->second) return known_to_be_wrong("machine file", path, place);
  return known->second;
}

Result<NamedFile> FileReader::read_named(std::string_view kind, const std::string& text, const Place& place) {
  const std::pair key(std::string(kind), text);
  const auto known = named_.find(key);
  if (known == named_.end()) return named_.emplace(key, load_named(kind, text, place)).first->second;
  if (!known->second) return known_to_be_wrong(words_of_kind(kind), text, place);
  return known->second;
}

Result<NamedFile> FileReader::read_text(const std::string& path, const Place& place) {
  Result<Loaded> file = load(path, place);
  if (!file) return file.errors();
  contents_.emplace(path, file->content);
  return NamedFile{path, std::move(file->path), std::move(file->content)};
}

Result<FileReader::Loaded> FileReader::load(const std::string& path, const Place& place) {
  std::filesystem::path found = path;
  std::error_code code;
  if (found.is_relative()) {
    const std::filesystem::path beside = folder_ / found;
    if (std::filesystem::exists(beside, code)) found = beside;
  }
  const auto stored = vocabulary_.stored_file ? vocabulary_.stored_file(path) : std::nullopt;
  Result<std::string> content = stored ? Result<std::string>(*stored) : read_bytes(found);
  if (!content) {
    Diagnostic error = content.errors().front();
    error.place = place;
    error.suggestion = "paths are relative to the study's folder, then to the working directory";
    return error;
  }
  return Loaded{found.lexically_normal().string(), SharedText(*std::move(content))};
}

Status FileReader::import_if_foreign(Loaded& file) {
  if (!is_foreign_machine(file.content)) return success();
  auto machine = import_machine({file.path, std::string(std::string_view(file.content))}, {});
  if (!machine) return machine.errors();
  file.content = SharedText(std::move(machine->text));
  return success();
}

namespace {

/// Whether every switch cuts through.
bool all_cut_through(const Topology& topology) {
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v)
    if (topology.switch_properties(VertexId::at(v)).forwarding != Forwarding::cut_through) return false;
  return true;
}

/// Null where there are none.
std::shared_ptr<const std::vector<LinkProtocol>> shared_protocols(const std::vector<LinkProtocol>& protocols) {
  return protocols.empty() ? nullptr : std::make_shared<const std::vector<LinkProtocol>>(protocols);
}

}  // namespace

const LinkProtocol* find_protocol(const TopologyChoice& machine, std::string_view name) {
  if (!machine.protocols) return nullptr;
  const auto found = std::ranges::find(*machine.protocols, name, &LinkProtocol::name);
  return found == machine.protocols->end() ? nullptr : &*found;
}

bool joins_switches(const Shape& shape) {
  if (!shape.is_product()) return count_shape(shape).switches > 0;  // those of families are in tiers
  return std::ranges::any_of(shape.blocks, [](const Block& block) { return !block.levels.empty(); });
}

Result<TopologyValue> FileReader::load_machine(const std::string& path, const Place& place) {
  const auto builtin = find_builtin(vocabulary_.machines, path);
  Result<Loaded> file =
      builtin ? Result<Loaded>(Loaded{path + ".toml", SharedText(std::string(*builtin))}) : load(path, place);
  if (!file) return file.errors();
  const SharedText original = file->content;
  if (auto read = import_if_foreign(*file); !read) return read.errors();
  const auto machine = parse_machine(file->content, file->path);
  if (!machine) return machine.errors();
  TopologyValue value;
  value.choice.text = path;
  value.from_file = true;
  if (!builtin) note_bits(path, file->content);
  if (!builtin) contents_.emplace(path, original);
  if (machine->shaped) {
    value.choice.shape = machine->shaped->shape;
    value.choice.links = machine->shaped->links;
    value.choice.switches.forwarding = choice_of(machine->shaped->forwarding);
    value.scale_out = machine->shaped->scale_out;
    value.choice.protocols = shared_protocols(machine->shaped->protocols);
    value.npus = value.choice.shape.npus();
    value.switches = count_shape(value.choice.shape).switches;
    value.joins_switches = joins_switches(value.choice.shape);
    return value;
  }
  value.choice.machine_file = file->path;
  value.npus = value.choice.machine_npus = machine->topology.npus();
  value.switches = machine->topology.switches();
  value.cuts_through = all_cut_through(machine->topology);
  value.joins_switches =
      std::ranges::any_of(links_to_nearest_npu(machine->topology), [](auto links) { return links > 1; });
  value.choice.machine_content = std::move(file->content);
  return value;
}

Result<TopologyValue> join_boxes(TopologyValue machine, std::uint32_t boxes) {
  if (machine.is_machine())
    return input_error({}, "a machine that lists its links cannot be joined with others",
                       "[scale_out] belongs to a file that names a shape", "write one file with the links of all");
  const auto forwarding = forwarding_of(machine.choice.switches.forwarding).value_or(Forwarding::store_and_forward);
  const auto& known = machine.choice.protocols;
  auto joined = join_boxes({machine.choice.shape, machine.choice.links, forwarding, machine.scale_out,
                            known ? *known : std::vector<LinkProtocol>()},
                           boxes);
  if (!joined) return joined.errors();
  machine.choice.shape = std::move(joined->shape);
  machine.choice.links = std::move(joined->links);
  machine.choice.switches.forwarding = choice_of(joined->forwarding);
  machine.npus = machine.choice.shape.npus();
  machine.switches = count_shape(machine.choice.shape).switches;
  machine.joins_switches = joins_switches(machine.choice.shape);
  machine.choice.protocols = shared_protocols(joined->protocols);
  machine.scale_out.reset();
  return machine;
}

void FileReader::note_bits(const std::string& path, std::string_view content) {
  for (auto open = content.find('"'); open != std::string_view::npos; open = content.find('"', open)) {
    const auto close = std::min(content.find('"', open + 1), content.size());
    add_notes_on_bits(path, content.substr(open + 1, close - open - 1), notes_);
    open = std::min(close + 1, content.size());
  }
}

void add_notes_on_bits(std::string_view who, std::string_view list, std::vector<std::string>& notes) {
  for (std::size_t at = 0; at < list.size();) {
    const auto end = std::min(list.find(',', at), list.size());
    auto note = note_on_bits(list.substr(at, end - at));
    if (!note.empty()) note = fmt::format("{}: {}", who, note);
    if (!note.empty() && std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
    at = end + 1;
  }
}

Result<NamedFile> FileReader::load_named(std::string_view kind, const std::string& text, const Place& place) {
  if (text.ends_with(".toml")) {
    Result<Loaded> file = load(text, place);
    if (!file) return file.errors();
    contents_.emplace(text, file->content);
    return NamedFile{text, std::move(file->path), std::move(file->content)};
  }
  const auto& files = vocabulary_.builtin_files(kind);
  if (const auto content = find_builtin(files, text)) return NamedFile{text, text + ".toml", std::string(*content)};
  std::vector<std::string_view> known;
  for (const BuiltinFile& each : files) known.push_back(each.name);
  const std::string near = did_you_mean(text, known);
  return input_error(
      place, fmt::format("unknown {} \"{}\"", words_of_kind(kind), shortened(text)),
      known.empty() ? std::string("there is none of that name") : fmt::format("the built-in ones are {}", join(known)),
      near.empty() ? fmt::format("name a file by its path, \"my_{}.toml\"", kind) : near);
}

}  // namespace tenex
