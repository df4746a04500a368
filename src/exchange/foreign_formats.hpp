// Internal to exchange: the formats of schedules. Each is one file; foreign_schedule.cpp tells them apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "exchange/symbolic_memory.hpp"
#include "exchange/value_tree.hpp"
#include "exchange/xml_tree.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/exchange/foreign_schedule.hpp"

namespace tenex::exchange {

/// MSCCLang: <algo>.
[[nodiscard]] Result<ForeignSchedule> interpret_mscclang(const XmlDocument& document);
/// ForestColl: <Algo>.
[[nodiscard]] Result<ForeignSchedule> interpret_forestcoll(const XmlDocument& document);
/// mscclpp's execution plans: gpus, protocol. `npus` is not read.
[[nodiscard]] Result<ForeignSchedule> interpret_mscclpp(const TreeValue& plan, std::size_t npus);
/// TE-CCL's outputs: 1-Epoch_Duration. `npus`: of the topology, 0 where none is known.
[[nodiscard]] Result<ForeignSchedule> interpret_te_ccl(const TreeValue& output, std::size_t npus);

/// What wrong things are kept of each kind.
inline constexpr std::size_t kMostWrong = 16;
/// Adds one, within the limit.
void add_wrong(ForeignSchedule& schedule, Wrong wrong, const Place& place, std::string message);
/// What tenex has written and interpreted again. Errors: those of the interpreter; (unsupported) it is not valid.
[[nodiscard]] Status expect_valid(const Result<ForeignSchedule>& exported);

/// What executable formats share: their symbolic values as transfers and as results.
class Outcome {
 public:
  /// `inputs`: places of an NPU's input; `units`: chunks of the collective in the format's own count: of the input, for
  /// an All-Gather of the output.
  Outcome(CollectiveKind kind, std::size_t npus, std::size_t units);

  /// The contribution that place `index` of an NPU's input holds at first.
  [[nodiscard]] std::uint32_t contribution(std::size_t npu, std::size_t index) const {
    return static_cast<std::uint32_t>(npu * inputs_ + index);
  }
  /// Places of an NPU's input and output.
  [[nodiscard]] std::size_t inputs() const { return inputs_; }
  [[nodiscard]] std::size_t outputs() const { return outputs_; }

  /// Adds what one operation moves: a transfer for each set of contributors, or none where no chunk of the collective
  /// is like it. Returns the numbers of the transfers. O(values).
  [[nodiscard]] std::vector<std::uint32_t> move(const ValueTable& values, const std::vector<ValueId>& moved,
                                                const ForeignTransfer& transfer);
  /// Compares an NPU's output with what the collective asks for; the first difference is a wrong thing. `value_at`
  /// gives the value of a place of the output, `say` names an operation, `place_of` and `writer` find its place.
  struct OutputView {
    std::function<ValueId(std::size_t)> value_at;
    std::function<std::optional<std::uint32_t>(std::size_t)> writer;  ///< the operation that wrote the place
    std::function<std::string(std::uint32_t)> say;                    ///< an operation in the file's words
    std::function<Place(std::uint32_t)> place_of;
    Place otherwise;   ///< of the NPU itself
    std::string rank;  ///< "gpu"
  };
  void check_output(ForeignSchedule& schedule, const ValueTable& values, std::size_t npu, const OutputView& view) const;
  /// Puts the transfers into the schedule, with the chunks of tenex.
  void finish(ForeignSchedule& schedule) &&;

 private:
  [[nodiscard]] std::vector<std::uint32_t> wanted(std::size_t npu, std::size_t index) const;
  [[nodiscard]] std::string name_of(std::uint32_t contribution, std::string_view rank) const;

  CollectiveKind kind_;
  std::size_t npus_;
  std::size_t units_;
  std::size_t inputs_;
  std::size_t outputs_;
  bool sums_;
  bool expressible_ = true;
  std::vector<ForeignTransfer> transfers_;
  std::vector<Contributors> sets_ = {{}};
  std::unordered_map<std::string, std::uint32_t> number_of_set_;
};

/// Gives single chunks that two transfers with the same ends carry two parts each: a Program tells transfers of several
/// chunks apart, not those of one. O(transfers).
void make_distinct(ForeignSchedule& schedule);
/// Cuts every chunk into `parts`.
void cut_chunks(ForeignSchedule& schedule, std::int64_t parts);

}  // namespace tenex::exchange
