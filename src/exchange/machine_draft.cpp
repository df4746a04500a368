#include "exchange/machine_draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "tenex/base/units.hpp"

namespace tenex::exchange {
namespace {

constexpr std::size_t kLongestText = 400;
constexpr std::size_t kPairsPerLine = 10;

void append_pairs(std::string& out, std::string_view key,
                  const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs) {
  if (pairs.empty()) return;
  out += fmt::format("{} = [", key);
  for (std::size_t i = 0; i < pairs.size(); ++i)
    fmt::format_to(std::back_inserter(out), "{}[{}, {}],", i % kPairsPerLine == 0 ? "\n  " : " ", pairs[i].first,
                   pairs[i].second);
  out += "\n]\n";
}

}  // namespace

std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kLongestText))
    out += c < ' ' || c > '~' || c == '"' || c == '\\' ? (c == '"' ? '\'' : '?') : c;
  return out;
}

std::uint32_t MachineDraft::add_switch(std::string role) {
  roles_.push_back(std::move(role));
  return static_cast<std::uint32_t>(roles_.size() - 1);
}

std::uint32_t MachineDraft::add_rate(const LinkRate& rate) {
  const auto [known, is_new] = rate_numbers_.try_emplace(rate, static_cast<std::uint32_t>(rates_.size()));
  if (is_new) rates_.push_back(rate);
  return known->second;
}

std::size_t MachineDraft::npus() const { return static_cast<std::size_t>(std::ranges::count(roles_, std::string())); }

bool MachineDraft::connected() const {
  std::vector<std::uint32_t> set(vertices());
  std::iota(set.begin(), set.end(), 0U);
  const auto root = [&set](std::uint32_t vertex) {
    while (set[vertex] != vertex) vertex = set[vertex] = set[set[vertex]];
    return vertex;
  };
  for (const auto& edge : edges_) set[root(edge.a)] = root(edge.b);
  std::uint32_t first = 0;
  bool seen = false;
  for (std::uint32_t vertex = 0; vertex < vertices(); ++vertex) {
    if (!roles_[vertex].empty()) continue;
    if (seen && root(vertex) != first) return false;
    first = root(vertex);
    seen = true;
  }
  return true;
}

void MachineDraft::remove_dead_ends() {
  std::vector<std::vector<std::uint32_t>> edges_of(vertices());
  for (std::uint32_t i = 0; i < edges_.size(); ++i) {
    edges_of[edges_[i].a].push_back(i);
    edges_of[edges_[i].b].push_back(i);
  }
  std::vector<bool> dead_edge(edges_.size());
  std::vector<bool> dead(vertices());
  std::vector<std::uint32_t> open;
  const auto is_dead_end = [&](std::uint32_t vertex) {
    if (roles_[vertex].empty() || dead[vertex]) return false;
    std::uint32_t neighbour = vertex;
    for (const auto i : edges_of[vertex]) {
      if (dead_edge[i]) continue;
      const auto other = edges_[i].a == vertex ? edges_[i].b : edges_[i].a;
      if (neighbour != vertex && other != neighbour) return false;
      neighbour = other;
    }
    return true;
  };
  for (std::uint32_t vertex = 0; vertex < vertices(); ++vertex) open.push_back(vertex);
  while (!open.empty()) {
    const auto vertex = open.back();
    open.pop_back();
    if (!is_dead_end(vertex)) continue;
    dead[vertex] = true;
    for (const auto i : edges_of[vertex]) {
      if (dead_edge[i]) continue;
      dead_edge[i] = true;
      open.push_back(edges_[i].a == vertex ? edges_[i].b : edges_[i].a);
    }
  }
  std::vector<std::uint32_t> number(vertices());
  std::vector<std::string> roles;
  for (std::uint32_t vertex = 0; vertex < vertices(); ++vertex) {
    number[vertex] = static_cast<std::uint32_t>(roles.size());
    if (!dead[vertex]) roles.push_back(std::move(roles_[vertex]));
  }
  std::vector<Edge> edges;
  for (std::uint32_t i = 0; i < edges_.size(); ++i)
    if (!dead_edge[i]) edges.push_back({number[edges_[i].a], number[edges_[i].b], edges_[i].rate, edges_[i].both});
  roles_ = std::move(roles);
  edges_ = std::move(edges);
}

