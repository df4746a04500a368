// Schedule files that are refused: of another kind or schema, damaged, or changed on purpose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "files/schedule_samples.hpp"
#include "support/process.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex {
namespace {

using samples::copies;
using samples::message_of;
using samples::mixed;
using samples::recipe;
using samples::sample;
using samples::with_payloads;
using support::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ScheduleFile, IsRefusedByAnotherExtension) {
  EXPECT_THAT(message_of(read_schedule_file("s.txt")), HasSubstr("use .h5"));
  EXPECT_THAT(message_of(write_schedule_file("s.xml", sample({}))), HasSubstr("use .h5"));
}

TEST(ScheduleFile, OfAnotherKindOrSchemaIsRefused) {
  const TemporaryFolder folder;
  ColumnFileWriter result;
  result.set_attribute("/", "kind", "tenex result");
  result.set_attribute("/", "schema", std::int64_t{1});
  ASSERT_TRUE(result.save(folder.path() / "r.h5").ok());
  EXPECT_THAT(message_of(read_schedule_file(folder.path() / "r.h5")), HasSubstr("this is no tenex schedule"));
  const auto of_schema = [&](std::int64_t schema, bool storages) {
    ColumnFileWriter file;
    file.set_attribute("/", "kind", "tenex schedule");
    file.set_attribute("/", "schema", schema);
    if (storages) {
      file.add_group("/storage");
      file.set_attribute("/storage", "count", std::int64_t{2});
      for (const auto& [group, kind] : {std::pair("/storage/0", "step_table"), std::pair("/storage/1", "reversed")}) {
        file.add_group(group);
        file.set_attribute(group, "kind", kind);
      }
    }
    EXPECT_TRUE(file.save(folder.path() / "s.h5").ok());
    return message_of(read_schedule_file(folder.path() / "s.h5"));
  };
  EXPECT_THAT(of_schema(4, false), HasSubstr("newer than this version"));
  EXPECT_THAT(of_schema(2, true),
              AllOf(HasSubstr("s.h5: schema 2 of schedules is no longer read"),
                    HasSubstr("stored compactly (step_table, reversed)"), HasSubstr("make the schedule again")));
  EXPECT_THAT(of_schema(1, false), HasSubstr("stored as a list without arrivals"));
  const auto of_text = [&](const char* text) {
    support::write_text(folder.path() / "s.json", text);
    return message_of(read_schedule_file(folder.path() / "s.json"));
  };
  EXPECT_THAT(of_text(R"({"kind": "something"})"), HasSubstr("this is no schedule file"));
  EXPECT_THAT(of_text(R"({"kind": "tenex schedule", "schema": 4})"), HasSubstr("newer than this version"));
  EXPECT_THAT(of_text(R"({"kind": "tenex schedule", "schema": 1})"), HasSubstr("schema 1 of schedules is no longer"));
  EXPECT_THAT(of_text(R"({"kind": "tenex schedule", "schema": 3, "content": "dream"})"),
              HasSubstr("content is \"dream\""));
  EXPECT_THAT(of_text("[1, 2"), HasSubstr("no sound schedule"));
}

TEST(ScheduleFile, OfAnUnsoundRecipeIsRefused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "r.json";
  ASSERT_TRUE(write_recipe_file(path, recipe()).ok());
  const auto text = support::read_text(path);
  const auto message_after = [&](std::string_view from, std::string_view to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    support::write_text(path, std::string(text).replace(at, from.size(), to));
    return message_of(read_schedule(path));
  };
  EXPECT_THAT(message_after("0123456789abcdef", "0123456789abcdeg"), HasSubstr("no sound recipe"));
  EXPECT_THAT(message_after("0123456789abcdef", "123456789abcdef"), HasSubstr("no sound recipe"));
  EXPECT_THAT(message_after("12345,", "-1,"), HasSubstr("no sound recipe"));
  EXPECT_THAT(message_after("algorithm=tacos\\nphysics=1", ""), HasSubstr("no sound recipe"));
  EXPECT_THAT(message_after("\"hash\"", "\"hush\""), HasSubstr("hash"));
}

/// Replaces the first occurrence of `from` in a JSON schedule, reads it and returns the message.
std::string message_after(const std::string& from, const std::string& to) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "s.json";
  if (!write_schedule_file(file, sample(mixed())).ok()) return "(not written)";
  auto text = support::read_text(file);
  const auto at = text.find(from);
  if (at == std::string::npos) return "(not found)";
  support::write_text(file, text.replace(at, from.size(), to));
  return message_of(read_schedule_file(file));
}

