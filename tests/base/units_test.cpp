// Text with units: every unit, exactness, round trips and each way to get it wrong.
#include "tenex/base/units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tenex/base/random.hpp"

namespace tenex {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

const Place kHere{"study.toml", 3, 9};

template <class T>
std::string error_of(const Result<T>& result) {
  return result ? "no error" : to_string(result.errors());
}

TEST(ParseTime, KnowsEveryUnit) {
  const std::vector<std::pair<std::string, std::int64_t>> cases{
      {"3ps", 3}, {"3ns", 3'000}, {"3us", 3'000'000}, {"3ms", 3'000'000'000}, {"3s", 3'000'000'000'000}};
  for (const auto& [text, count] : cases) EXPECT_EQ(parse_time(text).value().count(), count) << text;
}

TEST(ParseBytes, KnowsEveryUnit) {
  const std::vector<std::pair<std::string, std::int64_t>> cases{{"3B", 3},
                                                                {"3KB", 3'000},
                                                                {"3MB", 3'000'000},
                                                                {"3GB", 3'000'000'000},
                                                                {"3TB", 3'000'000'000'000},
                                                                {"3KiB", 3'072},
                                                                {"3MiB", 3'145'728},
                                                                {"3GiB", 3'221'225'472},
                                                                {"3TiB", 3'298'534'883'328}};
  for (const auto& [text, count] : cases) {
    EXPECT_EQ(parse_bytes(text).value().count(), count) << text;
    EXPECT_EQ(parse_bandwidth(text + "/s").value().count(), count) << text;
  }
}

TEST(ParseTime, ReadsDecimalsExactly) {
  EXPECT_EQ(*parse_time("0.1us"), picoseconds(100'000));
  EXPECT_EQ(*parse_time("0.5us"), nanoseconds(500));
  EXPECT_EQ(*parse_time("1.000000000001s"), picoseconds(1'000'000'000'001));
  EXPECT_EQ(*parse_time("0.0000"
                        "00us"),
            SimTime::zero());
  EXPECT_EQ(*parse_time("007.50ns"), picoseconds(7'500));
  EXPECT_EQ(*parse_time("  2us\t"), microseconds(2));
}

TEST(ParseBytes, ReadsBinaryFractionsExactly) {
  EXPECT_EQ(*parse_bytes("1.5KiB"), bytes(1'536));
  // 2^-40 TiB = 1 B, written out: 5^40 / 10^40.
  EXPECT_EQ(*parse_bytes("0.0000000000009094947017729282379150390625TiB"), bytes(1));
  EXPECT_EQ(*parse_bandwidth("12.5GB/s"), bytes_per_second(12'500'000'000));
}

TEST(ParseTime, ReachesTheLargestValueAndNotBeyond) {
  // int64 ends at 9,223,372,036,854,775,807.
  EXPECT_EQ(*parse_time("9223372036854775807ps"), SimTime::max());
  EXPECT_EQ(*parse_time("9223372.036854775807s"), SimTime::max());
  EXPECT_THAT(error_of(parse_time("9223372.036854775808s")), HasSubstr("too large"));
  EXPECT_THAT(error_of(parse_time("9223372036854775808ps")), HasSubstr("too large"));
  EXPECT_THAT(error_of(parse_time("99999999999999999999999999s")), HasSubstr("too large"));
  EXPECT_THAT(error_of(parse_bytes("9000000TiB")), HasSubstr("too large"));
}

TEST(ParseTime, RefusesFractionsOfAPicosecond) {
  EXPECT_THAT(error_of(parse_time("0.5ps")), AllOf(HasSubstr("\"0.5ps\" is not a whole number of picoseconds")));
  EXPECT_THAT(error_of(parse_time("0.0000001us")), HasSubstr("not a whole number"));
  EXPECT_THAT(error_of(parse_bytes("0.3KiB")), HasSubstr("not a whole number of bytes"));
}

TEST(ParseTime, RefusesAMissingUnitWithAnExample) {
  EXPECT_EQ(error_of(parse_time("0.5", kHere)),
            "study.toml:3:9: \"0.5\" has no unit (a time is a number and one of ps, ns, us, ms, s) "
            "write for instance \"0.5us\"");
  EXPECT_THAT(error_of(parse_bytes("1.5")), HasSubstr("write for instance \"1.5MiB\""));
}

TEST(ParseBytes, ReadsABareNumberAsItMayBeMeant) {
  // Many: a number of bytes, in its shortest spelling too. 1048576 = 2^20, and 1000003 is a prime.
  EXPECT_THAT(error_of(parse_bytes("1048576")), HasSubstr("write \"1048576B\" or \"1MiB\""));
  EXPECT_THAT(error_of(parse_bytes("1000003")), EndsWith("write \"1000003B\""));
  EXPECT_THAT(error_of(parse_bandwidth("50000000000")), HasSubstr("write \"50000000000B/s\" or \"50GB/s\""));
  // Few: probably of the usual unit.
  EXPECT_THAT(error_of(parse_bytes("64")), HasSubstr("write \"64B\" or \"64MiB\""));
  EXPECT_THAT(error_of(parse_bandwidth("1000")), HasSubstr("write for instance \"1000GB/s\""));
}

TEST(ParseTime, RefusesSigns) {
  EXPECT_THAT(error_of(parse_time("-1us")), AllOf(HasSubstr("\"-1us\" is negative"), HasSubstr("write \"1us\"")));
  EXPECT_THAT(error_of(parse_bandwidth("-1GB/s")), HasSubstr("\"-1GB/s\" is negative"));
  EXPECT_THAT(error_of(parse_bytes("+1B")), HasSubstr("has a sign"));
}

TEST(ParseTime, RefusesUnknownUnitsWithTheNearest) {
  EXPECT_THAT(error_of(parse_time("5usec")), HasSubstr("unknown unit \"usec\""));
  EXPECT_THAT(error_of(parse_bytes("5Gib")), HasSubstr("bits"));
  EXPECT_THAT(error_of(parse_bytes("5gIB")), HasSubstr("did you mean \"GiB\"?"));
  EXPECT_THAT(error_of(parse_bandwidth("5GB/S")), HasSubstr("did you mean \"GB/s\"?"));
  EXPECT_THAT(error_of(parse_bandwidth("5furlongs")),
              AllOf(HasSubstr("unknown unit \"furlongs\""), ::testing::Not(HasSubstr("did you mean"))));
}

TEST(ParseBandwidth, ReadsBitsAsDataSheetsStateThem) {
  // 400e9 bits are 400e9 / 8 = 50e9 bytes; powers are of 1000.
  for (const std::string text : {"400Gb/s", "400Gbps", "400Gbit/s", "0.4Tb/s", "400000Mb/s"}) {
    EXPECT_EQ(parse_bandwidth(text).value(), Bandwidth::of(50'000'000'000)) << text;
    EXPECT_EQ(note_on_bits(text), text + " is read as 50GB/s (8 bits are a byte)");
  }
  EXPECT_EQ(parse_bandwidth("1Kb/s").value(), Bandwidth::of(125));
  EXPECT_EQ(std::get<Bandwidth>(parse_quantity("400Gb/s").value()), Bandwidth::of(50'000'000'000));
  for (const std::string text : {"50GB/s", "400Gb", "Gb/s", "1us", ""}) EXPECT_EQ(note_on_bits(text), "") << text;
}

TEST(ParseBytes, TellsBitsFromBytes) {
  // GB is the spelling nearest to Gb but eight times as much, so it must not be suggested.
  EXPECT_THAT(error_of(parse_bytes("400Gb")),
              AllOf(HasSubstr("counts bits where bytes belong"), HasSubstr("divide by 8")));
  EXPECT_THAT(error_of(parse_bandwidth("400b/s")), HasSubstr("counts bits"));  // 8 of them are a byte, and 1 is none
}

TEST(ParseBytes, NamesTheKindThatStandsInItsPlace) {
  EXPECT_THAT(error_of(parse_bytes("5us")), HasSubstr("\"5us\" is a time where a size belongs"));
  EXPECT_THAT(error_of(parse_bytes("5GB/s")), HasSubstr("\"5GB/s\" is a bandwidth where a size belongs"));
  EXPECT_THAT(error_of(parse_bandwidth("5GB")), HasSubstr("\"5GB\" is a size where a bandwidth belongs"));
  EXPECT_THAT(error_of(parse_time("5GB")), HasSubstr("\"5GB\" is a size where a time belongs"));
}

TEST(ParseBandwidth, RefusesZero) { EXPECT_THAT(error_of(parse_bandwidth("0GB/s")), HasSubstr("is zero")); }

TEST(ParseTime, RefusesWhatIsNoNumber) {
  EXPECT_THAT(error_of(parse_time("")), HasSubstr("empty"));
  EXPECT_THAT(error_of(parse_time("us")), HasSubstr("\"us\" is not a time"));
  EXPECT_THAT(error_of(parse_time(".5us")), HasSubstr("digits on both sides"));
  EXPECT_THAT(error_of(parse_time("5.us")), HasSubstr("digits on both sides"));
  EXPECT_THAT(error_of(parse_time("1e3us")), HasSubstr("unknown unit \"e3us\""));
  EXPECT_THAT(error_of(parse_time("1,5us")), HasSubstr("unknown unit"));
  EXPECT_THAT(error_of(parse_time("5 us")), HasSubstr("write \"5us\""));
  EXPECT_THAT(error_of(parse_time("0x10us")), HasSubstr("unknown unit"));
}

TEST(ParseTime, BlamesTheInputAtItsPlace) {
  const auto errors = parse_time("5", kHere).errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].fault, Fault::input);
  EXPECT_EQ(errors[0].place, kHere);
}

TEST(ParseQuantity, TellsTheKindByTheUnit) {
  EXPECT_EQ(std::get<SimTime>(*parse_quantity("0.5us")), nanoseconds(500));
  EXPECT_EQ(std::get<Bytes>(*parse_quantity("1MiB")), mebibytes(1));
  EXPECT_EQ(std::get<Bandwidth>(*parse_quantity("25GB/s")), gigabytes_per_second(25));
  EXPECT_THAT(error_of(parse_quantity("5Mib")), HasSubstr("unknown unit \"Mib\""));
  EXPECT_THAT(error_of(parse_quantity("5MIB")), HasSubstr("did you mean \"MiB\"?"));
  EXPECT_THAT(error_of(parse_quantity("0.5B")), HasSubstr("whole number of bytes"));
}

TEST(ToString, IsTheShortestText) {
  EXPECT_EQ(to_string(nanoseconds(500)), "500ns");  // as short as 0.5us, and whole
  EXPECT_EQ(to_string(microseconds(1)), "1us");
  EXPECT_EQ(to_string(picoseconds(1'500)), "1.5ns");
  EXPECT_EQ(to_string(picoseconds(20'030'000)), "20030ns");  // as short as 20.03us, and whole
  EXPECT_EQ(to_string(SimTime::zero()), "0s");
  EXPECT_EQ(to_string(gibibytes(1)), "1GiB");
  EXPECT_EQ(to_string(bytes(1'000)), "1KB");
  EXPECT_EQ(to_string(bytes(1'536)), "1536B");
  EXPECT_EQ(to_string(gigabytes_per_second(50)), "50GB/s");
  EXPECT_EQ(to_string(gibibytes_per_second(50)), "50GiB/s");
  EXPECT_EQ(to_string(nanoseconds(-500)), "-500ns");  // a difference, for messages
}

TEST(ToString, ParsesBackToTheSameValue) {
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    // All magnitudes are equally likely: 63 random bits shifted by a random amount.
    const auto count = static_cast<std::int64_t>((random.bits64() >> 1U) >> random.below(63));
    EXPECT_EQ(parse_time(to_string(picoseconds(count))).value().count(), count);
    EXPECT_EQ(parse_bytes(to_string(bytes(count))).value().count(), count);
    if (count > 0) {
      EXPECT_EQ(parse_bandwidth(to_string(bytes_per_second(count))).value().count(), count);
    }
  }
  EXPECT_EQ(*parse_time(to_string(SimTime::max())), SimTime::max());
  EXPECT_EQ(*parse_bytes(to_string(Bytes::max())), Bytes::max());
}

TEST(ToString, IsNeverLongerThanTheBaseUnit) {
  Random random(2);
  for (int i = 0; i < 2'000; ++i) {
    const auto count = static_cast<std::int64_t>((random.bits64() >> 1U) >> random.below(63));
    EXPECT_LE(to_string(bytes(count)).size(), std::to_string(count).size() + 1);
  }
}

TEST(ToRounded, KeepsThreeDigits) {
  EXPECT_EQ(to_rounded(picoseconds(39'560'123)), "39.6us");
  EXPECT_EQ(to_rounded(picoseconds(7)), "7ps");
  EXPECT_EQ(to_rounded(picoseconds(999'600'000)), "1ms");  // not 1000us
  EXPECT_EQ(to_rounded(picoseconds(999'400'000)), "999us");
  EXPECT_EQ(to_rounded(SimTime::zero()), "0ps");
  EXPECT_EQ(to_rounded(picoseconds(5'000'000'000'000'000)), "5000s");
  EXPECT_EQ(to_rounded_bytes(1'073'741'824.0), "1.07GB");
  EXPECT_EQ(to_rounded_rate(46.9e9), "46.9GB/s");
  EXPECT_EQ(to_rounded_rate(0.25), "0.25B/s");
  EXPECT_EQ(to_rounded(nanoseconds(-1'500)), "-1.5us");
  EXPECT_EQ(to_rounded_rate(std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(Units, TakeMicroSigns) {
  EXPECT_EQ(*parse_time("0.5\xC2\xB5s"), *parse_time("0.5us"));  // U+00B5, micro sign
  EXPECT_EQ(*parse_time("0.5\xCE\xBCs"), *parse_time("0.5us"));  // U+03BC, Greek mu
  EXPECT_EQ(std::get<SimTime>(*parse_quantity("2\xC2\xB5s")), *parse_time("2us"));
}

}  // namespace
}  // namespace tenex
