// Executes a schedule on real buffers: each NPU does its part of the moves (moves.hpp) in the order of their times, and
// what it has at the end is compared element by element.
//
// An input element is a small positive integer, drawn by a hash from NPU, chunk and position. The integers are so small
// that sums of all NPUs are exact in the kind of element, so that no order of additions excuses a difference, and none
// is zero, so that an addition too many or too few changes the sum. Elements that no NPU has sent yet are set to a
// value that no sum has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/exchange/moves.hpp"
#include "tenex/files/schedule_file.hpp"

namespace tenex {

/// A kind of element: its size, and how integers become elements, are read back, and are added.
struct ElementKind {
  std::string_view name;
  std::size_t bytes = 0;
  std::int32_t largest_sum = 0;  ///< all integers up to it are exact
  void (*write)(std::byte* element, std::int32_t value) = nullptr;
  double (*read)(const std::byte* element) = nullptr;
  void (*add)(std::byte* to, const std::byte* from, std::size_t elements) = nullptr;
};
/// int32, float32, bf16 (sums rounded to nearest even).
[[nodiscard]] std::span<const ElementKind> element_kinds();
/// The entry of that name, or nullptr.
[[nodiscard]] const ElementKind* find_element_kind(std::string_view name);

/// How chunks travel from NPU to NPU. A number is the same at both ends, and no other move has it.
class Wire {
 public:
  virtual ~Wire() = default;
  /// Does not wait for the receiver. The bytes stay as they are until the execution ends.
  virtual void send(std::uint32_t to, std::uint32_t number, std::span<const std::byte> bytes) = 0;
  /// Waits until they are here.
  virtual void receive(std::uint32_t from, std::uint32_t number, std::span<std::byte> bytes) = 0;
};

/// What all NPUs need to execute a schedule.
struct Execution {
  exchange::MovePlan plan;
  Collective collective;
  const ElementKind* kind = nullptr;
  std::size_t elements = 0;  ///< of a chunk
};
/// Errors (unsupported): those of exchange::plan_moves(); a sum of more NPUs than the kind's largest_sum. O(sends log
/// sends).
[[nodiscard]] Result<Execution> plan_execution(const ScheduleFile& file, const ElementKind& kind, std::size_t elements);

/// An element of an NPU's input: from 1 to 255 at most, and where NPUs are summed, to largest_sum / NPUs.
[[nodiscard]] std::int32_t input_element(const Execution& execution, std::uint32_t npu, std::size_t chunk,
                                         std::size_t position);
/// The element of a chunk that a member must hold in the end: that of its owner, or the sum over NPUs in O(NPUs).
[[nodiscard]] std::int32_t output_element(const Execution& execution, std::size_t chunk, std::size_t position);

/// Bytes that an NPU's part takes: its buffers, and what it sends and receives.
[[nodiscard]] std::size_t bytes_of_npu(const Execution& execution, std::uint32_t npu);

/// One NPU of an execution. It reads `execution` as long as it lives.
class NpuExecution {
 public:
  NpuExecution(const Execution& execution, std::uint32_t npu);

  /// Writes the input, and a value that no sum has elsewhere. O(bytes).
  void fill();
  /// Does the NPU's part. O(bytes moved).
  void run(Wire& wire);
  /// The elements that must be held, and how many differ from output_element(), which is called for each.
  struct Compared {
    std::size_t elements = 0;
    std::size_t wrong = 0;
  };
  [[nodiscard]] Compared compare() const;

 private:
  [[nodiscard]] std::span<std::byte> at(exchange::MovePlace place);
  [[nodiscard]] std::span<const std::byte> at(exchange::MovePlace place) const;
  void put(exchange::MovePlace to, const std::byte* from, bool adds);
  /// Where the chunk is in the input, or in the output, of this NPU.
  [[nodiscard]] exchange::MovePlace input_place(std::size_t chunk) const;
  [[nodiscard]] exchange::MovePlace output_place(std::size_t chunk) const;

  const Execution& execution_;
  std::uint32_t npu_;
  std::size_t chunk_bytes_;
  std::vector<exchange::Deed> deeds_;  ///< of this NPU
  std::map<char, std::vector<std::byte>> buffers_;
  std::vector<std::vector<std::byte>> parcels_;  ///< by deed: what it sends, or has received
};

}  // namespace tenex
