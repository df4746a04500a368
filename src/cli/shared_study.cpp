// Rank 0 sends the study's bytes, not its points: the text, the name of its file (messages name it, and machine files
// are relative to it), the machine files by path as written, and the result folder. Encoding: decimal length, a colon,
// the bytes; one after another.
#include "shared_study.hpp"

#include <charconv>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "study_report.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/files/output_place.hpp"

namespace tenex::cli {
namespace {

std::string pack(const std::vector<std::string_view>& parts) {
  std::string packed;
  for (const auto part : parts) packed.append(std::to_string(part.size())).append(":").append(part);
  return packed;
}

std::vector<std::string> unpack(std::string_view packed) {
  std::vector<std::string> parts;
  while (!packed.empty()) {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(packed.data(), packed.data() + packed.size(), size);
    ensure(error == std::errc() && *end == ':', "the shared study has a part without a length");
    packed.remove_prefix(static_cast<std::size_t>(end - packed.data()) + 1);
    ensure(size <= packed.size(), "the shared study is cut off");
    parts.emplace_back(packed.substr(0, size));
    packed.remove_prefix(size);
  }
  return parts;
}

Result<SharedRun> read_run(const RunArguments& arguments) {
  const auto limit = memory_limit(arguments.memory, 0);
  if (!limit) return limit.errors();
  auto wrong = check_output_folder(arguments.out, {"--out", 0, 0}).errors();
  auto study = read_study(arguments.study, vocabulary());
  append(wrong, study ? check_study(*study) : study.errors());
  if (!wrong.empty()) return wrong;
  warn(study->warnings);
  return SharedRun{*std::move(study), arguments.out, *limit};
}

std::string pack_run(const SharedRun& run, const std::string& file) {
  const std::string out = std::filesystem::absolute(run.out).string();  // ranks may have other working directories
  std::vector<std::string_view> parts{file, run.study.text, out};
  for (const auto& [path, content] : run.study.machines) {
    parts.push_back(path);
    parts.push_back(content);
  }
  return pack(parts);
}

/// The study that another rank makes from rank 0's bytes. Rank 0 has checked it.
Result<SharedRun> unpack_run(const std::string& packed, const RunArguments& arguments) {
  const auto limit = memory_limit(arguments.memory, 0);
  if (!limit) return limit.errors();
  const auto parts = unpack(packed);
  ensure(parts.size() >= 3 && parts.size() % 2 == 1, "the shared study lacks a part");
  std::map<std::string, std::string> machines;
  for (std::size_t i = 3; i < parts.size(); i += 2) machines.emplace(parts[i], parts[i + 1]);
  auto words = vocabulary();
  words.stored_file = [&](const std::string& path) -> std::optional<std::string> {
    const auto found = machines.find(path);
    return found == machines.end() ? std::nullopt : std::optional(found->second);
  };
  auto study = parse_study(parts[1], parts[0], words);
  if (!study) return study.errors();
  return SharedRun{*std::move(study), parts[2], *limit};
}

/// Whether no rank has errors; rank 0 prints all errors. Collective.
bool all_well(const MpiSession& session, const Diagnostics& errors) {
  const auto texts = session.gather(to_string(errors));
  bool well = true;
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    if (texts[rank].empty()) continue;
    well = false;
    std::fprintf(stderr, "rank %zu: %s\n", rank, texts[rank].c_str());
  }
  return session.broadcast(well ? "y" : "n") == "y";
}

std::optional<SharedRun> share_over(const MpiSession& session, const RunArguments& arguments) {
  if (session.rank() > 0) {
    const auto packed = session.broadcast({});
    if (packed.empty()) return std::nullopt;  // rank 0 has printed the reason
    auto run = unpack_run(packed, arguments);
    if (!all_well(session, run.errors())) return std::nullopt;
    return *std::move(run);
  }
  auto run = read_run(arguments);
  if (!run) complain(run.errors());
  (void)session.broadcast(run ? pack_run(*run, arguments.study.string()) : std::string());
  if (!run || !all_well(session, {})) return std::nullopt;
  return *std::move(run);
}

}  // namespace

std::optional<SharedRun> share_run(const RunArguments& arguments, const MpiSession* session) {
  if (session != nullptr) return share_over(*session, arguments);
  auto run = read_run(arguments);
  if (run) return *std::move(run);
  complain(run.errors());
  return std::nullopt;
}

}  // namespace tenex::cli
