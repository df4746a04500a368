// A ChunkId is no other id and no bare number.
#include <cstdint>

#include "tenex/base/ids.hpp"

using namespace tenex;

ChunkId next(ChunkId id) { return ChunkId(id.value() + 1); }

#ifdef CONTROL
const ChunkId kept = ChunkId(1);
const bool same = ChunkId(1) == ChunkId(2);
const ChunkId argument = next(ChunkId(1));
const std::uint32_t number = ChunkId(1).value();
const int items[2] = {0, 1};
const int item = items[ChunkId(1).index()];
#else
// expect: conversion from|no viable conversion
const ChunkId kept1 = NpuId(1);
// expect: no match for 'operator=='|invalid operands
const bool same2 = ChunkId(1) == NpuId(1);
// expect: conversion from|no viable conversion
const ChunkId kept3 = VertexId(1);
// expect: no match for 'operator=='|invalid operands
const bool same4 = ChunkId(1) == VertexId(1);
// expect: conversion from|no viable conversion
const ChunkId kept5 = LinkId(1);
// expect: no match for 'operator=='|invalid operands
const bool same6 = ChunkId(1) == LinkId(1);
// expect: conversion from|no viable conversion
const ChunkId kept7 = GroupId(1);
// expect: no match for 'operator=='|invalid operands
const bool same8 = ChunkId(1) == GroupId(1);
// expect: conversion from|no viable conversion
const ChunkId kept9 = MessageId(1);
// expect: no match for 'operator=='|invalid operands
const bool same10 = ChunkId(1) == MessageId(1);
// expect: no matching function|no matching conversion
const ChunkId kept11 = ChunkId(NpuId(1));
// expect: could not convert|no viable conversion|no matching function
const ChunkId argument12 = next(NpuId(1));
// expect: conversion from|no viable conversion
const ChunkId kept13 = 1U;
// expect: no match for 'operator=='|invalid operands
const bool same14 = ChunkId(1) == 1U;
// expect: could not convert|no viable conversion|no matching function
const ChunkId argument15 = next(1U);
// expect: cannot convert|no viable conversion
const std::uint32_t number16 = ChunkId(1);
const int items17[2] = {0, 1};
// expect: no match for .operator..|no viable overloaded operator|invalid types
const int item17 = items17[ChunkId(1)];
// expect: no match for 'operator\+'|invalid operands
const auto sum18 = ChunkId(1) + ChunkId(1);
#endif
