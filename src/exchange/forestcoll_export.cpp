// An All-Gather as ForestColl's trees (forestcoll.cpp has the format): for every chunk the out-tree of its moves, and
// one element for the chunks of a root that have the same tree.
//
// The format has no times: whoever runs the trees pipelines the chunks of each. Vertices are named as ForestColl names
// them, (node, kind, number), all in node 0; a path over switches is that of the topology's links, and is left to it.
// Source: liangyuRain/ForestColl, pipeline_allgather.py, spanning_trees_to_xml.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "exchange/foreign_formats.hpp"
#include "tenex/exchange/foreign_schedule.hpp"
#include "tenex/exchange/moves.hpp"
#include "tenex/exchange/schedule_export.hpp"

namespace tenex {
namespace exchange {
namespace {

/// Sends of a chunk, each after the one that reaches its source.
using Tree = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

std::string name_of(std::uint32_t npu) { return fmt::format("(0, 'GPU', {})", npu); }

/// The tree of every chunk. Errors (unsupported): a chunk that passes an NPU that does not keep it.
Result<std::vector<Tree>> trees_of(const MovePlan& plan) {
  std::vector<Tree> trees(plan.chunks);
  for (const auto& deed : plan.deeds) {
    if (deed.kind != Deed::Kind::receive) continue;
    const Move& move = plan.moves[deed.index];
    for (std::size_t i = 0; i < move.to.size(); ++i) {
      if (move.to[i].buffer == 's' || move.from[i].buffer == 's')
        return unsupported_error({}, "the schedule is not made of trees",
                                 fmt::format("what NPU {} sends to NPU {} is passed on by an NPU that has it already",
                                             move.source, move.target),
                                 "export a synthesizer's schedule, or mscclang");
      trees[move.to[i].index].emplace_back(move.source, move.target);
    }
  }
  return trees;
}

/// Sends from the root to the farthest NPU of a tree.
std::size_t height_of(const Tree& tree, std::uint32_t root) {
  std::map<std::uint32_t, std::size_t> depth{{root, 0}};
  std::size_t most = 0;
  for (const auto& [from, to] : tree) most = std::max(most, depth[to] = depth[from] + 1);
  return most;
}

std::string text_of(const Tree& tree, std::uint32_t root, std::size_t number, std::size_t chunks) {
  auto text = fmt::format("  <tree root=\"{}\" index=\"{}\" nchunks=\"{}\" height=\"{}\">\n", name_of(root), number,
                          chunks, height_of(tree, root));
  for (const auto& [from, to] : tree)
    text += fmt::format("    <send src=\"{0}\" dst=\"{1}\" path=\"{0},{1}\"/>\n", name_of(from), name_of(to));
  return text + "  </tree>\n";
}

}  // namespace
}  // namespace exchange

Result<std::string> to_checked_forestcoll(const ScheduleFile& file, const ScheduleExportOptions& /*options*/) {
  using namespace exchange;  // NOLINT: its own door
  if (file.collective.kind() != CollectiveKind::all_gather)
    return unsupported_error({}, fmt::format("{} has no form as ForestColl's trees", to_string(file.collective.kind())),
                             "its trees carry an All-Gather", "export an All-Gather");
  const auto plan = plan_moves(file);
  if (!plan) return plan.errors();
  const auto trees = trees_of(*plan);
  if (!trees) return trees.errors();
  const std::size_t per_npu = plan->chunks / plan->npus;
  std::string text = fmt::format("<Algo nchunkspernode=\"{}\">\n", per_npu);
  for (std::uint32_t root = 0; root < plan->npus; ++root) {
    std::map<Tree, std::size_t> chunks;  // with a tree
    for (std::size_t k = 0; k < per_npu; ++k) ++chunks[(*trees)[root * per_npu + k]];
    std::size_t number = 0;
    for (const auto& [tree, count] : chunks) text += text_of(tree, root, number++, count);
  }
  text += "</Algo>\n";
  if (auto status = expect_valid(interpret_schedule({"written trees", text})); !status) return status.errors();
  return text;
}

}  // namespace tenex
