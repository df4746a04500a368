// Fuzz target: schedules of other tools, all formats. What is found valid is a program, and its chunks exist.
#include "targets.hpp"

#include <vector>

#include "tenex/exchange/foreign_schedule.hpp"

void tenex::fuzz::foreign_schedule(std::string_view input) {
  const tenex::SourceText source{"fuzz", std::string(input)};
  auto schedule =
      tenex::is_trace(input) ? tenex::interpret_traces({source}) : tenex::interpret_schedule(source, input.size() % 5);
  if (!schedule.ok()) {
    if (schedule.errors().empty()) __builtin_trap();
    return;
  }
  if (!schedule->valid() || schedule->npus < 2 || schedule->transfers.empty()) return;
  const auto collective = tenex::collective_of(*schedule, tenex::Bytes::of(std::int64_t{1} << 40));
  if (!collective.ok()) return;  // more chunks than tenex numbers
  for (const auto& transfer : schedule->transfers)
    for (const auto chunk : transfer.chunks)
      if (chunk.index() >= collective->chunks()) __builtin_trap();
  tenex::join_relays(*schedule);
  const auto program = tenex::make_transfer_program(*schedule);
  const auto state = program->begin();
  std::vector<tenex::Message> first;
  for (std::size_t npu = 0; npu < schedule->npus; ++npu) state->start(tenex::NpuId::at(npu), first);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const auto message = first[i];
    state->arrive(message, first);
  }
  if (first.size() != schedule->transfers.size()) __builtin_trap();  // a transfer waits for what never comes
}
