// No claim of a row is refuted by another row of the same point: no verified schedule ends before a bound or before
// what is called optimal, of its class; `best` is no slower than what it chooses from; rows do not depend on threads.
//
// Small networks with switches of every kind, process groups that share NPUs or leave some out, faults up to no link at
// all, both occupancies, several chunks.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evaluate/claims.hpp"
#include "evaluate/points.hpp"
#include "support/draws.hpp"
#include "tenex/base/random.hpp"
#include "tenex/topology/shape.hpp"

namespace tenex {
namespace {

using support::claims_of;
using support::makers;
using support::Words;

constexpr std::size_t kMostSolved = 60;
constexpr std::uint64_t kWork = std::uint64_t{1} << 15;  // link visits of each search for a certificate

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed, 0x636c61696d73) {}

  std::uint32_t below(std::size_t count) { return random_.below(static_cast<std::uint32_t>(count)); }
  bool one_in(std::size_t count) { return below(count) == 0; }
  const char* one_of(std::initializer_list<const char*> values) { return values.begin()[below(values.size())]; }

  /// Symmetric and irregular networks of at most six NPUs, most with switches.
  std::string shape() {
    switch (below(8)) {
      case 0:
        return fmt::format("leaf_spine({},{},{})", 1 + below(3), 2, 1 + below(2));
      case 1:
        return one_of({"mesh(2,2)", "mesh(2,3)", "dragonfly(2,3)", "fat_tree(2)"});
      case 2:
        return fmt::format("{}({})", one_of({"RI", "FC", "LI"}), 2 + below(4));
      case 3:
        return fmt::format("SW({})_{}(2)", 2 + below(2), one_of({"RI", "SW", "LI"}));
      default:
        return fmt::format("SW({})", 2 + below(5));
    }
  }

  /// All NPUs, or groups that may share NPUs and leave some out.
  std::string groups(std::size_t npus) {
    if (npus < 3 || one_in(2)) return "all";
    std::string text;
    for (std::size_t group = 0; group < 1 + below(2); ++group) {
      std::vector<std::size_t> members(npus);
      for (std::size_t npu = 0; npu < npus; ++npu) members[npu] = npu;
      random_.shuffle(std::span(members));
      members.resize(2 + below(npus - 1));
      text += (text.empty() ? "" : ";") + fmt::format("{}", fmt::join(members, ","));
    }
    return text;
  }

  /// The settings of a point without an algorithm.
  Words words() {
    const auto text = shape();
    const Shape network = parse_shape(text).value();
    Words words{{"topology", text},
                {"alpha", one_of({"0ns", "3ns", "500ns"})},
                {"bandwidth", one_of({"60GB/s", "50GB/s", "70GB/s"})},
                {"collective", one_of({"all_gather", "reduce_scatter", "all_reduce", "broadcast", "reduce", "gather",
                                       "scatter", "all_to_all"})},
                {"size", one_of({"120B", "7KB", "1000003B"})},
                {"chunks", one_of({"1", "2", "2", "3", "4"})},
                {"root", one_of({"0", "1"})},
                {"occupancy", one_of({"serialization", "transfer"})},
                {"overlap", one_of({"true", "true", "false"})},
                {"groups", groups(network.npus())}};
    if (count_shape(network).switches > 0) {
      words.emplace_back("switch_copy", one_of({"no", "yes"}));
      words.emplace_back("switch_reduce", one_of({"no", "yes"}));
      words.emplace_back("forwarding", one_of({"store_and_forward", "store_and_forward", "cut_through"}));
      if (one_in(4)) words.emplace_back("switch_buffer", one_of({"1", "4"}));
    }
    if (one_in(8)) words.emplace_back("faults", one_of({"links 100%", "links 1 draw 3", "links 20% draw 1", "npu 1"}));
    return words;
  }

 private:
  Random random_;
};

/// A row with what it was made of.
struct Made {
  std::string maker;
  Evaluation row;
  bool single_chunks = true;
};

