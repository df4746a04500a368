// Schedules in other tools' forms, written for these tests, and what the interpreters say of them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tenex/exchange/foreign_schedule.hpp"

namespace tenex::exchange_test {

inline ForeignSchedule interpreted(const std::string& text, std::size_t npus = 0) {
  const auto schedule = interpret_schedule({"some.file", text}, npus);
  EXPECT_TRUE(schedule.ok()) << to_string(schedule.errors());
  return schedule.ok() ? *schedule : ForeignSchedule{};
}

/// "valid", or the first thing wrong: "race 3:5 gpu 0, tb 1, ...".
inline std::string verdict_on(const std::string& text, std::size_t npus = 0) {
  const auto schedule = interpreted(text, npus);
  if (schedule.valid()) return "valid";
  const auto& wrong = schedule.wrong.front();
  return std::string(to_string(wrong.wrong)) + " " + std::to_string(wrong.place.line) + ":" +
         std::to_string(wrong.place.column) + " " + wrong.message;
}

/// A step of MSCCLang: its type, source and destination as "i0", count, and what it waits for.
inline std::string step(int number, const std::string& type, const std::string& from, const std::string& to,
                        int count = 1, int tb = -1, int of = -1, bool publishes = false) {
  return "<step s=\"" + std::to_string(number) + "\" type=\"" + type + "\" srcbuf=\"" + from.substr(0, 1) +
         "\" srcoff=\"" + from.substr(1) + "\" dstbuf=\"" + to.substr(0, 1) + "\" dstoff=\"" + to.substr(1) +
         "\" cnt=\"" + std::to_string(count) + "\" depid=\"" + std::to_string(tb) + "\" deps=\"" + std::to_string(of) +
         "\" hasdep=\"" + (publishes ? "1" : "0") + "\"/>\n";
}
inline std::string tb(int id, int send, int receive, const std::string& steps, int channel = 0) {
  return "<tb id=\"" + std::to_string(id) + "\" send=\"" + std::to_string(send) + "\" recv=\"" +
         std::to_string(receive) + "\" chan=\"" + std::to_string(channel) + "\">\n" + steps + "</tb>\n";
}
inline std::string gpu_of(int id, const std::string& blocks, int scratch = 0) {
  return "<gpu id=\"" + std::to_string(id) + "\" i_chunks=\"0\" o_chunks=\"0\" s_chunks=\"" + std::to_string(scratch) +
         "\">\n" + blocks + "</gpu>\n";
}
inline std::string algo(const std::string& collective, int chunks, int gpus, const std::string& inside,
                        const std::string& more = "inplace=\"1\" outofplace=\"0\" minBytes=\"0\" maxBytes=\"0\"",
                        const std::string& protocol = "Simple") {
  return "<algo name=\"a\" proto=\"" + protocol + "\" nchannels=\"1\" nchunksperloop=\"" + std::to_string(chunks) +
         "\" ngpus=\"" + std::to_string(gpus) + "\" coll=\"" + collective + "\" " + more + ">\n" + inside + "</algo>\n";
}

}  // namespace tenex::exchange_test
