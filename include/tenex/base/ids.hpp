// Typed indices: an NPU, a link and a chunk are all small integers, and must never be mixed up.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace tenex {

/// A 32-bit index into one kind of thing. `none()` marks absence. Two kinds never mix.
template <class Kind>
class Id {
 public:
  using Rep = std::uint32_t;

  constexpr Id() = default;
  constexpr explicit Id(Rep value) : value_(value) {}
  /// From a container index; the caller guarantees that it fits in 32 bits.
  static constexpr Id at(std::size_t index) { return Id(static_cast<Rep>(index)); }
  static constexpr Id none() { return Id(std::numeric_limits<Rep>::max()); }

  [[nodiscard]] constexpr Rep value() const { return value_; }
  /// The value as a container index.
  [[nodiscard]] constexpr std::size_t index() const { return value_; }
  [[nodiscard]] constexpr bool exists() const { return value_ != none().value_; }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  Rep value_ = std::numeric_limits<Rep>::max();
};

/// An endpoint of a collective. NPUs are vertices 0 .. npus-1 of their topology.
using NpuId = Id<struct NpuKind>;
/// A vertex of a topology: an NPU or a switch (switches follow the NPUs).
using VertexId = Id<struct VertexKind>;
/// A directed link of a topology.
using LinkId = Id<struct LinkKind>;
/// A chunk of a collective, numbered over all of its process groups.
using ChunkId = Id<struct ChunkKind>;
/// A process group of a collective.
using GroupId = Id<struct GroupKind>;
/// A message of a program, numbered in the order of injection.
using MessageId = Id<struct MessageKind>;

/// The vertex of an NPU.
constexpr VertexId vertex_of(NpuId npu) { return VertexId(npu.value()); }
/// The NPU at a vertex; meaningful only where topology.is_npu(vertex).
constexpr NpuId npu_of(VertexId vertex) { return NpuId(vertex.value()); }

}  // namespace tenex

template <class Kind>
struct std::hash<tenex::Id<Kind>> {
  std::size_t operator()(tenex::Id<Kind> id) const noexcept { return std::hash<std::uint32_t>{}(id.value()); }
};
