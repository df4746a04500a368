// A cover of a group's members by cycles, and the exchanges of arcs from which the search for rings is made
// (ring_covers.cpp).
//
// Encoding: the next and the previous member, and the label of the cycle of each member.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tenex {

/// No member.
inline constexpr std::uint32_t kNobody = UINT32_MAX;

/// A partition of the members into cycles.
class Cover {
 public:
  explicit Cover(std::vector<std::uint32_t> next)
      : next_(std::move(next)), before_(next_.size()), label_(next_.size()) {
    for (std::uint32_t u = 0; u < next_.size(); ++u) before_[next_[u]] = u;
    label();
  }
  [[nodiscard]] std::uint32_t next(std::uint32_t u) const { return next_[u]; }
  [[nodiscard]] std::uint32_t before(std::uint32_t u) const { return before_[u]; }
  [[nodiscard]] bool together(std::uint32_t u, std::uint32_t v) const { return label_[u] == label_[v]; }
  [[nodiscard]] int cycles() const { return cycles_; }

  /// The change of the number of cycles by an exchange of two arcs of the cover, given by their sources.
  [[nodiscard]] int change(std::uint32_t a, std::uint32_t b, bool turns) const {
    if (!together(a, b)) return -1;
    return turns ? 0 : 1;
  }
  /// a->a', b->b' become a->b', b->a'; with `turns`, a->b, a'->b'.
  void exchange(std::uint32_t a, std::uint32_t b, bool turns) {
    if (turns)
      turn(a, b);
    else
      cross(a, b);
  }
  /// Swaps the arcs out of some members with those of another cover. Both must enter the same members by them.
  void swap_arcs(Cover& other, std::span<const std::uint32_t> sources) {
    for (const auto u : sources) std::swap(next_[u], other.next_[u]);
    for (const auto u : sources) {
      before_[next_[u]] = u;
      other.before_[other.next_[u]] = u;
    }
    label();
    other.label();
  }
  /// A trail of pairs of neighbours, in turn of this cover and of another, which exchange them. The trail is closed,
  /// and no pair of a cover is in it twice. Directions of cycles may change.
  void swap_trail(Cover& other, std::span<const std::uint32_t> trail) {
    for (std::size_t i = 0; i < trail.size(); i += 2) {
      const auto before = trail[i];
      const auto middle = trail[i + 1];
      const auto after = trail[i + 2 == trail.size() ? 0 : i + 2];
      leave(before, middle);
      other.leave(middle, after);
    }
    for (std::size_t i = 0; i < trail.size(); i += 2) {
      const auto before = trail[i];
      const auto middle = trail[i + 1];
      const auto after = trail[i + 2 == trail.size() ? 0 : i + 2];
      other.join(before, middle);
      join(middle, after);
    }
    direct();
    other.direct();
  }
  [[nodiscard]] std::vector<std::uint32_t> order() const {
    std::vector<std::uint32_t> order{0};
    for (auto u = next_[0]; u != 0; u = next_[u]) order.push_back(u);
    return order;
  }

 private:
  void link(std::uint32_t u, std::uint32_t v) {
    next_[u] = v;
    before_[v] = u;
  }
  /// Numbers the cycles and labels their members.
  void label() {
    std::ranges::fill(label_, 0);
    cycles_ = 0;
    labels_ = 0;
    for (std::uint32_t u = 0; u < next_.size(); ++u) {
      if (label_[u] != 0) continue;
      ++cycles_;
      ++labels_;
      for (auto v = u; label_[v] == 0; v = next_[v]) label_[v] = labels_;
    }
  }
  // Without directions a member has two neighbours, in any order, of which kNobody may be one for a while.
  void leave(std::uint32_t u, std::uint32_t v) {
    (next_[u] == v ? next_[u] : before_[u]) = kNobody;
    (before_[v] == u ? before_[v] : next_[v]) = kNobody;
  }
  void join(std::uint32_t u, std::uint32_t v) {
    (next_[u] == kNobody ? next_[u] : before_[u]) = v;
    (before_[v] == kNobody ? before_[v] : next_[v]) = u;
  }
  /// Turns neighbours until the member after another has that one before it.
  void direct() {
    std::ranges::fill(label_, 0);
    for (std::uint32_t first = 0; first < next_.size(); ++first) {
      if (label_[first] != 0) continue;
      label_[first] = 1;
      auto u = first;
      for (auto v = next_[u]; v != first; u = v, v = next_[v]) {
        if (before_[v] != u) std::swap(next_[v], before_[v]);
        label_[v] = 1;
      }
      before_[first] = u;
    }
    label();
  }
  /// a->a', b->b' become a->b', b->a'.
  void cross(std::uint32_t a, std::uint32_t b) {
    const bool divides = together(a, b);
    const auto a_next = next_[a];
    link(a, next_[b]);
    link(b, a_next);
    cycles_ += divides ? 1 : -1;
    const auto label = divides ? ++labels_ : label_[a];
    auto v = b;
    do label_[v] = label;
    while ((v = next_[v]) != b);
  }
  /// a->a', b->b' become a->b, a'->b'; what lies between is reversed.
  void turn(std::uint32_t a, std::uint32_t b) {
    const auto first = next_[a];
    const auto end = next_[b];
    if (!together(a, b)) {
      auto v = b;
      do std::swap(next_[v], before_[v]);
      while ((v = next_[v]) != b);
      return cross(a, end);  // end->b is now an arc of the reversed cycle
    }
    path_.clear();
    for (auto v = first; v != b; v = next_[v]) path_.push_back(v);
    path_.push_back(b);
    link(a, b);
    for (std::size_t i = path_.size(); i-- > 1;) link(path_[i], path_[i - 1]);
    link(first, end);
  }

  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> before_;
  std::vector<std::uint32_t> label_;
  std::vector<std::uint32_t> path_;
  int cycles_ = 0;
  std::uint32_t labels_ = 0;  ///< the last one given
};

}  // namespace tenex
