// No bound is above any schedule that tenex makes: every entry of bound_methods() against every algorithm and
// synthesizer, on random small networks and on machine files. A row below its own bound fails anyway; here are all
// bounds, those with certificates too, with and without the assumptions that a row may make.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evaluate/claims.hpp"
#include "evaluate/points.hpp"
#include "support/draws.hpp"
#include "support/topologies.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/bound/certificates.hpp"
#include "tenex/design/stragglers.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/prepared_point.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/slow_windows.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

using support::Claims;
using support::claims_of;
using support::makers;
using support::Words;

/// Of each search for a certificate: a third of a second at most; 20 ms.
std::uint64_t work_limit() { return std::uint64_t{1} << (support::long_run() ? 24 : 20); }

/// What was compared, so that a test can ask whether that was enough.
struct HeldCounts {
  int rows = 0;
  int met = 0;                                ///< times that equal a bound: one picosecond more would be a defect
  std::set<std::string, std::less<>> makers;  ///< algorithms and synthesizers with a row
  std::set<std::string_view> bounds;          ///< that were compared with a time
  std::set<std::string_view> bounds_met;      ///< that equal a time
};

/// Compares the schedules of one point's settings, made by all algorithms, with all bounds.
class Audit {
 public:
  Audit(Words words, HeldCounts& counts) : words_(std::move(words)), counts_(counts) {}

  /// The first bound that is above a time, or a row that failed, in words; empty: none.
  [[nodiscard]] std::string run() {
    std::size_t sends = 0;  // of every chunk over every link, as the last row had them
    for (const auto& name : makers()) {
      const auto* synthesizer = find_synthesizer(name);
      const bool solves = synthesizer != nullptr && synthesizer->reads.solves;
      if (solves && sends > kMostSolvedSends) continue;
      auto words = words_;
      words.emplace_back("algorithm", name);
      if (solves) words.insert(words.end(), {{"solver_nodes", "5"}, {"solver_time_limit", "500ms"}});
      const auto point = make_point(words, vocabulary());
      if (!point) continue;  // refused for a contradiction in its text
      Cache cache;
      EvaluateOptions options;
      options.keep_schedule = true;
      const auto output = evaluate(*point, cache, options);
      if (output.row.status == PointStatus::failed) return point->canonical + '\n' + output.row.reason;
      if (output.row.status != PointStatus::ok) continue;
      sends = output.topology->links() * output.collective->chunks();
      ++counts_.rows;
      counts_.makers.insert(name);
      if (const auto defect = compare(*point, output); !defect.empty()) return point->canonical + '\n' + defect;
    }
    return {};
  }

 private:
  /// Models of more sends take solvers minutes, and some of so many a minute for each node: the clock ends them, too.
  static constexpr std::size_t kMostSolvedSends = 32;

  /// What decides the bounds, beside the words.
  struct Key {
    std::int64_t unwound_degree;
    bool shaped;
    bool overlap;
    bool single_chunks;
    bool delayed;
    auto operator<=>(const Key&) const = default;
  };

  [[nodiscard]] std::string compare(const DesignPoint& point, const EvaluationOutput& output) {
    const auto& row = output.row;
    const auto* algorithm = find_algorithm(row.chosen_algorithm.empty() ? point.algorithm : row.chosen_algorithm);
    const bool sends_single = algorithm == nullptr || algorithm->single_chunks;
    // On a shape, bounds assume that the links of a dimension are alike. Without one they must hold for any links.
    const bool alike = !has_unlike_links(point, *output.topology);
    const bool late = !start_delays_of(point).empty();
    for (const bool overlap : {true, false}) {
      const auto time = time_of(row, point.collective().kind, overlap);
      if (!time) continue;
      for (const bool single : {true, false})
        for (const bool shaped : {true, false})
          for (const bool delayed : {true, false}) {
            if ((single && !sends_single) || (shaped && !(alike && output.topology->shape())) || (delayed && !late))
              continue;
            const auto& claims = find({row.unwound_degree, shaped, overlap, single, delayed}, point, output);
            if (const auto defect = first_above(claims, *time); !defect.empty())
              return fmt::format("{} (overlap {}, single chunks {}, shape {}, delays {})", defect, overlap, single,
                                 shaped, delayed);
          }
    }
    return {};
  }

