// Schedules of other tools: what a file moves between NPUs, found by interpreting it, and what is wrong with it.
//
// A reader interprets a file by its own format's rules, with symbolic values: a value is the set of contributions that
// are added in it. So it is known of every transfer what it carries, and of every output chunk what it ends with. What
// is left is a plain list of transfers with the transfers before them, for which transfer_program.hpp makes a Program:
// the simulator gives the time, and the verifier judges the sends once more by tenex's own definition.
//
// Units: chunks of a collective are numbered as collective.hpp says, with `chunks_per_npu` chunks per NPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/exchange/machine_import.hpp"
#include "tenex/schedule/program.hpp"
#include "tenex/schedule/send.hpp"

namespace tenex {

/// What is wrong with a schedule.
enum class Wrong : std::uint8_t {
  malformed,            ///< a step that the format does not allow
  deadlock,             ///< steps that wait for each other, or for what never comes
  race,                 ///< two accesses of one place, at least one a write, that nothing orders
  read_before_written,  ///< an output made of a value that nobody wrote
  twice,                ///< an output that counts a contribution twice
  missing,              ///< an output that lacks a contribution, or a demand that is not met
  wrong_value,          ///< an output that holds what belongs elsewhere
  hang,                 ///< a finite FIFO fills at sizes that the file allows
  no_link,              ///< a transfer between NPUs that the topology does not join
};
/// "deadlock", "race", ... as reports write it.
[[nodiscard]] std::string_view to_string(Wrong wrong);

/// One thing that is wrong, in the file's own words.
struct WrongThing {
  Wrong wrong = Wrong::malformed;
  Place place;          ///< of the step, the element or the flow
  std::string message;  ///< a sentence: "gpu 0, tb 3, step 2 ..."
};

/// A set of contributors, as ranks in increasing order.
using Contributors = std::vector<std::uint32_t>;

/// What moves from one NPU to another as a unit. All its chunks have the same contributors.
struct ForeignTransfer {
  NpuId source;
  NpuId destination;
  std::vector<ChunkId> chunks;  ///< in increasing order, each once
  Stage stage = Stage::copy;
  std::uint32_t contributors = 0;    ///< index of ForeignSchedule::contributors; for Stage::reduce
  std::vector<std::uint32_t> after;  ///< transfers to `source` that come before it, by index
  Place place;                       ///< of what sends it
  std::string name = {};             ///< of what sends it, in the file's words
};

/// A part of a chunk of an All-to-All that travels by itself.
struct ForeignPiece {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  std::int64_t share = 0;  ///< of its chunk, of kWholeChunk
  bool operator==(const ForeignPiece&) const = default;
};
inline constexpr std::int64_t kWholeChunk = 1'000'000;

struct ForeignSchedule {
  std::string format;  ///< "MSCCLang XML", ...
  std::string name;    ///< that the file gives itself
  CollectiveKind kind = CollectiveKind::all_gather;
  std::size_t npus = 0;
  std::int64_t chunks_per_npu = 1;
  /// Where chunks are divided: those that ChunkId numbers, in the order of their sources. Empty: chunks are whole.
  std::vector<ForeignPiece> pieces = {};
  std::uint32_t root = 0;
  std::vector<ForeignTransfer> transfers;  ///< a transfer follows those that it comes after
  std::vector<Contributors> contributors;  ///< the sets that transfers name
  std::vector<WrongThing> wrong;           ///< empty: valid; the first is the first that was found
  std::vector<std::string> notes;          ///< what is no fault of the schedule: executors that refuse it, and why
  std::optional<Bytes> hangs_from = {};    ///< the least size at which a finite FIFO fills; absent: at none
  Bytes least = {};                        ///< sizes that the file is for
  std::optional<Bytes> most = {};          ///< absent: any
  std::optional<Bytes> own_size = {};      ///< the size that the file itself states; absent: none
  std::optional<SimTime> own_time = {};    ///< the time that the file itself states

  [[nodiscard]] bool valid() const { return wrong.empty(); }
};

/// Whether a text is in one of the formats that interpret_schedule() reads, by its first words. O(1).
[[nodiscard]] bool is_foreign_schedule(std::string_view text);

/// Reads and interprets a schedule: MSCCLang XML, mscclpp execution plans, ForestColl trees, TE-CCL outputs. Whatever
/// is wrong with the schedule itself is among its `wrong`. Errors (input, with place): no such format, not well formed,
/// over a limit; (unsupported) a collective or a kind of step that is not read; (resource) more than the interpreter's
/// memory. O(steps * threadblocks) time and memory, at most 512 MiB. `npus`: of the topology that the schedule is for,
/// 0 where none is known: TE-CCL's outputs number vertices, and do not say which of them are NPUs that get nothing.
[[nodiscard]] Result<ForeignSchedule> interpret_schedule(const SourceText& source, std::size_t npus = 0);

/// Whether bytes begin like a Chakra execution trace, the schedule of one rank. O(its metadata).
[[nodiscard]] bool is_trace(std::string_view bytes);

/// Interprets Chakra execution traces of a collective, one per rank, in the order of ranks: those that name the chunks
/// that they move (`tenex export --format chakra`), and those that were made of MSCCLang XML and hold it
/// (astra-sim/collectiveapi), of which the sends and receives must be the XML's. Whatever is wrong with the schedule is
/// among its `wrong`. Errors (input, with file): bytes that are no trace; (unsupported) traces that do not say what
/// they move, or that are of a workload; (resource) more than the interpreter's memory. O(nodes * nodes of a rank).
[[nodiscard]] Result<ForeignSchedule> interpret_traces(const std::vector<SourceText>& traces);

/// Joins transfers of sums that an NPU passes on as they came to one message from where the sum was formed: tenex's
/// verifier would take what comes to an NPU for a part of its own sum. Where several transfers pass on what one
/// brought, one is joined. O(transfers + what they come after).
void join_relays(ForeignSchedule& schedule);

/// The schedule as a program for a collective of its kind, NPUs and chunks. A transfer is injected when all that it
/// comes after have arrived. Expects: a valid schedule, which must outlive the program. O(transfers).
[[nodiscard]] std::unique_ptr<Program> make_transfer_program(const ForeignSchedule& schedule);

/// The collective of `size` bytes that the schedule is for; conditions, one for each piece, where chunks are divided.
/// Errors: those of Collective::make(); (input) a piece has less than a byte.
[[nodiscard]] Result<Collective> collective_of(const ForeignSchedule& schedule, Bytes size);

}  // namespace tenex
