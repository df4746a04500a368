// The names of lines, blocks and chunks of a grid schedule (grid_schedule.hpp): from a line, a block and a place in the
// block to a chunk and back.
//
// All names are sums of parts, modulo 2^32: the chunk of source s, destination d and number k is (s * n + d) * c + k.
// So a chunk is the line's part (its fixed coordinates), plus the pair's part (a and b), plus the tuple's part (the
// coordinates that the line does not fix, and k). The tables hold the lines' and the tuples' parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/schedule/storage/grid_schedule.hpp"

namespace tenex {

/// The names for all phases and dimensions.
class GridNames {
 public:
  GridNames(const std::vector<LineDimension>& dimensions, std::uint32_t chunks_per_pair);

  /// One dimension.
  struct Dimension {
    std::uint32_t size = 2;
    std::uint32_t stride = 1;      ///< product of the sizes before
    std::uint32_t lines = 1;       ///< line = (NPU / (size * stride)) * stride + NPU % stride
    std::uint32_t first_link = 0;  ///< of the dimension's links
  };
  /// What the coordinate in one dimension is to a line of another. All weights are zero for the line's own dimension.
  struct Digit {
    bool done = false;       ///< corrected in an earlier phase: the line fixes the destination's coordinate
    std::uint32_t high = 0;  ///< weight of the fixed coordinate in the line's name
    std::uint32_t low = 0;
    std::uint32_t tuple = 0;  ///< weight of the other NPU's coordinate among tuples
  };
  /// What a dimension carries in one phase.
  struct Passage {
    std::vector<std::uint32_t> line;                ///< part of each line's chunks
    std::vector<std::vector<std::uint32_t>> tuple;  ///< parts of the tuples of each residue, in order
    std::vector<std::uint32_t> rank;                ///< of each tuple among those of its residue
    std::vector<Digit> digit;                       ///< per dimension
  };

  [[nodiscard]] std::size_t dimensions() const { return dimensions_.size(); }
  [[nodiscard]] std::uint32_t npus() const { return npus_; }
  [[nodiscard]] std::uint32_t links() const { return links_; }
  [[nodiscard]] std::uint32_t chunks_per_pair() const { return chunks_per_pair_; }
  [[nodiscard]] const Dimension& dimension(std::size_t e) const { return dimensions_[e]; }
  [[nodiscard]] const Passage& passage(std::size_t phase, std::size_t e) const {
    return passages_[phase * dimensions_.size() + e];
  }
  /// The sum of a line's fixed coordinates modulo D.
  [[nodiscard]] const std::vector<std::uint8_t>& line_types(std::size_t e) const { return types_[e]; }
  /// The class that dimension `e` carries in a phase.
  [[nodiscard]] std::uint32_t class_in(std::size_t phase, std::size_t e) const {
    return static_cast<std::uint32_t>((e + dimensions_.size() - phase) % dimensions_.size());
  }
  /// (class - type) modulo D: chooses the line's timetable.
  [[nodiscard]] std::uint32_t residue(std::size_t phase, std::size_t e, std::uint32_t type) const {
    const auto classes = static_cast<std::uint32_t>(dimensions_.size());
    return (class_in(phase, e) + classes - type) % classes;
  }
  /// The residue of a block's tuples. `residue` is that of the line.
  [[nodiscard]] std::uint32_t block_residue(std::uint32_t residue, std::uint32_t a, std::uint32_t b) const {
    const auto classes = static_cast<std::uint32_t>(dimensions_.size());
    return (residue + 2 * classes - a % classes - b % classes) % classes;
  }
  /// The pair's part.
  [[nodiscard]] std::uint32_t pair(std::size_t e, std::uint32_t a, std::uint32_t b) const {
    return (a * npus_ + b) * dimensions_[e].stride * chunks_per_pair_;
  }

  /// The way of one chunk in one phase: from position `a` to `b` of a line, as the block's chunk `rank`.
  struct Way {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t residue = 0;  ///< of the line
    std::uint32_t rank = 0;
    std::uint32_t high = 0;  ///< the line: high * stride + low
    std::uint32_t low = 0;
  };
  /// The coordinates of an NPU, dimension 1 first.
  [[nodiscard]] const std::uint16_t* coordinates(std::uint32_t npu) const {
    return coordinates_.data() + std::size_t{npu} * dimensions_.size();
  }
  [[nodiscard]] std::uint32_t class_of(std::uint32_t source, std::uint32_t destination, std::uint32_t number) const {
    return (residue_of_npu_[source] + residue_of_npu_[destination] + number) %
           static_cast<std::uint32_t>(dimensions_.size());
  }
  /// For a chunk of the class that dimension `e` carries in the phase. a == b where the chunk does not move in it, and
  /// the rest is then unset. O(dimensions).
  [[nodiscard]] Way way(std::uint32_t source, std::uint32_t destination, std::uint32_t number, std::size_t e,
                        std::size_t phase) const {
    const std::uint16_t* const from = coordinates(source);
    const std::uint16_t* const to = coordinates(destination);
    Way way;
    way.a = from[e];
    way.b = to[e];
    if (way.a == way.b) return way;
    const Passage& names = passage(phase, e);
    std::uint32_t tuple = number;
    for (std::size_t f = 0; f < dimensions_.size(); ++f) {
      const auto& digit = names.digit[f];
      const std::uint32_t fixed = digit.done ? to[f] : from[f];
      const std::uint32_t free = digit.done ? from[f] : to[f];
      way.high += fixed * digit.high;
      way.low += fixed * digit.low;
      tuple += free * digit.tuple;
    }
    way.rank = names.rank[tuple];
    way.residue = residue(phase, e, types_[e][way.high * dimensions_[e].stride + way.low]);
    return way;
  }

  /// The link from `position` of a line to the next one, or to the one before.
  [[nodiscard]] std::uint32_t link_up(const Dimension& d, std::uint32_t high, std::uint32_t low,
                                      std::uint32_t position) const {
    const std::uint32_t block = d.first_link + high * 2 * (d.size - 1) * d.stride;
    return position == 0 ? block + low : block + d.stride + (position - 1) * 2 * d.stride + 2 * low;
  }
  [[nodiscard]] std::uint32_t link_down(const Dimension& d, std::uint32_t high, std::uint32_t low,
                                        std::uint32_t position) const {
    const std::uint32_t block = d.first_link + high * 2 * (d.size - 1) * d.stride + d.stride;
    return position == d.size - 1 ? block + (position - 1) * 2 * d.stride + low
                                  : block + (position - 1) * 2 * d.stride + 2 * low + 1;
  }

  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  void name_npus();
  Passage make_passage(std::size_t phase, std::size_t e) const;

  std::vector<Dimension> dimensions_;
  std::uint32_t npus_ = 1;
  std::uint32_t links_ = 0;
  std::uint32_t chunks_per_pair_ = 1;
  std::vector<std::uint16_t> coordinates_;
  std::vector<std::uint8_t> residue_of_npu_;
  std::vector<std::vector<std::uint8_t>> types_;
  std::vector<Passage> passages_;
};

}  // namespace tenex