/// What all that makes schedules, and `best`, make of the words.
struct PointRows {
  std::vector<Made> made;
  std::optional<Evaluation> best;
  std::string defect;                          ///< a row that failed
  std::optional<EvaluationOutput> on_network;  ///< with a schedule, switches as they are
  bool overlap = true;
};

/// `most_solved`: solvers take part where so many sends of every chunk over every link are possible.
PointRows rows_of(const Words& words, std::size_t most_solved) {
  PointRows rows;
  auto names = makers();
  names.emplace_back(kBestOfAll);
  for (const auto& name : names) {
    const auto* synthesizer = find_synthesizer(name);
    if (synthesizer != nullptr && synthesizer->reads.solves) {
      if (most_solved == 0 || !rows.on_network) continue;
      if (rows.on_network->topology->links() * rows.on_network->collective->chunks() > most_solved) continue;
    }
    auto named = words;
    named.emplace_back("algorithm", name);
    if (synthesizer != nullptr && synthesizer->reads.solves) named.emplace_back("solver_nodes", "20");
    const auto point = make_point(named, vocabulary());
    if (!point) continue;  // refused for a contradiction in its text
    Cache cache;
    EvaluateOptions options;
    options.keep_schedule = true;
    auto output = evaluate(*point, cache, options);
    if (output.row.status == PointStatus::failed) rows.defect = point->canonical + '\n' + output.row.reason;
    if (name == kBestOfAll) {
      rows.best = output.row;
      continue;
    }
    if (output.row.status != PointStatus::ok) continue;
    const auto* algorithm = find_algorithm(output.row.chosen_algorithm.empty() ? name : output.row.chosen_algorithm);
    rows.overlap = point->collective().overlap;
    rows.made.push_back({name, output.row, algorithm == nullptr || algorithm->single_chunks});
    if (output.row.unwound_degree == 0 && !rows.on_network) rows.on_network = std::move(output);
  }
  return rows;
}

/// Whether the claims of a class speak of the schedule.
bool speaks_of(std::string_view bound_class, const Made& made) { return bound_class == "all" || made.single_chunks; }

/// The first claim of a row that another one refutes; empty: none.
std::string refuted_claim(const Evaluation& claiming, std::string_view name, const std::vector<Made>& made) {
  for (const Made& other : made) {
    if (other.row.unwound_degree != claiming.unwound_degree || !speaks_of(claiming.bound_class, other)) continue;
    if (other.row.collective_time_ps < claiming.bound_ps)
      return fmt::format("{} takes {} ps, below the bound {} ps of {} ({}, {})", other.maker,
                         other.row.collective_time_ps, claiming.bound_ps, name, claiming.bound_name,
                         claiming.bound_class);
    if (claiming.optimal == 1 && other.row.collective_time_ps < claiming.collective_time_ps)
      return fmt::format("{} takes {} ps, less than the optimum {} ps of {} ({})", other.maker,
                         other.row.collective_time_ps, claiming.collective_time_ps, name, claiming.bound_class);
  }
  return {};
}

/// What `tenex bound` says of the network, with and without the assumption that a send carries one chunk.
std::string refuted_bound(const PointRows& rows, Occupancy occupancy) {
  if (!rows.on_network) return {};
  for (const bool single : {false, true}) {
    const BoundProblem problem{
        {*rows.on_network->topology, *rows.on_network->collective, occupancy}, rows.overlap, single};
    const auto claims = claims_of(problem, kWork);
    if (!claims.refuted.empty()) return claims.refuted;
    for (const Made& made : rows.made)
      for (const auto& [name, time] : claims.all)
        if (made.row.unwound_degree == 0 && (made.single_chunks || !single) &&
            made.row.collective_time_ps < time.count())
          return fmt::format("{} takes {} ps, below the bound {} ps ({}, single chunks {})", made.maker,
                             made.row.collective_time_ps, time.count(), name, single);
  }
  return {};
}

/// Whether `best` chooses from what it made: solvers, references and unwound switches are left out.
bool is_candidate(const Made& made) {
  const auto* synthesizer = find_synthesizer(made.maker);
  return made.row.unwound_degree == 0 &&
         (synthesizer == nullptr || !(synthesizer->reads.solves || synthesizer->is_reference));
}