  [[nodiscard]] std::string first_above(const Claims& claims, SimTime time) {
    if (!claims.refuted.empty()) return claims.refuted;
    for (const auto& [name, bound] : claims.all) {
      if (bound > time) return fmt::format("{} {} ps is above the time {} ps", name, bound.count(), time.count());
      counts_.bounds.insert(name);
      if (bound < time) continue;
      ++counts_.met;
      counts_.bounds_met.insert(name);
    }
    return {};
  }

  /// The time that bounds with or without overlap must not exceed. A schedule without overlap is one with overlap too.
  static std::optional<SimTime> time_of(const Evaluation& row, CollectiveKind kind, bool overlap) {
    if (kind != CollectiveKind::all_reduce)
      return overlap ? std::optional(picoseconds(row.collective_time_ps)) : std::nullopt;
    const auto with = row.time_with_overlap_ps;
    const auto without = row.time_without_overlap_ps;
    if (without < 0) return overlap ? std::optional(picoseconds(with)) : std::nullopt;  // trees have no halves
    return picoseconds(overlap ? std::min(with, without) : without);
  }

  const Claims& find(const Key& key, const DesignPoint& point, const EvaluationOutput& output) {
    const auto [found, added] = claims_.try_emplace(key);
    if (!added) return found->second;
    const OutsideWindows outside(*output.topology);
    const auto plain = outside.topology().without_shape();
    const auto delays = key.delayed ? start_delays_of(point) : std::vector<StartDelay>{};
    const Instance instance{key.shaped ? outside.topology() : plain, *output.collective, point.occupancy};
    found->second = claims_of({instance, key.overlap, key.single_chunks, delays}, work_limit());
    return found->second;
  }

  Words words_;
  HeldCounts& counts_;
  std::map<Key, Claims> claims_;
};

/// Audits the words with every collective. The first defect, in words; empty: none.
std::string audit_all_collectives(const Words& words, HeldCounts& counts) {
  for (const auto kind : collective_names()) {
    auto with_kind = words;
    with_kind.emplace_back("collective", kind);
    const auto needs = support::needs_of(*parse_collective_kind(kind));
    const auto is_groups = [](const auto& word) { return word.first == "groups"; };
    if (std::ranges::any_of(needs, is_groups)) std::erase_if(with_kind, is_groups);
    with_kind.insert(with_kind.end(), needs.begin(), needs.end());
    auto defect = Audit(with_kind, counts).run();
    if (!defect.empty()) return defect;
  }
  return {};
}

/// A number below `count`, whatever rapidcheck's size: small sizes would draw the first choices only.
std::size_t draw(std::size_t count) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(0, count));
}

const char* one_of(std::initializer_list<const char*> values) { return values.begin()[draw(values.size())]; }

bool one_in(std::size_t count) { return draw(count) == 0; }

/// A shape of at most 16 NPUs.
std::string random_shape() {
  const auto size = [](std::size_t least, std::size_t most) { return least + draw(most + 1 - least); };
  switch (draw(10)) {
    case 0:
      return fmt::format("mesh({},{})", size(2, 4), size(2, 4));
    case 1:
      return fmt::format("torus({},{})", size(2, 4), size(2, 4));
    case 2:
      return fmt::format("dragonfly({},{})", size(2, 4), size(2, 4));
    case 3:
      return fmt::format("hypercube({})", size(2, 4));
    case 4:
      return one_of({"fat_tree(2)", "fat_tree(4)", "rail_spine(2,3,2)", "rail_spine(3,2,1)"});
    case 5:
      return fmt::format("leaf_spine({},{},{})", size(1, 4), size(2, 4), size(1, 3));
    case 6:
      return fmt::format("{}({})", one_of({"RI", "FC", "SW", "LI"}), size(2, 8));
    default:
      return fmt::format("{}({})_{}({})", one_of({"RI", "FC", "SW", "LI"}), size(2, 4),
                         one_of({"RI", "FC", "SW", "LI"}), size(2, 4));
  }
}