TEST(ScheduleFile, WithUnsoundContentIsRefused) {
  EXPECT_THAT(message_after("\"transfer\"", "\"sometimes\""), HasSubstr("unknown occupancy \"sometimes\""));
  EXPECT_THAT(message_after("\"all_reduce\"", "\"all_reduced\""), HasSubstr("s.json"));
  EXPECT_THAT(message_after("[2,0]", "[2,2]"), HasSubstr("twice in a process group"));
  EXPECT_THAT(message_after("[2,0]", "[2,9]"), HasSubstr("NPU 9"));
  EXPECT_THAT(message_after("\"npus\":6", "\"npus\":7"), HasSubstr("the links are not those of the shape"));
  EXPECT_THAT(message_after("\"npus\":6", "\"npus\":2147483648"), HasSubstr("2147483648 NPUs"));
  EXPECT_THAT(message_after("\"shape\":\"RI(3)_SW(2)\"", "\"shape\":\"FC(6)\""), HasSubstr("not those of the shape"));
  EXPECT_THAT(message_after("\"alpha_ps\":500000", "\"alpha_ps\":-1"), HasSubstr("s.json"));
  EXPECT_THAT(message_after("\"reduce\"]", "\"add\"]"), HasSubstr("(not found)"));
  EXPECT_THAT(message_after("\"reduce\", 0", "\"add\", 0"), HasSubstr("\"add\" is no stage"));
  // 262,144 B (1 MiB for 2 NPUs of 2 chunks) at 50 GB/s take 5,242,880 ps, and alpha is 500,000 ps.
  EXPECT_THAT(message_after("[0, 5742880, 0, 1, 0, 0, 262144", "[0, 5742880, 0, 1, -1, 0, 262144"),
              HasSubstr("out of range"));
  EXPECT_THAT(message_after("[0, 5742880", "[0.5, 5742880"), HasSubstr("is no integer"));
  const auto lie = HasSubstr("on its link, from its start on, it brings 262144 B from 0 to 1 at 5742880 ps");
  EXPECT_THAT(message_after("[0, 5742880, 0, 1", "[0, 5742881, 0, 1"), lie);
  EXPECT_THAT(message_after("[0, 5742880, 0, 1", "[0, 5742880, 1, 1"), lie);
  EXPECT_THAT(message_after("[0, 5742880, 0, 1", "[0, 5742880, 0, 2"), lie);
  EXPECT_THAT(message_after("[0, 5742880, 0, 1, 0, 0, 262144", "[0, 5742880, 0, 1, 0, 0, 262145"), lie);
  EXPECT_THAT(message_after("\"sends\"", "\"send\""), HasSubstr("sends"));
}

TEST(ScheduleFile, WhoseTimesDoNotFitIsRefused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "s.json";
  ASSERT_TRUE(write_schedule_file(path, sample(mixed())).ok());
  const auto text = support::read_text(path);
  const auto message_after = [&](std::string_view part, std::string_view other) {
    const auto at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    support::write_text(path, std::string(text).replace(at, part.size(), other));
    return message_of(read_schedule_file(path));
  };
  // A quarter of 2^63-1 B (2 NPUs of 2 chunks) takes 9.2e7 s at 25 GB/s. A byte of 1 MiB/4 at 1 B/s takes 262,144 s;
  // ten such sends on the busiest link and 9 vertices make 5.0e6 s. The limit of 2^61 ps is 2.3e6 s.
  EXPECT_THAT(message_after("\"size_bytes\":1048576", "\"size_bytes\":9223372036854775807"),
              AllOf(HasSubstr("s.json"), HasSubstr("26 days")));
  EXPECT_THAT(message_after("\"alpha_ps\":500000", "\"alpha_ps\":9223372036854775807"), HasSubstr("26 days"));
  EXPECT_THAT(message_after("\"bandwidth_bytes_per_s\":50000000000", "\"bandwidth_bytes_per_s\":1"),
              HasSubstr("26 days"));
  EXPECT_THAT(message_after("[0, 5742880", "[9223372036854775807, 0"), HasSubstr("starts at 9223372036854775807 ps"));
  EXPECT_THAT(message_after("[0, 5742880", "[-9223372036854775808, 0"), HasSubstr("starts at"));
  // Within the range only the verifier checks times.
  EXPECT_EQ(message_after("[0, 5742880", "[-1, 5742879"), "(no error)");
}

