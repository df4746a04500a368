// The options of commands that read and write what other tools do.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "command_options.hpp"
#include "commands.hpp"
#include "option_checks.hpp"
#include "option_words.hpp"
#include "parsed.hpp"
#include "tenex/exchange/schedule_export.hpp"
#include "tenex/exchange/tuner_table.hpp"
#include "tenex/measure/fit.hpp"

namespace tenex::cli {
namespace {

/// What is said of logs of benchmarks.
void add_logs(CLI::App* command, LogArguments& logs) {
  command->add_option("log", logs.files, "text or JSON of nccl-tests or rccl-tests, or text of OSU's collectives")
      ->required();
  command->add_option("--collective", logs.collective, "of tables that do not name it, such as all_gather");
  command->add_option("--ranks", logs.ranks, "of tables that do not say it")->check(between(2, 1 << 20));
  command->add_flag("--in-place", logs.in_place, "the times measured in place (default: out of place)");
}

void add_ll_limit(CLI::App* command, std::string& limit) {
  command->add_option("--ll-limit", limit,
                      "the largest busbw under LL, such as 141GB/s for Hopper (half the bandwidth without)");
}

/// Who reads what `export` writes: tuner tables and MSCCLang.
std::vector<std::string> readers_of_exports() {
  std::vector<std::string> names(tuner_reader_names().begin(), tuner_reader_names().end());
  for (const auto name : mscclang_executor_names())
    if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  return names;
}

void add_verify(CLI::App& app, Parsed& parsed) {
  auto* verify = app.add_subcommand(
      "verify", "Replay a schedule file against the definition of validity; judge a schedule of another tool");
  verify
      ->add_option("file", parsed.verify.file,
                   "a schedule file, .h5 or .json; MSCCLang XML, an mscclpp plan, ForestColl trees, a TE-CCL output, a "
                   "Chakra trace beside those of the other ranks; or with --for a tuner table")
      ->required();
  add_options(verify, ReadBy::collectives, parsed.verify.settings);
  verify
      ->add_option("--for", parsed.verify.reader,
                   "who reads a tuner table, and what it does with each line: nccl or rccl")
      ->check(one_of("reader", {tuner_reader_names().begin(), tuner_reader_names().end()}));
  add_threads(verify, parsed.verify.threads, "threads; never changes the verdict");
  add_memory(verify, parsed.verify.memory);
  add_json(verify, parsed.verify.json);
  verify->footer(
      "Examples:\n  tenex verify s.h5 --json\n  tenex verify ring.xml --topology dgx1 --size 64MiB"
      "\n  tenex verify tuner.csv --for nccl");
}

void add_export(CLI::App& app, Parsed& parsed) {
  auto& exported = parsed.export_;
  auto* command = app.add_subcommand("export", "Write sends of a schedule file, a machine or a result in another form");
  command->add_option("file", exported.file,
                      "a schedule file, .h5 or .json: a list or a recipe; a machine; or a result; without: the point "
                      "of the options, in as many chunks as the format's executor takes");
  add_options(command, ReadBy::collectives, exported.settings, "chunks");
  command
      ->add_option(
          "--format", exported.format,
          "list (default): every send with its times, NPUs and bytes; mscclang: XML of MSCCLang; mscclpp: an execution "
          "plan; chakra: traces of a custom collective of ASTRA-sim; forestcoll: trees; perfetto: a trace to look at; "
          "astra_network: of a machine with a shape; tuner: NCCL's or RCCL's choice for each size, of a result")
      ->check(one_of("format", export_formats()));
  command
      ->add_option(
          "-o,--out,--output", exported.out,
          "the file to write: a list as .h5 or .json; other formats as they are usual (.xml, .json, .yml, .csv); of "
          "chakra the beginning of several names")
      ->required()
      ->check(check_named);
  command
      ->add_option("--for", exported.reader,
                   "who reads a tuner table: nccl or rccl; who runs MSCCLang: azure, rccl (default) or msccl")
      ->check(one_of("reader", readers_of_exports()));
  command
      ->add_option("--protocol", exported.protocol,
                   "of MSCCLang: Simple (default), LL or LL128; of mscclpp: Simple or LL (default: LL up to 64 KiB)")
      ->check(one_of("protocol", {"Simple", "LL", "LL128"}));
  command
      ->add_option("--npus-per-node", exported.npus_per_node,
                   "of an mscclpp plan: NPUs that memory channels join; port channels join others (all)")
      ->check(between(1, 1 << 20));
  command->add_option("--channels", exported.channels, "of each line of a tuner table (rccl: its own choice)")
      ->check(between(1, 1 << 10));
  command->add_option("--nodes", exported.nodes, "nodes that the lines of a tuner table are for (any)")
      ->check(between(1, 1 << 20));
  add_ll_limit(command, exported.ll_limit);
  command->add_option("--npus", exported.npus, "only sends from or to these NPUs, such as 0-7,12");
  command->add_option("--chunks", exported.chunks,
                      "of a list: only sends that carry one of these chunks, such as 0-7,12; of a point: how many");
  command->add_option("--from", exported.from, "only sends that start at this time or later, with unit");
  command->add_option("--to", exported.to, "only sends that start before this time, with unit");
  add_threads(command, exported.threads, "threads; never changes the file");
  add_memory(command, exported.memory);
  add_json(command, exported.json);
  command->footer(
      "Examples:\n  tenex export s.h5 --format list --npus 0-7 --to 20us -o first.h5"
      "\n  tenex export s.h5 --format mscclang --for azure -o s.xml"
      "\n  tenex export --topology dgx1 --collective all_gather --size 64MiB --format mscclpp -o plan.json"
      "\n  tenex export results/box --format tuner --for nccl --channels 16 -o tuner.csv");
}

void add_import(CLI::App& app, Parsed& parsed) {
  auto& import = parsed.import;
  auto* command = app.add_subcommand("import", "Make a machine file of another tool's topology");
  command->add_option("what", import.what, "machine")->required()->check(CLI::IsMember(import_words()));
  command
      ->add_option("file", import.file,
                   "topology XML of NCCL or RCCL, network.yml of ASTRA-sim, InfraGraph, or input of TE-CCL")
      ->required();
  command->add_option("-o,--out,--output", import.out, "the machine file (default: stdout)")->check(check_named);
  command->add_option("--name", import.options.name, "the machine's name (default: the file's)");
  command->add_option("--bandwidth", import.options.bandwidths,
                      "KIND=RATE for links of a kind, such as nvlink=25GB/s for one NVLink; RATE alone: for all kinds "
                      "whose bandwidth is missing");
  command->add_option("--alpha", import.options.alphas, "KIND=TIME likewise, such as nic=2us");
  command->add_option("--gpus", import.options.gpus, "bus ids of GPUs, where the file does not mark them")
      ->delimiter(',');
  command->add_option("--gpu-links", import.options.gpu_links, "what joins GPUs, where the file does not say it")
      ->check(CLI::IsMember({"switch", "all", "pcie"}));
  command->add_flag("--pcie", import.options.pcie, "keep the PCI tree also where faster links join all GPUs");
  command->add_option("--nodes", import.options.nodes, "boxes like that of the file (1)")
      ->check(CLI::Range(1, 1 << 16));
  command->add_option("--fabric", import.options.fabric,
                      "what joins the boxes: switch, rails, or a shape over all NICs such as leaf_spine(16,8,4)");
  command->add_option("--system", import.system, "the system file beside an ASTRA-sim network");
  command->footer("Example:\n  tenex import machine topo.xml --nodes 16 --fabric rails -o machine.toml");
}

void add_execute(CLI::App& app, Parsed& parsed) {
  auto& execute = parsed.execute;
  auto* command = app.add_subcommand(
      "execute", "Run a schedule on real buffers, an MPI rank for each NPU, and compare every element");
  command->add_option("file", execute.file, "a schedule file, .h5 or .json: a list or a recipe")->required();
  command->add_option("--type", execute.type, "of elements: " + CLI::detail::join(element_words(), ", ") + " (int32)")
      ->check(one_of("type", element_words()));
  command
      ->add_option("--elements", execute.elements,
                   "of a chunk (as the schedule's chunks have, within 64 MiB of a rank's data)")
      ->check(between(1, std::int64_t{1} << 30));
  command->add_option("--repeats", execute.repeats, "of which the median is told (5)")->check(between(1, 1 << 20));
  add_memory(command, execute.memory);
  add_json(command, execute.json);
  command->footer("Example:\n  mpirun -n 8 tenex execute s.h5");
}

void add_fit(CLI::App& app, Parsed& parsed) {
  auto& fit = parsed.fit;
  auto* command = app.add_subcommand("fit", "Fit alphas and bandwidths of a machine to measured times of collectives");
  add_logs(command, fit.logs);
  command->add_option("--overhead", fit.logs.overhead,
                      "of one call, with unit, where logs do not tell it apart from alpha");
  command->add_option("--machine", fit.machine,
                      "a machine whose bandwidths are fitted, by simulation (default: all ranks on one switch)");
  command->add_option("--algorithm", fit.algorithm, "what ran at large sizes (default: ring; direct for all_to_all)")
      ->check(one_of("algorithm", {fitted_algorithms().begin(), fitted_algorithms().end()}));
  command->add_option("--name", fit.name, "the name of the machine that is written");
  command->add_option("-o,--out,--output", fit.out, "the machine file")->check(check_named)->group(kOutput);
  command->add_flag("--points", fit.points, "every point with its residual")->group(kOutput);
  add_json(command, fit.json);
  command->footer("Example:\n  tenex fit all_reduce.log all_gather.log -o machine.toml");
}

void add_predict(CLI::App& app, Parsed& parsed) {
  auto& predict = parsed.predict;
  auto* command =
      app.add_subcommand("predict", "Set measured times beside what a library's algorithms take on a machine");
  command->add_option("machine", predict.machine, "a machine file, another tool's machine, or a built-in machine")
      ->required();
  add_logs(command, predict.logs);
  command->add_option("--overhead", predict.logs.overhead,
                      "of one call, with unit, in place of the latencies of NCCL's protocols");
  command->add_option("--nodes", predict.nodes, "boxes of the machine (the hosts of the log, or 1)")
      ->check(between(1, 1 << 20));
  command->add_option("--channels", predict.channels, "chunks into which an NPU's data is cut (8)")
      ->check(between(1, 1 << 10));
  add_ll_limit(command, predict.ll_limit);
  command->add_flag("--nvls", predict.nvls, "switches add and multicast: All-Reduce by NVLS is offered, too");
  add_json(command, predict.json);
  command->footer("Example:\n  tenex predict machine.toml all_reduce.log --channels 16");
}

}  // namespace

void add_exchange_commands(CLI::App& app, Parsed& parsed) {
  add_verify(app, parsed);
  add_export(app, parsed);
  add_import(app, parsed);
  add_execute(app, parsed);
  add_fit(app, parsed);
  add_predict(app, parsed);
}

}  // namespace tenex::cli
