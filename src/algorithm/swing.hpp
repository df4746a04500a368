// The steps of Swing (swing.cpp), which Bine trees follow, too (bine.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "algorithm/steps.hpp"

namespace tenex {

/// The order in which a dimension's distances are taken.
enum class SwingOrder : std::uint8_t {
  farthest_first,  ///< of an All-Gather; its reverse is a Reduce-Scatter
  nearest_first,   ///< of whole inputs
};

/// The steps of Swing over a grid of ranks whose first digit varies fastest. In step s of a dimension the NPUs of even
/// digit exchange with those rho(s) = 1 - 2 + 4 - .. (-2)^s = 1, -1, 3, -5, 11, .. positions on. The dimensions take
/// turns, beginning with `first`; a mirrored plan goes the other way round.
class SwingPlan final : public StepPlan {
 public:
  /// Every size is even. `order` and contributors(): nearest_first needs powers of two.
  SwingPlan(const std::vector<std::uint32_t>& sizes, std::uint32_t first, bool mirrored, SwingOrder order);

  [[nodiscard]] std::uint32_t destination(std::uint32_t rank, std::uint32_t step) const override;
  [[nodiscard]] std::uint32_t source(std::uint32_t rank, std::uint32_t step) const override {
    return destination(rank, step);
  }
  [[nodiscard]] std::uint32_t count(std::uint32_t rank, std::uint32_t step) const override;
  void parts(std::uint32_t rank, std::uint32_t step, std::vector<std::uint32_t>& out) const override;
  void contributors(std::uint32_t rank, std::uint32_t step, std::vector<std::uint32_t>& out) const override;

 private:
  using Offsets = std::array<std::vector<std::uint32_t>, 2>;  ///< by parity of the digit; relative to it
  struct Dimension {
    std::uint32_t size;
    std::uint32_t stride;
    std::vector<std::uint32_t> jump;  ///< by step of the dimension: from an even digit to its partner
    std::vector<Offsets> has;         ///< by steps of the dimension done: from where it has chunks
    std::vector<Offsets> sends;       ///< by step of the dimension: those that the partner lacks
  };
  struct Turn {
    std::uint32_t dimension;
    std::vector<std::uint32_t> done;  ///< by dimension: its steps before
  };

  static Dimension lay_out(std::uint32_t size, std::uint32_t stride, bool mirrored, SwingOrder order);
  static std::uint32_t steps_of(const std::vector<std::uint32_t>& sizes);
  [[nodiscard]] static std::uint32_t digit(const Dimension& dimension, std::uint32_t rank) {
    return rank / dimension.stride % dimension.size;
  }
  [[nodiscard]] const std::vector<std::uint32_t>& offsets(std::uint32_t rank, const Turn& turn, std::uint32_t d,
                                                          bool sent) const;
  void ranks(std::uint32_t rank, const Turn& turn, bool sent, std::vector<std::uint32_t>& out) const;

  std::vector<Dimension> dimensions_;
  std::vector<Turn> turns_;  ///< by step
};

}  // namespace tenex
