// A GroupId is no other id and no bare number.
#include <cstdint>

#include "tenex/base/ids.hpp"

using namespace tenex;

GroupId next(GroupId id) { return GroupId(id.value() + 1); }

#ifdef CONTROL
const GroupId kept = GroupId(1);
const bool same = GroupId(1) == GroupId(2);
const GroupId argument = next(GroupId(1));
const std::uint32_t number = GroupId(1).value();
const int items[2] = {0, 1};
const int item = items[GroupId(1).index()];
#else
// expect: conversion from|no viable conversion
const GroupId kept1 = NpuId(1);
// expect: no match for 'operator=='|invalid operands
const bool same2 = GroupId(1) == NpuId(1);
// expect: conversion from|no viable conversion
const GroupId kept3 = VertexId(1);
// expect: no match for 'operator=='|invalid operands
const bool same4 = GroupId(1) == VertexId(1);
// expect: conversion from|no viable conversion
const GroupId kept5 = LinkId(1);
// expect: no match for 'operator=='|invalid operands
const bool same6 = GroupId(1) == LinkId(1);
// expect: conversion from|no viable conversion
const GroupId kept7 = ChunkId(1);
// expect: no match for 'operator=='|invalid operands
const bool same8 = GroupId(1) == ChunkId(1);
// expect: conversion from|no viable conversion
const GroupId kept9 = MessageId(1);
// expect: no match for 'operator=='|invalid operands
const bool same10 = GroupId(1) == MessageId(1);
// expect: no matching function|no matching conversion
const GroupId kept11 = GroupId(NpuId(1));
// expect: could not convert|no viable conversion|no matching function
const GroupId argument12 = next(NpuId(1));
// expect: conversion from|no viable conversion
const GroupId kept13 = 1U;
// expect: no match for 'operator=='|invalid operands
const bool same14 = GroupId(1) == 1U;
// expect: could not convert|no viable conversion|no matching function
const GroupId argument15 = next(1U);
// expect: cannot convert|no viable conversion
const std::uint32_t number16 = GroupId(1);
const int items17[2] = {0, 1};
// expect: no match for .operator..|no viable overloaded operator|invalid types
const int item17 = items17[GroupId(1)];
// expect: no match for 'operator\+'|invalid operands
const auto sum18 = GroupId(1) + GroupId(1);
#endif
