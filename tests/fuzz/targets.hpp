// The fuzz targets: readers of what people and other tools write. Each takes an input of any bytes, and traps if a
// reader breaks a promise: it refuses without a reason, or accepts what another reader refuses.
//
// All are one program, so that their modules are linked once. The environment's TENEX_FUZZ names the target
// (entry.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tenex::fuzz {

void study(std::string_view input);
void schedule(std::string_view input);
void schedule_columns(std::string_view input);
void journal(std::string_view input);
void workload(std::string_view input);
void cost_model(std::string_view input);
void machine(std::string_view input);
void machine_import(std::string_view input);
void foreign_schedule(std::string_view input);
void measurements(std::string_view input);
void tuner_table(std::string_view input);
void constraint(std::string_view input);

}  // namespace tenex::fuzz
