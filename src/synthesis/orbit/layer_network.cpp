#include "synthesis/orbit/layer_network.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "tenex/topology/block.hpp"

namespace tenex {

namespace {

constexpr std::uint32_t kMostSides = 8;

}  // namespace

std::optional<LayerNetwork> LayerNetwork::of(const Topology& topology) {
  LayerNetwork network;
  if (!topology.direct() || !network.find_dimensions(topology)) return std::nullopt;
  network.number_npus(topology);
  if (!network.find_ports(topology)) return std::nullopt;
  return network;
}

bool LayerNetwork::find_dimensions(const Topology& topology) {
  const auto& unwound = topology.unwound_shape();
  const Shape* shape = topology.shape() ? &*topology.shape() : nullptr;
  if (unwound) shape = &unwound->shape;
  if (shape == nullptr || !shape->is_product() || shape->npus() != topology.npus()) return false;
  std::uint32_t stride = 1;
  for (const Block& block : shape->blocks) {
    if (block.size > 1) dimensions_.push_back({block.size, stride, false});
    stride *= block.size;
  }
  if (dimensions_.empty() || dimensions_.size() > kMostSides) return false;
  for (Dimension& dimension : dimensions_) dimension.layered = !moves_links(topology, dimension);
  return true;
}

/// Whether moving all NPUs by one along the dimension maps links to links of the same class.
bool LayerNetwork::moves_links(const Topology& topology, const Dimension& dimension) const {
  const auto moved = [&](VertexId vertex) {
    const std::uint32_t place = vertex.value() / dimension.stride % dimension.size;
    return place + 1 < dimension.size ? vertex.value() + dimension.stride : vertex.value() - place * dimension.stride;
  };
  using Ends = std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>;
  std::vector<Ends> before;
  std::vector<Ends> after;
  for (std::size_t i = 0; i < topology.links(); ++i) {
    const LinkId link = LinkId::at(i);
    const std::uint16_t link_class = topology.class_of(link);
    before.emplace_back(topology.source(link).value(), topology.target(link).value(), link_class);
    after.emplace_back(moved(topology.source(link)), moved(topology.target(link)), link_class);
  }
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  return before == after;
}

void LayerNetwork::number_npus(const Topology& topology) {
  npu_of_layer_ = {0};
  npu_of_position_ = {0};
  for (const Dimension& dimension : dimensions_) {
    auto& numbers = dimension.layered ? npu_of_layer_ : npu_of_position_;
    const std::vector<std::uint32_t> first = numbers;
    for (std::uint32_t place = 1; place < dimension.size; ++place)
      for (const std::uint32_t npu : first) numbers.push_back(npu + place * dimension.stride);
  }
  layers_ = static_cast<std::uint32_t>(npu_of_layer_.size());
  positions_ = static_cast<std::uint32_t>(npu_of_position_.size());
  layer_of_.resize(topology.npus());
  position_of_.resize(topology.npus());
  for (std::uint32_t layer = 0; layer < layers_; ++layer)
    for (std::uint32_t position = 0; position < positions_; ++position) {
      layer_of_[npu(layer, position).index()] = layer;
      position_of_[npu(layer, position).index()] = position;
    }
}

/// Adds or subtracts positions, coordinate by coordinate.
std::uint32_t LayerNetwork::sum(std::uint32_t a, std::uint32_t b, bool subtract) const {
  std::uint32_t result = 0;
  for (std::uint32_t scale = 1; const Dimension& dimension : dimensions_) {
    if (dimension.layered) continue;
    const std::uint32_t of_a = a / scale % dimension.size;
    const std::uint32_t of_b = b / scale % dimension.size;
    result += (of_a + (subtract ? dimension.size - of_b : of_b)) % dimension.size * scale;
    scale *= dimension.size;
  }
  return result;
}

std::uint32_t LayerNetwork::origin(std::uint32_t position, std::uint32_t offset) const {
  return sum(position, offset, true);
}

std::uint32_t LayerNetwork::coordinates(bool of_layer, std::uint32_t number, const std::vector<bool>& marked) const {
  std::uint32_t result = 0;
  for (std::size_t i = 0, scale = 1; i < dimensions_.size(); ++i) {
    if (dimensions_[i].layered != of_layer) continue;
    if (marked[i]) result += static_cast<std::uint32_t>(number / scale % dimensions_[i].size * scale);
    scale *= dimensions_[i].size;
  }
  return result;
}

/// The only dimension in which two NPUs differ.
std::uint32_t LayerNetwork::dimension_between(std::uint32_t a, std::uint32_t b) const {
  for (std::uint32_t i = 0; i + 1 < dimensions_.size(); ++i)
    if (a / dimensions_[i].stride % dimensions_[i].size != b / dimensions_[i].stride % dimensions_[i].size) return i;
  return static_cast<std::uint32_t>(dimensions_.size() - 1);
}

std::uint32_t LayerNetwork::shift_by(std::uint32_t position) {
  for (std::uint32_t i = 0; i < shifts_.size(); ++i)
    if (shifts_[i].by == position) return i;
  Shift shift{position, std::vector<std::uint32_t>(positions_), std::vector<std::uint32_t>(positions_)};
  for (std::uint32_t offset = 0; offset < positions_; ++offset) {
    shift.there[offset] = sum(offset, position, false);
    shift.back[shift.there[offset]] = offset;
  }
  shifts_.push_back(std::move(shift));
  return static_cast<std::uint32_t>(shifts_.size() - 1);
}

/// False where the positions of a layer have unlike links, which moves_links() rules out.
bool LayerNetwork::find_ports(const Topology& topology) {
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>;  // source's layer, its position from here, class
  const auto keys_of = [&](NpuId npu) {
    std::vector<std::pair<Key, LinkId>> keys;
    for (const LinkId link : topology.in_links(vertex_of(npu))) {
      const std::size_t source = topology.source(link).index();
      const std::uint32_t from_here = sum(position_of_[source], position_of_[npu.index()], true);
      keys.push_back({{layer_of_[source], from_here, topology.class_of(link)}, link});
    }
    std::sort(keys.begin(), keys.end());
    return keys;
  };
  std::vector<LayerPort> ports;
  std::vector<std::uint32_t> layer_of_port;
  for (std::uint32_t layer = 0; layer < layers_; ++layer) {
    const auto own = keys_of(npu(layer, 0));
    first_port_.push_back(static_cast<std::uint32_t>(ports.size()));
    links_.resize(links_.size() + own.size() * positions_);
    for (const auto& [key, link] : own) {
      const auto& [source, position, link_class] = key;
      ports.push_back({source, shift_by(position),
                       dimension_between(topology.source(link).value(), topology.target(link).value()), link_class});
      layer_of_port.push_back(layer);
    }
    for (std::uint32_t position = 0; position < positions_; ++position) {
      const auto keys = keys_of(npu(layer, position));
      if (keys.size() != own.size()) return false;
      for (std::size_t i = 0; i < keys.size(); ++i) {
        if (keys[i].first != own[i].first) return false;
        links_[(first_port_[layer] + i) * positions_ + position] = keys[i].second;
      }
    }
  }
  ports_ = Csr<LayerPort>::group(
      layers_, ports.size(), [&](std::size_t i) { return layer_of_port[i]; }, [&](std::size_t i) { return ports[i]; });
  uses_ = Csr<LayerUse>::group(
      layers_, ports.size(), [&](std::size_t i) { return ports[i].source; },
      [&](std::size_t i) {
        return LayerUse{layer_of_port[i], static_cast<std::uint32_t>(i) - first_port_[layer_of_port[i]]};
      });
  return true;
}

}  // namespace tenex