void MachineDraft::replace_rates(const std::function<LinkRate(std::uint32_t)>& rate_of) {
  const auto old = std::exchange(rates_, {}).size();
  rate_numbers_.clear();
  std::vector<std::optional<std::uint32_t>> number(old);
  for (auto& edge : edges_) {
    if (!number[edge.rate]) number[edge.rate] = add_rate(rate_of(edge.rate));
    edge.rate = *number[edge.rate];
  }
}

MachineDraft MachineDraft::repeated(std::uint32_t copies) const {
  MachineDraft out = *this;
  for (std::uint32_t copy = 1; copy < copies; ++copy) {
    const auto shift = static_cast<std::uint32_t>(copy * vertices());
    out.roles_.insert(out.roles_.end(), roles_.begin(), roles_.end());
    for (const auto& edge : edges_) out.edges_.push_back({edge.a + shift, edge.b + shift, edge.rate, edge.both});
  }
  return out;
}

std::vector<std::uint32_t> MachineDraft::numbers() const {
  std::vector<std::uint32_t> number(vertices());
  std::uint32_t npu = 0;
  auto next = static_cast<std::uint32_t>(npus());
  for (std::size_t vertex = 0; vertex < vertices(); ++vertex) number[vertex] = roles_[vertex].empty() ? npu++ : next++;
  return number;
}

void MachineDraft::append_switches(std::string& out) const {
  std::vector<std::pair<std::string_view, std::size_t>> runs;
  for (const auto& role : roles_) {
    if (role.empty()) continue;
    if (runs.empty() || runs.back().first != role) runs.emplace_back(role, 0);
    ++runs.back().second;
  }
  std::size_t next = npus();
  for (const auto& [role, count] : runs) {
    const auto vertices =
        count == 1 ? fmt::format("vertex {}", next) : fmt::format("vertices {} to {}", next, next + count - 1);
    out += fmt::format("\n[[switches]]\n# {}: {}\ncount = {}\n", vertices, plain(role), count);
    next += count;
  }
}

void MachineDraft::append_links(std::string& out) const {
  const auto number = numbers();
  struct Lists {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> directed;
  };
  std::vector<Lists> lists(rates_.size());
  for (const auto& edge : edges_)
    (edge.both ? lists[edge.rate].pairs : lists[edge.rate].directed).emplace_back(number[edge.a], number[edge.b]);
  for (std::size_t i = 0; i < rates_.size(); ++i) {
    if (lists[i].pairs.empty() && lists[i].directed.empty()) continue;
    out += fmt::format("\n[[links]]\nkind = \"{}\"\n# bandwidth: {}\nbandwidth = \"{}\"\n# alpha: {}\nalpha = \"{}\"\n",
                       plain(rates_[i].kind), plain(rates_[i].bandwidth.origin), to_string(rates_[i].bandwidth.value),
                       plain(rates_[i].alpha.origin), to_string(rates_[i].alpha.value));
    append_pairs(out, "pairs", lists[i].pairs);
    append_pairs(out, "directed", lists[i].directed);
  }
}

std::string MachineDraft::text() const {
  std::string out = machine_head({}, name, source, remarks);
  out += fmt::format("# NPUs: {}\nnpus = {}\n", plain(npus_origin), npus());
  append_switches(out);
  append_links(out);
  return out;
}

std::string machine_head(const std::vector<std::string>& comments, const std::string& name, const std::string& source,
                         const std::vector<std::string>& remarks) {
  std::string out;
  for (const auto& comment : comments) out += fmt::format("# {}\n", plain(comment));
  out += fmt::format("schema = 1\nkind = \"machine\"\nname = \"{}\"\nsource = \"{}\"\n", plain(name), plain(source));
  if (remarks.empty()) return out;
  out += "remarks = [\n";
  for (const auto& remark : remarks) out += fmt::format("  \"{}\",\n", plain(remark));
  return out + "]\n";
}

}  // namespace tenex::exchange