TEST(ScheduleFile, WithUnsoundPayloadsIsRefused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "s.json";
  const Payloads payloads{{0, 2, 5}, {ChunkId(0), ChunkId(2), ChunkId(1), ChunkId(2), ChunkId(3)}};
  ASSERT_TRUE(write_schedule_file(path, with_payloads(payloads)).ok());
  const auto text = support::read_text(path);
  const auto at = text.find("[[0,2],[1,2,3]]");
  ASSERT_NE(at, std::string::npos);
  // In decreasing order; none; chunks of two groups (4 and more are of group 1); an unknown one.
  for (const auto* lists : {"[[2,0],[1,2,3]]", "[[],[1,2,3]]", "[[0,4],[1,2,3]]", "[[0,99],[1,2,3]]"}) {
    support::write_text(path, std::string(text).replace(at, 15, lists));
    EXPECT_THAT(message_of(read_schedule_file(path)), HasSubstr("payload 0 is none")) << lists;
  }
}

TEST(ScheduleFile, WithContributorsThatItsGroupLacksIsRefused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "s.json";
  Payloads payloads;
  payloads.add(std::vector{ChunkId(0), ChunkId(2)}, std::vector<std::uint32_t>{0, 1});
  payloads.add(std::vector{ChunkId(1), ChunkId(2), ChunkId(3)});
  ASSERT_TRUE(write_schedule_file(path, with_payloads(payloads)).ok());
  const auto text = support::read_text(path);
  const auto at = text.find("[[0,1],[]]");
  ASSERT_NE(at, std::string::npos);
  for (const auto* lists : {"[[1,0],[]]", "[[0,99],[]]", "[[1,1],[]]"}) {
    support::write_text(path, std::string(text).replace(at, 10, lists));
    EXPECT_THAT(message_of(read_schedule_file(path)), HasSubstr("payload 0 has contributors that its group lacks"));
  }
}

TEST(ScheduleFile, WhoseColumnsLieIsRefused) {
  // Small columns are stored as they are: the bytes of one are found, and one value is changed.
  const TemporaryFolder folder;
  const auto path = folder.path() / "s.h5";
  const auto after = [&]<class T>(const char* column, std::size_t row, T value) {
    if (!write_schedule_file(path, sample(mixed())).ok()) return std::string("(not written)");
    const auto values = ColumnFileReader::open(path).value().read<T>(column).value();
    auto text = support::read_text(path);
    text.resize(text.size() - 32);  // without its checksum
    const auto at =
        text.find(std::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
    if (at == std::string::npos) return std::string("(not found)");
    std::memcpy(text.data() + at + row * sizeof(T), &value, sizeof(T));
    support::write_text(path, text);
    return message_of(read_schedule_file(path));
  };
  EXPECT_THAT(after("/sends/arrival_ps", 0, std::int64_t{5'742'881}),
              HasSubstr("send 0 is said to bring 262144 B from 0 to 1 at 5742881 ps"));
  EXPECT_THAT(after("/sends/bytes", 3, std::int64_t{1}), HasSubstr("send 3 is said to bring 1 B"));
  EXPECT_THAT(after("/sends/stage", 2, std::int8_t{2}), HasSubstr("has the stage 2"));
  EXPECT_THAT(after("/sends/start_ps", 1, std::int64_t{-1} << 62), HasSubstr("send 1 starts at"));
  // What the topology and the collective lack, the verifier finds.
  EXPECT_EQ(after("/sends/link", 5, std::uint32_t{99}), "(no error)");
}

TEST(ScheduleFile, IsRefusedWhereverAByteChanges) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "s.h5";
  ASSERT_TRUE(write_schedule_file(path, sample(mixed())).ok());
  const auto whole = support::read_text(path);
  // The last 32 bytes are the checksum: a mark of 16, without which nothing is checked, and two numbers.
  for (std::size_t at = 0; at < whole.size(); at += at + 100 < whole.size() ? 97 : 1) {
    if (whole.size() - 32 <= at && at < whole.size() - 16) continue;
    auto broken = whole;
    broken[at] = static_cast<char>(broken[at] ^ 0x10);
    support::write_text(path, broken);
    EXPECT_THAT(message_of(read_schedule_file(path)), HasSubstr("is damaged")) << at;
  }
}

TEST(ScheduleFile, OfFewSendsIsSmall) {
  // 100,000 sends of 33 bytes that repeat a pattern: compressed far below their 3.3 MB.
  const TemporaryFolder folder;
  ASSERT_TRUE(write_schedule_file(folder.path() / "s.h5", sample(copies(100'000))).ok());
  EXPECT_LT(std::filesystem::file_size(folder.path() / "s.h5"), 300'000U);
}

}  // namespace
}  // namespace tenex
