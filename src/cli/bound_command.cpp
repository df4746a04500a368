// bound: all lower bounds that apply to a point, each certificate confirmed by its checker; or those of a file.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bound_file.hpp"
#include "commands.hpp"
#include "report.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/execution/algorithm_table.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/execution/prepared_point.hpp"

namespace tenex::cli {
namespace {

/// A bound of `tenex bound`; certified if it has a certificate, which the checker confirms.
struct FoundBound {
  std::string_view name;
  SimTime time;
  std::optional<CertifiedBound> certified;
};

/// The better of two certificates of a bound.
std::optional<CertifiedBound> better(std::optional<CertifiedBound> a, std::optional<CertifiedBound> b) {
  if (!a || (b && b->time > a->time)) return b;
  return a;
}

/// `exact`: the best weights too, where a method offers them.
std::vector<FoundBound> bounds_of(const BoundProblem& problem, bool exact) {
  std::vector<FoundBound> found;
  for (const auto& method : bound_methods()) {
    if (method.certify == nullptr) {
      if (const auto time = method.compute(problem)) found.push_back({method.name, *time, std::nullopt});
      continue;
    }
    auto certified = method.certify(problem, method.full_work);
    const bool best = certified && certified->densest;  // no other weights prove more
    if (exact && !best && method.exact != nullptr) certified = better(std::move(certified), method.exact(problem));
    if (!certified) continue;
    ensure(method.check(problem, *certified) == certified->time, "a certificate proves the bound's time");
    found.push_back({method.name, certified->time, std::move(certified)});
  }
  if (found.empty()) found.push_back({"none", SimTime::zero(), std::nullopt});
  return found;
}

/// "0-3,8": ascending ids, runs as first-last.
std::string vertex_ranges(std::span<const VertexId> vertices) {
  std::string text;
  for (std::size_t i = 0; i < vertices.size();) {
    std::size_t end = i + 1;
    while (end < vertices.size() && vertices[end].value() == vertices[end - 1].value() + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ",", vertices[i].value());
    if (end > i + 1) text += fmt::format("-{}", vertices[end - 1].value());
    i = end;
  }
  return text;
}

/// The certificate as its checker reads it. Weights are "weight x links": runs of equal ones in order of link ids.
Report certificate_of(const CertifiedBound& bound) {
  Report report;
  if (bound.densest) report.add("densest", true);
  if (!bound.inside.empty()) report.add("inside", vertex_ranges(bound.inside));
  std::string weights;
  for (std::size_t l = 0; l < bound.weights.size();) {
    std::size_t end = l + 1;
    while (end < bound.weights.size() && bound.weights[end] == bound.weights[l]) ++end;
    weights += fmt::format("{}{}x{}", weights.empty() ? "" : ",", bound.weights[l], end - l);
    l = end;
  }
  if (!weights.empty()) report.add("link_weights", weights);
  return report;
}

/// Of single-chunk schedules alone, a bound of all schedules is weaker: where it is, `problem` has the stronger one.
void add_single_chunks(Report& report, BoundProblem problem, bool exact, SimTime of_all) {
  problem.single_chunks = true;
  if (problem.holds_for_all()) return;
  const auto found = bounds_of(problem, exact);
  const auto& best = *std::ranges::max_element(found, {}, &FoundBound::time);
  if (best.time <= of_all) return;
  report.add("single_chunks_bound_ps", best.time.count());
  report.add("single_chunks_bound_name", std::string(best.name));
}

Report bound_report(const BoundProblem& problem, std::uint32_t unwound, bool exact) {
  const Topology& topology = problem.network;
  const Collective& collective = problem.collective;
  const auto found = bounds_of(problem, exact);
  const auto& best = *std::ranges::max_element(found, {}, &FoundBound::time);
  const auto ideal = paper_ideal(topology, collective);
  Report report;
  report.add("npus", static_cast<std::int64_t>(topology.npus()));
  report.add("links", static_cast<std::int64_t>(topology.links()));
  report.add("switches", static_cast<std::int64_t>(topology.switches()));
  report.add("unwound_degree", static_cast<std::int64_t>(unwound));
  report.add("bound_ps", best.time.count());
  report.add("bound_name", std::string(best.name));
  report.add("bound_class", std::string(problem.holds_for_all() ? "all" : "single_chunks"));
  if (!problem.single_chunks) add_single_chunks(report, problem, exact, best.time);
  report.add_count("paper_ideal_ps", ideal ? ideal->count() : -1);
  std::vector<Report> all;
  for (const auto& bound : found) {
    Report entry;
    entry.add("name", std::string(bound.name));
    entry.add("time_ps", bound.time.count());
    if (bound.certified) entry.add_object("certificate", certificate_of(*bound.certified));
    all.push_back(std::move(entry));
  }
  report.add("bounds", std::move(all));
  return report;
}

void print_report(const Report& report, bool json) {
  std::fputs((json ? to_json(report) : to_text(report)).c_str(), stdout);
}

/// The time that a stated bound proves at this point: its checker's, or computed anew where it has no certificate.
/// nullopt where it does not apply.
std::optional<SimTime> proven_time(const BoundProblem& problem, const StatedBound& stated) {
  if (stated.method == nullptr) return SimTime::zero();
  return stated.method->check != nullptr ? stated.method->check(problem, stated.certificate)
                                         : stated.method->compute(problem);
}

/// tenex bound --check: nothing is searched.
ExitCode check_bounds(const BoundProblem& problem, const PointArguments& arguments) {
  const auto stated = read_bound_file(arguments.check, problem.topology);
  if (!stated) return refuse(stated.errors());
  auto code = ExitCode::done;
  std::vector<Report> all;
  for (const auto& bound : *stated) {
    const auto proven = proven_time(problem, bound);
    const bool confirmed = proven == bound.time;
    Report entry;
    entry.add("name", std::string(bound.method != nullptr ? bound.method->name : "none"));
    entry.add("time_ps", bound.time.count());
    entry.add("confirmed", confirmed);
    if (!confirmed) entry.add_count("proven_ps", proven ? proven->count() : -1);
    if (!confirmed) code = ExitCode::some_failed;
    all.push_back(std::move(entry));
  }
  Report report;
  report.add("checked", std::move(all));
  print_report(report, arguments.json);
  return code;
}

/// Errors (environment): no bound of this build has exact weights.
Status check_exact() {
  const bool any = std::ranges::any_of(bound_methods(), [](const BoundMethod& method) { return method.exact; });
  if (any) return success();
  return environment_error("this tenex offers no --exact", "it was built without COIN-OR Clp",
                           "install coinor-libclp-dev, and build it again");
}

}  // namespace

// Bounds hold for the topology as given: switches are unwound only if asked for. Without an algorithm they hold for all
// schedules.
ExitCode print_bounds(DesignPoint point, const PointArguments& arguments) {
  if (const auto solver = arguments.exact ? check_exact() : success(); !solver) return refuse(solver.errors());
  if (!names(arguments, "algorithm") && !names(arguments, "unwind")) {
    point.algorithm.clear();
    point.topology.unwind = 0;
  }
  ExecutionCache cache(0);
  const auto prepared = prepare(point, ExecutionOptions{}.memory_limit_bytes, cache);
  if (!prepared) return refuse(prepared.errors());
  if (const auto reach = check_reach(*prepared); !reach) return refuse(reach.errors());
  if (const auto in_range = check_time_range(*prepared); !in_range) return refuse(in_range.errors());
  const auto plain = topology_for_bounds(point, prepared->topology());
  const Topology& bounded = plain ? *plain : prepared->topology();
  const bool single_chunks = names(arguments, "algorithm") && sends_single_chunks(point);
  const BoundProblem problem{{bounded, *prepared->collective, point.occupancy},
                             point.collective().overlap,
                             single_chunks,
                             prepared->start_delays};
  if (!arguments.check.empty()) return check_bounds(problem, arguments);
  print_report(bound_report(problem, point.topology.unwind, arguments.exact), arguments.json);
  return ExitCode::done;
}

}  // namespace tenex::cli
