// export --format astra_network: a machine file with a shape as ASTRA-sim's analytical network.
#include <fmt/format.h>

#include "commands.hpp"
#include "tenex/exchange/machine_export.hpp"
#include "tenex/files/atomic_write.hpp"
#include "tenex/files/input_files.hpp"

namespace tenex::cli {

ExitCode export_machine(const ExportArguments& arguments) {
  if (!arguments.npus.empty() || !arguments.chunks.empty() || !arguments.from.empty() || !arguments.to.empty())
    return refuse({input_error({"--format", 0, 0}, "a part of a network",
                               "--npus, --chunks, --from and --to choose sends of a schedule", "remove them")});
  const auto builtin = find_builtin(builtin_machines(), arguments.file.string());
  const auto machine = builtin ? parse_machine(*builtin, arguments.file.string()) : read_machine_file(arguments.file);
  if (!machine) return refuse(machine.errors());
  if (!machine->shaped)
    return refuse({unsupported_error({arguments.file.string(), 0, 0}, "a machine that lists its links",
                                     "an ASTRA-sim network has a block per dimension", "name a machine with a shape")});
  const auto text = astra_network_text(*machine->shaped);
  if (!text) return refuse(text.errors());
  const auto written =
      write_file_atomically(arguments.out, fmt::format("# {} by tenex export\n{}", arguments.file.string(), *text));
  return written ? ExitCode::done : refuse(written.errors(), ExitCode::some_failed);
}

}  // namespace tenex::cli