std::string defect_of_best(const PointRows& rows) {
  if (!rows.best) return {};
  for (const Made& made : rows.made) {
    if (!is_candidate(made)) continue;
    if (rows.best->status != PointStatus::ok)
      return fmt::format("best has no time ({}), while {} has one", rows.best->reason, made.maker);
    if (made.row.collective_time_ps < rows.best->collective_time_ps)
      return fmt::format("best takes {} ps by {}, {} takes {} ps", rows.best->collective_time_ps,
                         rows.best->chosen_algorithm, made.maker, made.row.collective_time_ps);
  }
  if (rows.best->status != PointStatus::ok) return {};
  return rows.best->bound_class == "all" ? refuted_claim(*rows.best, kBestOfAll, rows.made)
                                         : std::string("the bound of best is not one of all schedules");
}

std::string defect_of(const PointRows& rows, Occupancy occupancy) {
  if (!rows.defect.empty()) return rows.defect;
  for (const Made& made : rows.made)
    if (auto defect = refuted_claim(made.row, made.maker, rows.made); !defect.empty()) return defect;
  if (auto defect = refuted_bound(rows, occupancy); !defect.empty()) return defect;
  return defect_of_best(rows);
}

std::string text_of(const Words& words) {
  std::string text;
  for (const auto& [key, value] : words) text += fmt::format(" --{} \"{}\"", key, value);
  return text;
}

TEST(ClaimsHold, OfEveryRowOfDrawnPoints) {
  const unsigned first = support::first_seed(1);
  std::map<std::string, int> made;
  int optimal = 0;
  int failures = 0;
  const int draws = support::draws(250, 20'000);
  for (int i = 0; i < draws && failures < 5; ++i) {
    Draw draw(first + static_cast<unsigned>(i));
    const Words words = draw.words();
    const auto occupancy = std::ranges::find(words, "occupancy", &Words::value_type::first)->second;
    const PointRows rows = rows_of(words, i % 4 == 0 ? kMostSolved : 0);
    const auto defect = defect_of(rows, occupancy == "transfer" ? Occupancy::transfer : Occupancy::serialization);
    if (!defect.empty()) ++failures;
    EXPECT_EQ(defect, "") << "seed " << first + static_cast<unsigned>(i) << text_of(words);
    for (const Made& each : rows.made) {
      ++made[each.maker];
      optimal += each.row.optimal == 1 ? 1 : 0;
    }
  }
  for (const auto* name : {"te_ccl", "pccl", "tacos", "trees", "direct", "ring", "rhd", "binomial"})
    EXPECT_GT(made[name], draws / 100) << name;
  EXPECT_GT(optimal, draws / 20);
}

TEST(ClaimsHold, WhateverTheNumberOfThreads) {
  const unsigned first = support::first_seed(1);
  const int draws = support::draws(60, 2'000);
  int rows = 0;
  for (int i = 0; i < draws; ++i) {
    Draw draw(first + static_cast<unsigned>(i));
    Words words = draw.words();
    words.emplace_back("attempts", "3");
    for (const auto& synthesizer : synthesizers()) {
      auto named = words;
      named.emplace_back("algorithm", std::string(synthesizer.name));
      if (synthesizer.reads.solves) named.emplace_back("solver_nodes", "5");
      if (synthesizer.reads.solves && i % 4 != 0) continue;
      const auto point = make_point(named, vocabulary());
      if (!point) continue;
      std::vector<std::vector<MetricValue>> results;
      for (const int threads : {1, 2, 3}) {
        EvaluateOptions options;
        options.threads = threads;
        results.push_back(support::results_of(support::row_of(*point, options)));
      }
      ++rows;
      EXPECT_EQ(results[0], results[1]) << "2 threads" << text_of(named);
      EXPECT_EQ(results[0], results[2]) << "3 threads" << text_of(named);
    }
  }
  EXPECT_GT(rows, 2 * draws);
}

}  // namespace
}  // namespace tenex
