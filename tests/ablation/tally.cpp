#include "ablation/tally.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ranges>
#include <sstream>
#include <utility>

namespace tenex::ablation {

void Tally::judge(const std::vector<Entry>& entries) {
  if (entries.empty()) return;
  ++cases_;
  const double least = std::ranges::min(entries, {}, &Entry::value).value;
  const auto is_best = [&](const Entry& entry) { return entry.value <= least * margin_; };
  const bool alone = std::ranges::count_if(entries, is_best) == 1;
  for (const Entry& entry : entries) {
    Standing& standing = standings_[entry.name];
    ++standing.cases;
    standing.seconds += entry.seconds;
    if (!is_best(entry)) continue;
    ++standing.among;
    if (alone) ++standing.only;
  }
}

std::string Tally::table() const {
  std::string text = fmt::format("## {}: {} cases\n\n", title_, cases_);
  text += "| | cases | the only best | among the best | seconds |\n|---|---|---|---|---|\n";
  std::vector<std::pair<std::string, Standing>> order(standings_.begin(), standings_.end());
  std::ranges::stable_sort(order, std::ranges::greater{}, [](const auto& each) { return each.second.only; });
  for (const auto& [name, standing] : order)
    text += fmt::format("| {} | {} | {} | {} | {:.3f} |\n", name, standing.cases, standing.only, standing.among,
                        standing.seconds);
  return text + '\n';
}

std::vector<Exception> read_exceptions(const std::string& text) {
  std::vector<Exception> exceptions;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    const auto first = line.find(',');
    const auto second = line.find(',', first + 1);
    exceptions.push_back({line.substr(0, first), line.substr(first + 1, second - first - 1), line.substr(second + 1)});
  }
  return exceptions;
}

std::vector<std::string> complaints_of(const Tally& tally, const std::vector<Exception>& exceptions) {
  std::vector<std::string> complaints;
  const auto excused = [&](const std::string& name) {
    return std::ranges::any_of(exceptions, [&](const Exception& each) {
      return each.part == tally.title() && each.name == name && !each.reason.empty();
    });
  };
  for (const auto& [name, standing] : tally.standings())
    if (standing.required && standing.only == 0 && !excused(name))
      complaints.push_back(
          fmt::format("{}: {} is the only best one in none of {} cases", tally.title(), name, standing.cases));
  for (const Exception& each : exceptions) {
    if (each.part != tally.title()) continue;
    const auto found = tally.standings().find(each.name);
    if (found == tally.standings().end())
      complaints.push_back(fmt::format("{}: there is no {} to be excepted", tally.title(), each.name));
    else if (found->second.only > 0)
      complaints.push_back(fmt::format("{}: {} is the only best one in {} cases and needs no exception", tally.title(),
                                       each.name, found->second.only));
  }
  return complaints;
}

bool self_test() {
  bool passed = true;
  const auto expect = [&](bool holds, const char* what) {
    if (!holds) fmt::print(stderr, "not so: {}\n", what);
    passed = passed && holds;
  };
  Tally times("Times");
  for (const auto* name : {"a", "b", "c", "d"}) times.require(name);
  times.judge({{"a", 10, 1}, {"b", 12, 2}});
  times.judge({{"a", 7, 1}, {"b", 7, 2}, {"c", 9, 3}});
  times.judge({{"b", 5, 2}, {"x", 6, 1}});
  times.judge({});
  const auto& standings = times.standings();
  expect(times.cases() == 3, "a case without competitors is none");
  expect(standings.at("a").only == 1 && standings.at("a").among == 2, "a wins alone, then beside b");
  expect(standings.at("b").only == 1 && standings.at("b").cases == 3 && standings.at("b").seconds == 6, "b wins last");
  expect(standings.at("c").only == 0 && standings.at("c").among == 0, "c never wins");
  const auto without = complaints_of(times, {});
  expect(without.size() == 2, "c and d never win, and x need not");
  const auto excused = read_exceptions("# reasons\nTimes,c,slow, and plain\nTimes,d,not here\nOthers,e,elsewhere\n");
  expect(excused.size() == 3 && excused[0].reason == "slow, and plain", "reasons may have commas");
  expect(complaints_of(times, excused).empty(), "what has a reason needs no win");
  expect(complaints_of(times, {{"Times", "c", ""}, {"Times", "d", "why"}}).size() == 1, "a reason is needed");
  expect(complaints_of(times, {{"Times", "a", "why"}, {"Times", "q", "why"}}).size() == 4,
         "an exception that wins, and one that does not exist");
  Tally seconds("Seconds", 1.2);
  seconds.judge({{"a", 1, 1}, {"b", 1.19, 1}});
  seconds.judge({{"a", 1, 1}, {"b", 1.21, 1}});
  expect(seconds.standings().at("a").only == 1 && seconds.standings().at("b").among == 1, "20 % are a clear lead");
  Tally bounds("Bounds");
  bounds.judge({{"a", -5, 1}, {"b", -6, 1}});
  expect(bounds.standings().at("b").only == 1, "the largest bound is the best");
  return passed;
}

}  // namespace tenex::ablation