/// All NPUs, or one or two groups of some of them.
std::string random_groups(std::size_t npus) {
  if (npus < 4 || one_in(2)) return "all";
  std::string groups[2];
  int members[2] = {0, 0};
  const auto offset = draw(npus);
  for (std::size_t i = 0; i < npus; ++i) {
    const auto group = draw(3);
    if (group < 2) groups[group] += (members[group]++ == 0 ? "" : ",") + std::to_string((i + offset) % npus);
  }
  if (members[0] < 2 && members[1] < 2) return "all";
  if (members[0] < 2 || members[1] < 2) return groups[members[0] < 2 ? 1 : 0];
  return groups[0] + "; " + groups[1];
}

/// One of the values for each dimension.
std::string random_list(std::size_t dimensions, std::initializer_list<const char*> values) {
  std::string text = one_of(values);
  for (std::size_t d = 1; d < dimensions; ++d) text += std::string(",") + one_of(values);
  return text;
}

Link random_link(const Topology& topology) { return topology.link(LinkId::at(draw(topology.links()))); }

std::string random_stragglers(const Topology& topology) {
  std::string text;
  const bool late = one_in(5);
  for (std::size_t npu = 0; late && npu < topology.npus(); ++npu)
    if (one_in(2)) text += fmt::format("npu {} delay {}; ", npu, one_of({"700ns", "1us", "100us"}));
  if (one_in(5))
    text += fmt::format("npu {} {}; ", draw(topology.npus()), one_of({"x2", "x1.001", "alpha x3", "alpha x1.001"}));
  const auto slow = random_link(topology);
  if (one_in(4))
    text += fmt::format("link {}{}{} {}; ", slow.source.value(), one_of({"-", "->"}), slow.target.value(),
                        one_of({"x1.5", "x4", "alpha x2.5", "alpha x100"}));
  return text.empty() ? "none" : text.substr(0, text.size() - 2);
}

std::string random_faults(const Topology& topology) {
  std::string text;
  const auto draw_number = 1 + draw(1000);
  if (one_in(6)) text += fmt::format("npu {}; ", draw(topology.npus()));
  const auto gone = random_link(topology);
  if (one_in(8)) text += fmt::format("link {}->{}; ", gone.source.value(), gone.target.value());
  if (one_in(6)) text += fmt::format("links {} draw {}; ", one_of({"1", "10%", "20%"}), draw_number);
  if (one_in(10)) text += fmt::format("npus {} draw {}; ", one_of({"1", "10%"}), draw_number);
  return text.empty() ? "none" : text;
}

/// The settings of a point, but for its collective and its algorithm.
Words random_words() {
  const auto text = random_shape();
  const auto dimensions = parse_shape(text).value().dimensions();
  auto topology = support::shape(text);
  Words words{{"topology", text},
              {"alpha", random_list(dimensions, {"0ns", "300ns", "1us"})},
              {"bandwidth", random_list(dimensions, {"25GB/s", "50GB/s", "300GB/s"})},
              {"size", one_of({"1009B", "72KB", "1000003B"})},  // ends of picoseconds, of alphas and of bandwidths
              {"chunks", one_of({"1", "2", "3", "4"})},
              {"root", one_of({"0", "1"})},
              {"groups", random_groups(topology.npus())},
              {"occupancy", one_of({"serialization", "transfer"})},
              {"overlap", one_of({"true", "false"})},
              {"window", one_of({"0", "1", "2"})},
              {"order", one_of({"relative", "absolute"})}};
  if (topology.switches() > 0) words.emplace_back("unwind", one_of({"0", "0", "1", "2"}));
  const auto gone = random_link(topology);
  const auto left = remove_links(topology, {{gone.source, gone.target}}).value();
  if (one_in(4) && !find_disconnected_pair(left)) {
    words.emplace_back("without", fmt::format("[[{}, {}]]", gone.source.value(), gone.target.value()));
    topology = left;
  }
  words.emplace_back("stragglers", random_stragglers(topology));
  words.emplace_back("faults", random_faults(topology));
  if (one_in(4)) words.emplace_back("overhead", one_of({"200ns", "3us"}));  // refused where switches are unwound
  return words;
}

TEST(BoundsHold, ForRandomNetworksAndSettings) {
  HeldCounts counts;
  int cases = 0;
  const bool held = rc::check("no bound is above a schedule", [&] {
    const auto words = random_words();
    ++cases;
    const auto defect = audit_all_collectives(words, counts);
    if (!defect.empty()) RC_FAIL(defect);
  });
  ASSERT_TRUE(held);
  // About thirty rows for a network, and as many times that meet a bound.
  EXPECT_GE(counts.rows, 10 * cases);
  EXPECT_GE(counts.met, 10 * cases);
}

