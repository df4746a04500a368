#include "tenex/exchange/execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "tenex/base/random.hpp"

namespace tenex {
namespace {

using exchange::Deed;
using exchange::LocalMove;
using exchange::Move;
using exchange::MovePlace;

constexpr std::int32_t kLargestInput = 255;
constexpr std::int32_t kNoValue = -1;

template <class T>
T element_at(const std::byte* bytes, std::size_t i = 0) {
  T value;
  std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
  return value;
}
template <class T>
void set_element(std::byte* bytes, T value, std::size_t i = 0) {
  std::memcpy(bytes + i * sizeof(T), &value, sizeof(T));
}

template <class T>
void write_as(std::byte* element, std::int32_t value) {
  set_element(element, static_cast<T>(value));
}
template <class T>
double read_as(const std::byte* element) {
  return static_cast<double>(element_at<T>(element));
}
template <class T>
void add_as(std::byte* to, const std::byte* from, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) set_element<T>(to, element_at<T>(to, i) + element_at<T>(from, i), i);
}

/// The upper half of a float32.
using Bf16 = std::uint16_t;
float widened(Bf16 value) { return std::bit_cast<float>(std::uint32_t{value} << 16U); }
Bf16 rounded(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t odd = (bits >> 16U) & 1U;
  return static_cast<Bf16>((bits + 0x7fffU + odd) >> 16U);
}
void write_bf16(std::byte* element, std::int32_t value) { set_element(element, rounded(static_cast<float>(value))); }
double read_bf16(const std::byte* element) { return widened(element_at<Bf16>(element)); }
void add_bf16(std::byte* to, const std::byte* from, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i)
    set_element(to, rounded(widened(element_at<Bf16>(to, i)) + widened(element_at<Bf16>(from, i))), i);
}

constexpr std::array<ElementKind, 3> kKinds{{
    {"int32", 4, std::numeric_limits<std::int32_t>::max(), write_as<std::int32_t>, read_as<std::int32_t>,
     add_as<std::int32_t>},
    {"float32", 4, 1 << 24, write_as<float>, read_as<float>, add_as<float>},
    {"bf16", 2, 1 << 8, write_bf16, read_bf16, add_bf16},
}};

}  // namespace

std::span<const ElementKind> element_kinds() { return kKinds; }

const ElementKind* find_element_kind(std::string_view name) {
  const auto* const found = std::ranges::find(kKinds, name, &ElementKind::name);
  return found == kKinds.end() ? nullptr : found;
}

Result<Execution> plan_execution(const ScheduleFile& file, const ElementKind& kind, std::size_t elements) {
  auto plan = exchange::plan_moves(file);
  if (!plan) return plan.errors();
  if (reduces(plan->kind) && plan->npus > static_cast<std::size_t>(kind.largest_sum))
    return unsupported_error({}, fmt::format("{} sums of {} NPUs are not exact", kind.name, plan->npus),
                             fmt::format("it has all integers up to {}", kind.largest_sum), "use int32");
  return Execution{*std::move(plan), file.collective, &kind, elements};
}

std::int32_t input_element(const Execution& execution, std::uint32_t npu, std::size_t chunk, std::size_t position) {
  const auto npus = static_cast<std::int32_t>(execution.plan.npus);
  const bool sums = reduces(execution.plan.kind);
  const std::int32_t largest = std::min(kLargestInput, execution.kind->largest_sum / (sums ? npus : 1));
  const std::uint64_t mixed = mix_bits(mix_bits(mix_bits(npu + 1U) ^ chunk) ^ position);
  return 1 + static_cast<std::int32_t>(mixed % static_cast<std::uint64_t>(largest));
}

std::int32_t output_element(const Execution& execution, std::size_t chunk, std::size_t position) {
  const auto owner = execution.collective.owner(ChunkId::at(chunk)).value();
  if (!reduces(execution.plan.kind)) return input_element(execution, owner, chunk, position);
  std::int32_t sum = 0;
  for (std::uint32_t npu = 0; npu < execution.plan.npus; ++npu) sum += input_element(execution, npu, chunk, position);
  return sum;
}

std::size_t bytes_of_npu(const Execution& execution, std::uint32_t npu) {
  const auto& plan = execution.plan;
  std::size_t chunks = plan.chunks * (plan.in_place ? 1 : 2) + plan.scratch[npu];
  for (const Move& move : plan.moves)
    chunks += (move.source == npu ? move.from.size() : 0) + (move.target == npu ? move.to.size() : 0);
  return chunks * execution.elements * execution.kind->bytes;
}

