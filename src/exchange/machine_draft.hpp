// Internal to exchange: a machine while it is put together, where each number knows its origin, and its text.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenex/base/quantity.hpp"
#include "tenex/exchange/machine_text.hpp"

namespace tenex::exchange {

/// A number with the place that it comes from: "line 12", "option ...", "constant ...".
template <class Number>
struct Sourced {
  Number value{};
  std::string origin{};
  auto operator<=>(const Sourced&) const = default;
};

/// Links of one kind with the same numbers from the same origins.
struct LinkRate {
  std::string kind{};
  Sourced<Bandwidth> bandwidth{};
  Sourced<SimTime> alpha{};
  auto operator<=>(const LinkRate&) const = default;
};

class MachineDraft {
 public:
  std::string name{};
  std::string source{};
  std::string npus_origin{};
  std::vector<std::string> remarks{};

  /// Adds a vertex. NPUs are numbered in the order in which they are added. An empty role is that of an NPU.
  std::uint32_t add_npu() { return add_switch({}); }
  std::uint32_t add_switch(std::string role);
  /// The number of a rate; equal ones have the same. O(log rates).
  std::uint32_t add_rate(const LinkRate& rate);
  void join(std::uint32_t a, std::uint32_t b, std::uint32_t rate) { edges_.push_back({a, b, rate, true}); }
  void point(std::uint32_t from, std::uint32_t to, std::uint32_t rate) { edges_.push_back({from, to, rate, false}); }

  [[nodiscard]] std::size_t vertices() const { return roles_.size(); }
  [[nodiscard]] std::size_t edges() const { return edges_.size(); }
  [[nodiscard]] std::size_t npus() const;
  /// Whether links, in any direction, join all NPUs. O(vertices + edges).
  [[nodiscard]] bool connected() const;
  /// Removes switches on no way between NPUs: those with one neighbour, again and again. O(vertices + edges).
  void remove_dead_ends();
  /// Gives each rate that a link still has another one. O(edges + rates).
  void replace_rates(const std::function<LinkRate(std::uint32_t)>& rate_of);
  /// So many copies, one after another; vertex v of copy i is i * vertices() + v. O(copies * (vertices + edges)).
  [[nodiscard]] MachineDraft repeated(std::uint32_t copies) const;
  /// The machine file. O(vertices + edges).
  [[nodiscard]] std::string text() const;

 private:
  struct Edge {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t rate = 0;
    bool both = true;  ///< a link each way
  };
  /// The number of each vertex in the file.
  [[nodiscard]] std::vector<std::uint32_t> numbers() const;
  void append_switches(std::string& out) const;
  void append_links(std::string& out) const;

  std::vector<std::string> roles_;
  std::vector<LinkRate> rates_;
  std::map<LinkRate, std::uint32_t> rate_numbers_;
  std::vector<Edge> edges_;
};

}  // namespace tenex::exchange
