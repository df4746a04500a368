// An NpuId is no other id and no bare number.
#include <cstdint>

#include "tenex/base/ids.hpp"

using namespace tenex;

NpuId next(NpuId id) { return NpuId(id.value() + 1); }

#ifdef CONTROL
const NpuId kept = NpuId(1);
const bool same = NpuId(1) == NpuId(2);
const NpuId argument = next(NpuId(1));
const std::uint32_t number = NpuId(1).value();
const int items[2] = {0, 1};
const int item = items[NpuId(1).index()];
#else
// expect: conversion from|no viable conversion
const NpuId kept1 = VertexId(1);
// expect: no match for 'operator=='|invalid operands
const bool same2 = NpuId(1) == VertexId(1);
// expect: conversion from|no viable conversion
const NpuId kept3 = LinkId(1);
// expect: no match for 'operator=='|invalid operands
const bool same4 = NpuId(1) == LinkId(1);
// expect: conversion from|no viable conversion
const NpuId kept5 = ChunkId(1);
// expect: no match for 'operator=='|invalid operands
const bool same6 = NpuId(1) == ChunkId(1);
// expect: conversion from|no viable conversion
const NpuId kept7 = GroupId(1);
// expect: no match for 'operator=='|invalid operands
const bool same8 = NpuId(1) == GroupId(1);
// expect: conversion from|no viable conversion
const NpuId kept9 = MessageId(1);
// expect: no match for 'operator=='|invalid operands
const bool same10 = NpuId(1) == MessageId(1);
// expect: no matching function|no matching conversion
const NpuId kept11 = NpuId(VertexId(1));
// expect: could not convert|no viable conversion|no matching function
const NpuId argument12 = next(VertexId(1));
// expect: conversion from|no viable conversion
const NpuId kept13 = 1U;
// expect: no match for 'operator=='|invalid operands
const bool same14 = NpuId(1) == 1U;
// expect: could not convert|no viable conversion|no matching function
const NpuId argument15 = next(1U);
// expect: cannot convert|no viable conversion
const std::uint32_t number16 = NpuId(1);
const int items17[2] = {0, 1};
// expect: no match for .operator..|no viable overloaded operator|invalid types
const int item17 = items17[NpuId(1)];
// expect: no match for 'operator\+'|invalid operands
const auto sum18 = NpuId(1) + NpuId(1);
#endif