TEST(BoundsHold, ForEveryAlgorithmOnMachinesAndShapesOfUpToSixteenNpus) {
  HeldCounts counts;
  std::vector<Words> networks;
  for (const std::string machine : {"amd_1ch", "dgx1", "dgx2_1ch", "forestcoll_a100_1x8", "forestcoll_a100_2x8",
                                    "ndv2_1ch", "ndv2_2ch", "ndv2_2ch_switch", "mesh_4x4_100GBps"})
    networks.push_back({{"topology", TENEX_SOURCE_DIR "/experiments/machines/" + machine + ".toml"}});
  for (const auto* shape : {"mesh(4,4)", "torus(4,4)", "FC(4)_SW(4)", "LI(3)_RI(4)", "LI(4)_FC(2)", "dragonfly(3,4)"})
    networks.push_back({{"topology", shape}, {"alpha", "300ns"}, {"bandwidth", "50GB/s,25GB/s"}});
  networks.push_back({{"topology", "RI(4)"}, {"alpha", "300ns"}, {"bandwidth", "50GB/s"}});  // solvers, too
  for (const auto* shape : {"FC(4)_SW(4)", "SW(4)"})  // rings one way, which meet the strength
    networks.push_back({{"topology", shape}, {"unwind", "1"}, {"alpha", "300ns"}, {"bandwidth", "50GB/s"}});
  for (const auto* shape : {"fat_tree(4)", "rail_spine(4,3,2)"})
    networks.push_back({{"topology", shape}, {"alpha", "300ns"}, {"bandwidth", "50GB/s,25GB/s,20GB/s"}});
  for (const auto* stragglers : {"npu 3 delay 50us; npu 4 delay 3us", "npu 2 x2; link 0->1 x1.5",
                                 "npu 2 alpha x10; link 0->1 x1.5; link 0->1 alpha x40"})
    networks.push_back(
        {{"topology", "torus(3,2)"}, {"alpha", "300ns"}, {"bandwidth", "50GB/s"}, {"stragglers", stragglers}});
  networks.push_back({{"topology", "RI(4)"},
                      {"alpha", "300ns"},
                      {"bandwidth", "50GB/s"},
                      {"stragglers", "link 0->1 x3 from 5us to 200us; npu 2 x2 from 0us to 4us"}});
  networks.push_back({{"topology", "RI(4)_FC(2)"}, {"alpha", "300ns"}, {"bandwidth", "50GB/s"}, {"overhead", "2us"}});
  networks.push_back({{"topology", "SW(5)"},
                      {"alpha", "300ns"},
                      {"bandwidth", "50GB/s"},
                      {"overhead", "400ns"},
                      {"forwarding", "virtual_cut_through"}});
  // Every network with one pair of an occupancy and a number of chunks, the pairs in turn; under `long` with all pairs.
  const std::pair<const char*, const char*> pairs[] = {
      {"serialization", "1"}, {"transfer", "4"}, {"serialization", "4"}, {"transfer", "1"}};
  for (std::size_t n = 0; n < networks.size(); ++n)
    for (std::size_t p = 0; p < std::size(pairs); ++p) {
      if (!support::long_run() && p != n % std::size(pairs)) continue;
      auto words = networks[n];
      words.insert(words.end(), {{"size", "1000003B"}, {"chunks", pairs[p].second}, {"occupancy", pairs[p].first}});
      ASSERT_EQ(audit_all_collectives(words, counts), "");
    }
  for (const auto& name : makers()) EXPECT_TRUE(counts.makers.contains(name)) << name << " made no schedule";
  for (const auto& method : bound_methods()) EXPECT_TRUE(counts.bounds.contains(method.name)) << method.name;
  for (const auto* name : {"approach", "cut", "eccentricity", "ejection", "injection", "link_total", "pipeline",
                           "relay", "strength", "sum_of_parts"})
    EXPECT_TRUE(counts.bounds_met.contains(name)) << name << " is met by no schedule";
}

}  // namespace
}  // namespace tenex
