// The sends of a list as columns of an HDF5 file, in the group "/sends".
#pragma once

#include <string>

#include "tenex/base/diagnostic.hpp"
#include "tenex/files/column_file.hpp"
#include "tenex/files/schedule_file.hpp"

namespace tenex {

void write_sends(ColumnFileWriter& writer, const ScheduleFile& file, const SendChoice& choice);

/// Trusts nothing: reading checks lengths, times, payloads, and what columns state of sends. `frame` has the rest of
/// the file, which is called `name` in messages.
[[nodiscard]] Result<Schedule> read_sends(const ColumnFileReader& reader, const ScheduleFile& frame,
                                          const std::string& name);

/// Checks payloads before facts are computed of them: each has chunks of one process group in increasing order. Errors
/// (input), at `name`.
[[nodiscard]] Status check_payloads(const ScheduleFile& frame, const Payloads& payloads, const std::string& name);

/// Checks that a start is near enough to zero to be computed with. Errors (input), at `name`.
[[nodiscard]] Status check_start(SimTime start, std::size_t number, const std::string& name);

/// Whether any send belongs to a message.
[[nodiscard]] bool has_messages(const Schedule& schedule);

}  // namespace tenex
