// A VertexId is no other id and no bare number.
#include <cstdint>

#include "tenex/base/ids.hpp"

using namespace tenex;

VertexId next(VertexId id) { return VertexId(id.value() + 1); }

#ifdef CONTROL
const VertexId kept = VertexId(1);
const bool same = VertexId(1) == VertexId(2);
const VertexId argument = next(VertexId(1));
const std::uint32_t number = VertexId(1).value();
const int items[2] = {0, 1};
const int item = items[VertexId(1).index()];
#else
// expect: conversion from|no viable conversion
const VertexId kept1 = NpuId(1);
// expect: no match for 'operator=='|invalid operands
const bool same2 = VertexId(1) == NpuId(1);
// expect: conversion from|no viable conversion
const VertexId kept3 = LinkId(1);
// expect: no match for 'operator=='|invalid operands
const bool same4 = VertexId(1) == LinkId(1);
// expect: conversion from|no viable conversion
const VertexId kept5 = ChunkId(1);
// expect: no match for 'operator=='|invalid operands
const bool same6 = VertexId(1) == ChunkId(1);
// expect: conversion from|no viable conversion
const VertexId kept7 = GroupId(1);
// expect: no match for 'operator=='|invalid operands
const bool same8 = VertexId(1) == GroupId(1);
// expect: conversion from|no viable conversion
const VertexId kept9 = MessageId(1);
// expect: no match for 'operator=='|invalid operands
const bool same10 = VertexId(1) == MessageId(1);
// expect: no matching function|no matching conversion
const VertexId kept11 = VertexId(NpuId(1));
// expect: could not convert|no viable conversion|no matching function
const VertexId argument12 = next(NpuId(1));
// expect: conversion from|no viable conversion
const VertexId kept13 = 1U;
// expect: no match for 'operator=='|invalid operands
const bool same14 = VertexId(1) == 1U;
// expect: could not convert|no viable conversion|no matching function
const VertexId argument15 = next(1U);
// expect: cannot convert|no viable conversion
const std::uint32_t number16 = VertexId(1);
const int items17[2] = {0, 1};
// expect: no match for .operator..|no viable overloaded operator|invalid types
const int item17 = items17[VertexId(1)];
// expect: no match for 'operator\+'|invalid operands
const auto sum18 = VertexId(1) + VertexId(1);
#endif
