#include "parsed.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace tenex::cli {
namespace {

/// "8,256,4,8": the degrees as the key hp has them; the ones that are not given are 1.
std::string hp_of(const std::array<std::int64_t, 4>& degrees) {
  const std::size_t count = degrees[3] > 0 ? 4 : degrees[2] > 0 ? 3 : 2;
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += (i == 0 ? "" : ",") + std::to_string(std::max<std::int64_t>(degrees[i], 1));
  return text;
}

}  // namespace

Arguments chosen(const std::string& name, Parsed& parsed) {
  if (name == "run") return parsed.run;
  if (name == "plan") return parsed.plan;
  if (name == "merge") return parsed.merge;
  if (name == "status") return parsed.status;
  if (name == "replay") return parsed.row_replay;
  if (name == "verify") return parsed.verify;
  if (name == "export") return parsed.export_;
  if (name == "import") return parsed.import;
  if (name == "execute") return parsed.execute;
  if (name == "fit") return parsed.fit;
  if (name == "predict") return parsed.predict;
  if (name == "list") return parsed.list;
  if (name == "schema") return parsed.schema;
  if (name == "init") return parsed.init;
  if (name == "show") return parsed.show;
  if (name == "view") return parsed.view;
  if (name == "report") return parsed.report;
  if (name == "manual") return ManualArguments{};
  if (name == "completion") return parsed.completion;
  if (name == "optimize") {
    const auto& degrees = parsed.optimize.degrees;
    if (degrees != decltype(parsed.optimize.degrees){}) parsed.optimize.settings.emplace_back("hp", hp_of(degrees));
    return parsed.optimize;
  }
  if (name == "simulate" && !parsed.replay.file.empty()) {
    auto& replay = parsed.replay;
    replay.json = parsed.point.json;
    replay.threads = parsed.point.threads;
    replay.memory = parsed.point.memory;
    replay.network = parsed.point.settings;
    replay.out = parsed.point.out;
    replay.observe = parsed.point.observe;
    const bool network_options = !parsed.point.settings.empty() || !parsed.point.out.empty();
    const bool watches = !replay.observe.words.empty();
    replay.other_options = parsed.point.time_only || (replay.on_switches ? watches : network_options);
    return parsed.replay;
  }
  using Command = PointArguments::Command;
  parsed.point.command = name == "synthesize" ? Command::synthesize
                         : name == "simulate" ? Command::simulate
                                              : Command::bound;
  return parsed.point;
}

}  // namespace tenex::cli
