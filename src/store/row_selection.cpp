#include "store/row_selection.hpp"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <limits>
#include <tuple>

#include <fmt/core.h>

#include "store/shard.hpp"

namespace tenex::store {
namespace {

/// A stored row of a point.
struct Candidate {
  std::uint32_t point = 0;
  std::uint32_t shard = 0;
  std::uint32_t row = 0;
  bool ok = false;
  bool pruned = false;
  std::uint8_t lacking = 0;  ///< outputs that the study asks for and that this row's run was not asked for
};

struct ShardKeys {
  std::vector<Digest> keys;
  std::vector<std::int8_t> status;
  std::vector<OutputBits> outputs;
  std::vector<bool> elsewhere;  ///< pruned in another study; empty if none is
  ShardOrigin origin;
};

Result<ShardKeys> read_shard_keys(const Layout& layout, const Commit& commit, const Study& study) {
  const auto shard = open_shard(layout, commit);
  if (!shard) return shard.errors();
  auto keys = read_keys(*shard, commit.shard);
  if (!keys) return keys.errors();
  auto status = shard->read<std::int8_t>(columns::metric("status"), 0, keys->size());
  if (!status) return status.errors();
  auto outputs = read_outputs(*shard, keys->size());
  if (!outputs) return outputs.errors();
  auto elsewhere = rows_pruned_elsewhere(*shard, *status, study);
  if (!elsewhere) return elsewhere.errors();
  auto origin = read_origin(*shard);
  if (!origin) return origin.errors();
  return ShardKeys{std::move(keys).value(), std::move(status).value(), std::move(outputs).value(),
                   std::move(elsewhere).value(), std::move(origin).value()};
}

/// Chooses among the rows of one point, which are in the order of their shards, and notes the choice in their shards.
void choose(std::span<const Candidate> rows, std::uint32_t position, Selection& selection) {
  const auto incarnation = [&](const Candidate& row) { return selection.shards[row.shard].writer.incarnation; };
  const bool has_ok = std::ranges::any_of(rows, &Candidate::ok);
  const auto latest = incarnation(rows.back());
  const auto qualifies = [&](const Candidate& row) { return has_ok ? row.ok : incarnation(row) == latest; };
  const Candidate* best = nullptr;
  for (const auto& row : rows)
    if (qualifies(row) && (best == nullptr || row.lacking < best->lacking)) best = &row;
  for (const auto& row : rows) {
    if (!qualifies(row)) continue;
    auto& shard = selection.shards[row.shard];
    (&row == best ? shard.chosen : shard.repeated).emplace_back(row.row, position);
    if (&row != best) ++selection.repeated;
  }
  if (best->pruned)
    ++selection.pruned;
  else if (!has_ok)
    ++selection.failed;
}

/// Whether a shard that a journal names is gone: a live writer compacted it after this process had read the journal.
bool is_missing(const Layout& layout, const Commit& commit) {
  std::error_code error;
  return !std::filesystem::exists(layout.shard(commit.shard), error);
}

/// One pass. `vanished` is set when a named shard was missing.
Result<Selection> select_once(const Layout& layout, const Study& study, bool& vanished) {
  const auto contents = read_journals(layout);
  if (!contents) return contents.errors();
  Selection selection;
  selection.warnings = contents->warnings;
  std::vector<Candidate> candidates;
  for (const auto& [writer, commit] : contents->live) {
    auto shard = read_shard_keys(layout, commit, study);
    if (!shard) {
      if (is_of_newer_version(shard.errors())) return shard.errors();
      vanished = vanished || is_missing(layout, commit);
      selection.warnings.push_back(to_string(shard.errors()) + ": its rows count as missing");
      continue;
    }
    if (auto other = describe_other_physics(shard->origin, commit.shard)) {
      selection.warnings.push_back(*std::move(other));
      continue;
    }
    const auto number = static_cast<std::uint32_t>(selection.shards.size());
    selection.shards.push_back({writer, commit, std::move(shard->origin), {}, {}, shard->keys.size()});
    for (std::size_t row = 0; row < shard->keys.size(); ++row) {
      if (!shard->elsewhere.empty() && shard->elsewhere[row]) continue;
      if (const auto point = study.points.find(shard->keys[row])) {
        const auto missing = lacking(asked_outputs(study, *point), shard->outputs[row]);
        candidates.push_back({static_cast<std::uint32_t>(*point), number, static_cast<std::uint32_t>(row),
                              is_final(static_cast<PointStatus>(shard->status[row])), is_pruned(shard->status[row]),
                              static_cast<std::uint8_t>(std::popcount(static_cast<unsigned>(missing)))});
      }
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.point, a.shard, a.row) < std::tie(b.point, b.shard, b.row);
  });
  for (auto first = candidates.begin(); first != candidates.end();) {
    const auto last =
        std::find_if(first, candidates.end(), [&](const Candidate& row) { return row.point != first->point; });
    choose(std::span<const Candidate>(first, last), static_cast<std::uint32_t>(selection.points.size()), selection);
    selection.points.push_back(first->point);
    first = last;
  }
  for (auto& shard : selection.shards) {
    std::sort(shard.chosen.begin(), shard.chosen.end());
    std::sort(shard.repeated.begin(), shard.repeated.end());
  }
  return selection;
}

}  // namespace

Result<Selection> select_rows(const Layout& layout, const Study& study) {
  constexpr int kTries = 3;
  for (int attempt = 1;; ++attempt) {
    bool vanished = false;
    auto selection = select_once(layout, study, vanished);
    if (!selection || !vanished || attempt == kTries) return selection;
  }
}

Result<std::vector<bool>> rows_pruned_elsewhere(const ColumnFileReader& shard, const std::vector<std::int8_t>& status,
                                                const Study& study) {
  if (std::ranges::none_of(status, is_pruned)) return std::vector<bool>();
  const auto reasons = shard.read_text(columns::metric("reason"));
  if (!reasons) return reasons.errors();
  if (reasons->rows() != status.size()) return environment_error("a shard is damaged", "a column is too short");
  const auto stamp = search_stamp(study);
  std::vector<bool> elsewhere(status.size(), false);
  for (std::size_t row = 0; row < status.size(); ++row)
    elsewhere[row] = is_pruned(status[row]) && !(study.search.prunes() && reasons->at(row).ends_with(stamp));
  return elsewhere;
}

}  // namespace tenex::store
