#include "schedule/storage/grid_names.hpp"

#include "tenex/base/diagnostic.hpp"

namespace tenex {

GridNames::GridNames(const std::vector<LineDimension>& dimensions, std::uint32_t chunks_per_pair)
    : chunks_per_pair_(chunks_per_pair) {
  for (const auto& dimension : dimensions) {
    dimensions_.push_back({dimension.size, npus_, 0, 0});
    npus_ *= dimension.size;
  }
  for (auto& dimension : dimensions_) {
    dimension.lines = npus_ / dimension.size;
    dimension.first_link = links_;
    links_ += 2 * (dimension.size - 1) * dimension.lines;
  }
  name_npus();
  for (std::size_t phase = 0; phase < dimensions_.size(); ++phase)
    for (std::size_t e = 0; e < dimensions_.size(); ++e) passages_.push_back(make_passage(phase, e));
}

void GridNames::name_npus() {
  const std::size_t classes = dimensions_.size();
  coordinates_.resize(npus_ * classes);
  residue_of_npu_.resize(npus_);
  types_.resize(classes);
  for (std::size_t e = 0; e < classes; ++e) types_[e].resize(dimensions_[e].lines);
  for (std::uint32_t npu = 0; npu < npus_; ++npu) {
    std::size_t sum = 0;
    for (std::size_t e = 0; e < classes; ++e) {
      const std::uint32_t position = npu / dimensions_[e].stride % dimensions_[e].size;
      coordinates_[npu * classes + e] = static_cast<std::uint16_t>(position);
      sum += position;
    }
    residue_of_npu_[npu] = static_cast<std::uint8_t>(sum % classes);
    for (std::size_t e = 0; e < classes; ++e) {
      const auto& d = dimensions_[e];
      if (coordinates(npu)[e] == 0)  // the NPU at the line's begin has the line's fixed coordinates, and 0
        types_[e][npu / (d.size * d.stride) * d.stride + npu % d.stride] = residue_of_npu_[npu];
    }
  }
}

GridNames::Passage GridNames::make_passage(std::size_t phase, std::size_t e) const {
  const std::size_t classes = dimensions_.size();
  Passage passage;
  const auto& own = dimensions_[e];
  passage.digit.resize(classes);
  for (std::size_t p = 0; p < phase; ++p) passage.digit[(class_in(phase, e) + p) % classes].done = true;
  for (std::size_t f = 0, weight = chunks_per_pair_; f < classes; ++f) {
    if (f == e) continue;
    auto& digit = passage.digit[f];
    (f < e ? digit.low : digit.high) = f < e ? dimensions_[f].stride : dimensions_[f].stride / (own.stride * own.size);
    digit.tuple = static_cast<std::uint32_t>(weight);
    weight *= dimensions_[f].size;
  }
  // A chunk's name has the source n times, the destination once.
  const std::uint32_t of_source = npus_ * chunks_per_pair_;
  const std::uint32_t of_destination = chunks_per_pair_;

  passage.line.resize(dimensions_[e].lines);
  for (std::uint32_t line = 0; line < own.lines; ++line) {
    const std::uint32_t npu = line / own.stride * own.stride * own.size + line % own.stride;
    for (std::size_t f = 0; f < classes; ++f)
      passage.line[line] +=
          coordinates(npu)[f] * dimensions_[f].stride * (passage.digit[f].done ? of_destination : of_source);
  }

  // Tuples in mixed-radix order: the chunk's number is the fastest digit, then the dimensions.
  passage.tuple.resize(classes);
  passage.rank.resize(std::size_t{own.lines} * chunks_per_pair_);
  for (std::size_t tuple = 0; tuple < passage.rank.size(); ++tuple) {
    auto left = static_cast<std::uint32_t>(tuple);
    std::uint32_t part = left % chunks_per_pair_;
    std::size_t sum = part;
    left /= chunks_per_pair_;
    for (std::size_t f = 0; f < classes; ++f) {
      if (f == e) continue;
      const std::uint32_t digit = left % dimensions_[f].size;
      left /= dimensions_[f].size;
      part += digit * dimensions_[f].stride * (passage.digit[f].done ? of_source : of_destination);
      sum += digit;
    }
    auto& parts = passage.tuple[sum % classes];
    passage.rank[tuple] = static_cast<std::uint32_t>(parts.size());
    parts.push_back(part);
  }
  return passage;
}

std::size_t GridNames::memory_bytes() const {
  std::size_t bytes = coordinates_.size() * sizeof(std::uint16_t) + residue_of_npu_.size();
  for (const auto& types : types_) bytes += types.size();
  for (const auto& passage : passages_)
    bytes += (passage.line.size() + 2 * passage.rank.size()) * sizeof(std::uint32_t);
  return bytes;
}

}  // namespace tenex
