// Quantities and ids: exact integers that keep their kinds apart (tests/compile_fail shows what must not compile).
#include <gtest/gtest.h>

#include <type_traits>
#include <unordered_set>

#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"

namespace tenex {
namespace {

TEST(Quantity, CostsNoMoreThanItsNumber) {
  static_assert(sizeof(SimTime) == sizeof(std::int64_t));
  static_assert(std::is_trivially_copyable_v<SimTime>);
  static_assert(!std::is_constructible_v<SimTime, std::int64_t>);
  static_assert(!std::is_convertible_v<SimTime, std::int64_t>);
  EXPECT_EQ(SimTime().count(), 0);
}

TEST(Quantity, FactoriesNameTheirUnit) {
  EXPECT_EQ(picoseconds(7).count(), 7);
  EXPECT_EQ(nanoseconds(7).count(), 7'000);
  EXPECT_EQ(microseconds(7).count(), 7'000'000);
  EXPECT_EQ(bytes(7).count(), 7);
  EXPECT_EQ(kibibytes(7).count(), 7 * 1024);
  EXPECT_EQ(mebibytes(7).count(), 7 * 1024 * 1024);
  EXPECT_EQ(gibibytes(7).count(), std::int64_t{7} * 1024 * 1024 * 1024);
  EXPECT_EQ(bytes_per_second(7).count(), 7);
  EXPECT_EQ(gigabytes_per_second(7).count(), 7'000'000'000);
  EXPECT_EQ(gibibytes_per_second(7).count(), std::int64_t{7} * 1024 * 1024 * 1024);
}

TEST(Quantity, ComputesWithItsOwnKind) {
  const SimTime ten = picoseconds(10);
  const SimTime three = picoseconds(3);
  EXPECT_EQ(ten + three, picoseconds(13));
  EXPECT_EQ(ten - three, picoseconds(7));
  EXPECT_EQ(ten * 3, picoseconds(30));
  EXPECT_EQ(3 * ten, picoseconds(30));
  EXPECT_EQ(ten / three, 3);  // 10 = 3 * 3 + 1
  EXPECT_EQ(ten / 4, picoseconds(2));
  EXPECT_EQ(ten % three, picoseconds(1));
  EXPECT_LT(three, ten);
  SimTime sum = ten;
  sum += three;
  sum -= picoseconds(1);
  sum *= 2;
  EXPECT_EQ(sum, picoseconds(24));  // (10 + 3 - 1) * 2
}

TEST(SerializationTime, RoundsUpToWholePicoseconds) {
  // 1 B at 3 B/s takes 1e12 / 3 = 333,333,333,333.33 ps.
  EXPECT_EQ(serialization_time(bytes(1), bytes_per_second(3)), picoseconds(333'333'333'334));
  // 1 GB at 50 GB/s takes exactly 20 ms = 2e10 ps.
  EXPECT_EQ(serialization_time(bytes(1'000'000'000), gigabytes_per_second(50)), picoseconds(20'000'000'000));
  // 1 MiB at 1 GiB/s takes 1/1024 s = 976,562,500 ps.
  EXPECT_EQ(serialization_time(mebibytes(1), gibibytes_per_second(1)), picoseconds(976'562'500));
  EXPECT_EQ(serialization_time(bytes(0), gibibytes_per_second(1)), SimTime::zero());
}

TEST(SerializationTime, IsExactBeyond64BitsAndSaturates) {
  // 1 TiB = 1,099,511,627,776 B at 1 GB/s: 1,099,511,627,776 * 1e12 overflows 64 bits, the quotient is 1.1e15 ps.
  EXPECT_EQ(serialization_time(gibibytes(1024), gigabytes_per_second(1)), picoseconds(1'099'511'627'776'000));
  // 1 TiB at 1 B/s takes 1.1e24 ps, which int64 cannot hold.
  EXPECT_EQ(serialization_time(gibibytes(1024), bytes_per_second(1)), SimTime::max());
}

TEST(CeilDiv, RoundsUp) {
  EXPECT_EQ(ceil_div(0, 3), 0);
  EXPECT_EQ(ceil_div(3, 3), 1);
  EXPECT_EQ(ceil_div(4, 3), 2);
}

TEST(Rate, IsBytesOverSecondsAndZeroWithoutTime) {
  // 1000 B in 1 us = 1e9 B/s.
  EXPECT_DOUBLE_EQ(rate(bytes(1000), microseconds(1)), 1e9);
  EXPECT_EQ(rate(bytes(1000), SimTime::zero()), 0.0);
}

TEST(Id, MarksAbsenceAndOrders) {
  static_assert(sizeof(NpuId) == 4);
  static_assert(!std::is_convertible_v<std::uint32_t, NpuId>);
  static_assert(!std::is_constructible_v<NpuId, LinkId>);
  EXPECT_FALSE(NpuId().exists());
  EXPECT_FALSE(NpuId::none().exists());
  EXPECT_TRUE(NpuId(0).exists());
  EXPECT_LT(NpuId(1), NpuId(2));
  EXPECT_EQ(NpuId::at(5).index(), 5U);
  EXPECT_EQ(NpuId::at(5).value(), 5U);
}

TEST(Id, ConvertsBetweenNpuAndVertexByName) {
  EXPECT_EQ(vertex_of(NpuId(4)), VertexId(4));
  EXPECT_EQ(npu_of(VertexId(4)), NpuId(4));
}

TEST(Id, CanBeHashed) {
  const std::unordered_set<LinkId> links{LinkId(1), LinkId(2), LinkId(1)};
  EXPECT_EQ(links.size(), 2U);
}

}  // namespace
}  // namespace tenex