NpuExecution::NpuExecution(const Execution& execution, std::uint32_t npu)
    : execution_(execution), npu_(npu), chunk_bytes_(execution.elements * execution.kind->bytes) {
  const auto& plan = execution.plan;
  for (const Deed& deed : plan.deeds) {
    const std::uint32_t who = deed.kind == Deed::Kind::local  ? plan.locals[deed.index].npu
                              : deed.kind == Deed::Kind::send ? plan.moves[deed.index].source
                                                              : plan.moves[deed.index].target;
    if (who != npu) continue;
    deeds_.push_back(deed);
    parcels_.emplace_back(deed.kind == Deed::Kind::local ? 0 : plan.moves[deed.index].from.size() * chunk_bytes_);
  }
  const bool gathers = plan.kind == CollectiveKind::all_gather;
  if (!gathers) buffers_['i'].resize(plan.chunks * chunk_bytes_);
  if (gathers || !plan.in_place) buffers_['o'].resize(plan.chunks * chunk_bytes_);
  buffers_['s'].resize(plan.scratch[npu] * chunk_bytes_);
}

MovePlace NpuExecution::input_place(std::size_t chunk) const {
  const auto& plan = execution_.plan;
  if (plan.in_place) return {plan.kind == CollectiveKind::all_gather ? 'o' : 'i', static_cast<std::uint32_t>(chunk)};
  return {'i', static_cast<std::uint32_t>(chunk % plan.chunks)};
}

MovePlace NpuExecution::output_place(std::size_t chunk) const {
  const auto& plan = execution_.plan;
  if (plan.in_place) return input_place(chunk);
  const std::size_t per_pair = plan.chunks / plan.npus;
  return {'o', static_cast<std::uint32_t>(chunk / plan.chunks * per_pair + chunk % per_pair)};
}

std::span<std::byte> NpuExecution::at(MovePlace place) {
  return std::span(buffers_.at(place.buffer)).subspan(place.index * chunk_bytes_, chunk_bytes_);
}
std::span<const std::byte> NpuExecution::at(MovePlace place) const {
  return std::span(buffers_.at(place.buffer)).subspan(place.index * chunk_bytes_, chunk_bytes_);
}

void NpuExecution::fill() {
  const ElementKind& kind = *execution_.kind;
  for (auto& [name, buffer] : buffers_)
    for (std::size_t byte = 0; byte < buffer.size(); byte += kind.bytes) kind.write(buffer.data() + byte, kNoValue);
  const bool all = reduces(execution_.plan.kind);
  for (std::size_t c = 0; c < execution_.collective.chunks(); ++c) {
    if (!all && execution_.collective.owner(ChunkId::at(c)).value() != npu_) continue;
    std::byte* const chunk = at(input_place(c)).data();
    for (std::size_t e = 0; e < execution_.elements; ++e)
      kind.write(chunk + e * kind.bytes, input_element(execution_, npu_, c, e));
  }
}

void NpuExecution::put(MovePlace to, const std::byte* from, bool adds) {
  std::byte* const place = at(to).data();
  if (adds)
    execution_.kind->add(place, from, execution_.elements);
  else
    std::memcpy(place, from, chunk_bytes_);
}

void NpuExecution::run(Wire& wire) {
  const auto& plan = execution_.plan;
  for (std::size_t d = 0; d < deeds_.size(); ++d) {
    const Deed& deed = deeds_[d];
    auto& parcel = parcels_[d];
    if (deed.kind == Deed::Kind::local) {
      const LocalMove& local = plan.locals[deed.index];
      put(local.to, at(local.from).data(), local.adds);
      continue;
    }
    const Move& move = plan.moves[deed.index];
    if (deed.kind == Deed::Kind::send) {
      for (std::size_t i = 0; i < move.from.size(); ++i)
        std::memcpy(parcel.data() + i * chunk_bytes_, at(move.from[i]).data(), chunk_bytes_);
      wire.send(move.target, deed.index, parcel);
      continue;
    }
    wire.receive(move.source, deed.index, parcel);
    for (std::size_t i = 0; i < move.to.size(); ++i) put(move.to[i], parcel.data() + i * chunk_bytes_, move.adds);
  }
}

NpuExecution::Compared NpuExecution::compare() const {
  Compared compared;
  for (std::size_t c = 0; c < execution_.collective.chunks(); ++c) {
    if (!execution_.collective.must_hold(NpuId(npu_), ChunkId::at(c))) continue;
    const std::byte* const chunk = at(output_place(c)).data();
    for (std::size_t e = 0; e < execution_.elements; ++e) {
      ++compared.elements;
      const double found = execution_.kind->read(chunk + e * execution_.kind->bytes);
      if (found != static_cast<double>(output_element(execution_, c, e))) ++compared.wrong;
    }
  }
  return compared;
}

}  // namespace tenex
