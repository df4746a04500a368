// import: another tool's machine as a machine file.
#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "commands.hpp"
#include "tenex/exchange/machine_import.hpp"
#include "tenex/files/atomic_write.hpp"
#include "tenex/files/input_files.hpp"

namespace tenex::cli {
namespace {

Result<SourceText> read_source(const std::filesystem::path& path) {
  const auto bytes = read_file(path);
  if (!bytes) return bytes.errors();
  return SourceText{path.string(), std::string(text_of(*bytes))};
}

/// A word that is no file but a built-in machine needs no import.
bool names_builtin(const std::filesystem::path& file) {
  std::error_code error;
  return !std::filesystem::exists(file, error) && find_builtin(builtin_machines(), file.string()).has_value();
}

}  // namespace

std::vector<std::string> import_words() { return {"machine"}; }

ExitCode execute(const ImportArguments& arguments) {
  if (names_builtin(arguments.file))
    return refuse(
        {input_error({arguments.file.string(), 0, 0}, "this machine is built in", "there is nothing to import",
                     fmt::format("name it: topology = \"{}\"", arguments.file.string()))});
  const auto source = read_source(arguments.file);
  if (!source) return refuse(source.errors());
  auto options = arguments.options;
  if (!arguments.system.empty()) {
    auto system = read_source(arguments.system);
    if (!system) return refuse(system.errors());
    options.system.push_back(*std::move(system));
  }
  const auto machine = import_machine(*source, options);
  if (!machine) return refuse(machine.errors());
  for (const auto& warning : machine->warnings) warn(warning);
  if (arguments.out.empty()) {
    std::fputs(machine->text.c_str(), stdout);
    return ExitCode::done;
  }
  if (const auto written = write_file_atomically(arguments.out, machine->text); !written)
    return refuse(written.errors(), ExitCode::some_failed);
  const auto parsed = parse_machine(machine->text, arguments.out.string());
  if (!parsed) return refuse(parsed.errors(), ExitCode::some_failed);
  const auto topology = topology_of(*parsed);
  fmt::print("{}: {} NPUs, {} switches, {} links\n", machine->format, topology.npus(), topology.switches(),
             topology.links());
  return ExitCode::done;
}

}  // namespace tenex::cli
