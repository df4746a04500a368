// Words of tuner tables, what each library has, and how a table is written.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "exchange/collective_words.hpp"
#include "tenex/base/words.hpp"
#include "tenex/exchange/tuner_table.hpp"

namespace tenex {
namespace {

/// An algorithm: its collectives, and whether it has all protocols or only simple (NCCL's src/graph/tuning.cc).
struct KnownAlgorithm {
  std::string_view name;
  std::array<std::string_view, 5> collectives;
  bool all_protocols;
  bool in_rccl;
};
constexpr std::array kAlgorithms{
    KnownAlgorithm{"ring", {"broadcast", "reduce", "allgather", "reducescatter", "allreduce"}, true, true},
    KnownAlgorithm{"tree", {"allreduce"}, true, true},
    KnownAlgorithm{"collnet_direct", {"allgather", "reducescatter", "allreduce"}, false, false},
    KnownAlgorithm{"collnet_chain", {"allreduce"}, false, false},
    KnownAlgorithm{"nvls", {"allgather", "reducescatter", "allreduce"}, false, false},
    KnownAlgorithm{"nvls_tree", {"allreduce"}, false, false},
    KnownAlgorithm{"pat", {"allgather", "reducescatter"}, false, false},
};

constexpr std::size_t kLongestComment = 200;

}  // namespace

const std::vector<std::string_view>& tuner_reader_names() {
  static const std::vector<std::string_view> names{"nccl", "rccl"};
  return names;
}

Result<TunerReader> parse_tuner_reader(std::string_view text, const Place& place) {
  return parse_name<TunerReader>(text, tuner_reader_names(), "reader", place);
}

std::optional<std::string_view> tuner_word(CollectiveKind kind) {
  const auto word = exchange::word_of(kind);
  if (word.empty() || kind == CollectiveKind::all_to_all) return std::nullopt;
  return word;
}

bool has_combination(TunerReader reader, std::string_view collective, std::string_view algorithm,
                     std::string_view protocol) {
  const auto known = std::ranges::find(kAlgorithms, algorithm, &KnownAlgorithm::name);
  if (known == kAlgorithms.end() || (reader == TunerReader::rccl && !known->in_rccl)) return false;
  if (!known->all_protocols && protocol != "simple") return false;
  return std::ranges::find(known->collectives, collective) != known->collectives.end();
}

std::string tuner_table_text(const std::vector<std::string>& comments, const std::vector<TunerRule>& rules) {
  std::string text;
  for (const auto& comment : comments) {
    std::string line;
    for (const char c : comment.substr(0, kLongestComment)) line += c >= ' ' && c <= '~' ? c : '?';
    text += fmt::format("# {}\n", line);
  }
  text += "# collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff\n";
  for (const auto& rule : rules)
    text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", rule.collective, rule.first, rule.last, rule.algorithm,
                        rule.protocol, rule.channels, rule.nodes, rule.ranks, rule.pipe_operations, rule.registered);
  return text;
}

}  // namespace tenex
