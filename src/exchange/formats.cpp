// Which format a file has, from its content.
#include "exchange/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "exchange/machine_draft.hpp"
#include "tenex/base/hash.hpp"

namespace tenex::exchange {
namespace {

std::string file_name(const SourceText& source) { return source.file.substr(source.file.find_last_of('/') + 1); }

/// A key that tells a format, and what that is where it holds no machine.
struct NotAMachine {
  std::string_view key;
  std::string_view what;
  std::string_view suggestion;
};
constexpr std::array kNoMachines{
    NotAMachine{"scheduling-policy", "the system of ASTRA-sim",
                "import the network file, and name this one by --system"},
    NotAMachine{"memory-type", "a remote memory of ASTRA-sim", "import its network file"},
    NotAMachine{"logical-dims", "the logical dimensions of ASTRA-sim's ns-3 backend", "import an analytical network"},
    NotAMachine{"1-Epoch_Duration", "a schedule of TE-CCL", "import its input file, or name the built-in machine"},
    NotAMachine{"collective", "an execution plan or a schedule", "import a topology"},
    NotAMachine{"traceEvents", "a trace", "import a topology"},
};

Result<ImportedMachine> unknown(const SourceText& source, std::string why) {
  return unsupported_error({source.file, 1, 1}, "the format is not known", std::move(why),
                           "machines are read from NCCL and RCCL topology XML, ASTRA-sim's analytical network, "
                           "InfraGraph and TE-CCL's input");
}

Result<ImportedMachine> import_xml(const SourceText& source, const ImportOptions& options) {
  auto document = parse_xml(source.file, source.text);
  if (!document) return document.errors();
  const auto& root = document->root;
  if (root.name == "system") return import_nccl(*document, source, options);
  if (root.name == "Algo" || root.name == "algo")
    return unsupported_error(root.place, fmt::format("<{}> is a schedule", root.name),
                             root.name == "Algo" ? "ForestColl's trees name vertices and no bandwidths"
                                                 : "MSCCLang names steps and no links",
                             "ForestColl's machines are built in: tenex list machines");
  return unknown(source, fmt::format("the root element is <{}>", plain(root.name)));
}

/// A file of YAML or JSON.
Result<ImportedMachine> import_values(const SourceText& source, const ImportOptions& options) {
  auto file = parse_values(source.file, source.text);
  if (!file) return file.errors();
  const auto has = [](const TreeValue& value, std::string_view key) { return value.find(key) != nullptr; };
  if (has(*file, "npus_count") || (has(*file, "topology") && has(*file, "latency")))
    return import_astra_network(*file, source, options);
  if (const auto* parameters = file->find("TopologyParams"); parameters != nullptr)
    return import_te_ccl_input(*file, source, options);
  for (const auto& [key, what, suggestion] : kNoMachines)
    if (has(*file, key))
      return unsupported_error(file->find(key)->place, fmt::format("the file holds {}", what),
                               fmt::format("it has the key {}, and no machine", key), std::string(suggestion));
  for (const auto* const each :
       {static_cast<const TreeValue*>(&*file), file->find("infrastructure"), file->find("device")}) {
    if (each == nullptr) continue;
    const auto& devices = each->list_of("devices");
    const bool connections = has(*each, "connections") || std::ranges::any_of(devices, [&](const auto& device) {
                               return has(device, "connections");
                             });
    if (connections || has(*each, "hardware"))
      return unsupported_error(each->place, "an older schema of InfraGraph, with connections in place of edges",
                               "its files of 2025 are not read", "convert it to the schema of 2.4");
  }
  if (const auto* inner = file->find("infrastructure"); inner != nullptr && inner->is(TreeValue::Kind::map))
    return import_infragraph(*inner, source, options);
  if (has(*file, "components") || has(*file, "instances") || has(*file, "devices"))
    return import_infragraph(*file, source, options);
  return unknown(source, "none of its keys belongs to one");
}

/// Whether the first line that is no comment is "key = value" or "[table]" of TOML.
bool is_toml(std::string_view content) {
  const auto line = content.substr(0, content.find('\n'));
  const auto equals = line.find('=');
  if (line.starts_with('[')) return true;
  return equals != std::string_view::npos && line.substr(0, equals).find_first_of(":{<\"") == std::string_view::npos;
}

}  // namespace

std::string_view content_of(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (true) {
    const auto begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return {};
    text.remove_prefix(begin);
    std::string_view end;
    if (text.starts_with("#")) end = "\n";
    if (text.starts_with("<!--")) end = "-->";
    if (end.empty()) return text;
    const auto last = text.find(end);
    if (last == std::string_view::npos) return text.starts_with("<") ? text : std::string_view();
    text.remove_prefix(last + end.size());
  }
}

std::string source_of(const SourceText& source, std::string_view format) {
  return fmt::format("{} ({}), XXH3-128 {}; licence: that of the file", file_name(source), format,
                     to_string(digest128(source.text)));
}

std::string name_of(const SourceText& source, const ImportOptions& options) {
  if (!options.name.empty()) return options.name;
  const auto name = file_name(source);
  const auto dot = name.find_last_of('.');
  return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

Diagnostics refuse_options(const ImportOptions& options, std::initializer_list<std::string_view> taken,
                           std::string_view format) {
  Diagnostics errors;
  const auto check = [&](bool given, std::string_view option) {
    if (given && std::ranges::find(taken, option) == taken.end())
      errors.push_back(input_error({std::string(option), 0, 0}, fmt::format("{} beside {}", option, format),
                                   "it would have no effect", "remove the option"));
  };
  check(!options.gpus.empty(), "--gpus");
  check(!options.gpu_links.empty(), "--gpu-links");
  check(options.pcie, "--pcie");
  check(options.nodes != 1, "--nodes");
  check(!options.fabric.empty(), "--fabric");
  check(!options.system.empty(), "--system");
  return errors;
}

}  // namespace tenex::exchange

namespace tenex {

bool is_foreign_machine(std::string_view text) {
  const auto content = exchange::content_of(text);
  if (content.starts_with('<') || content.starts_with('{')) return true;
  const auto word = content.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
  return word != std::string_view::npos && word > 0 && content[word] == ':';
}

Result<ImportedMachine> import_machine(const SourceText& source, const ImportOptions& options) {
  const auto content = exchange::content_of(source.text);
  if (content.empty()) return input_error({source.file, 1, 1}, "the file is empty", {}, {});
  if (content.starts_with('<')) return exchange::import_xml(source, options);
  if (exchange::is_toml(content))
    return input_error({source.file, 1, 1}, "this is TOML, as machine files of tenex are", "there is nothing to import",
                       "name it as the topology");
  if (content.starts_with("Nodes "))
    return unsupported_error({source.file, 1, 1}, "this is a topology of ASTRA-sim's htsim backend",
                             "its tiers are not read", "import an analytical network");
  return exchange::import_values(source, options);
}

}  // namespace tenex
