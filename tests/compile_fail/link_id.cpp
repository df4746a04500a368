// A LinkId is no other id and no bare number.
#include <cstdint>

#include "tenex/base/ids.hpp"

using namespace tenex;

LinkId next(LinkId id) { return LinkId(id.value() + 1); }

#ifdef CONTROL
const LinkId kept = LinkId(1);
const bool same = LinkId(1) == LinkId(2);
const LinkId argument = next(LinkId(1));
const std::uint32_t number = LinkId(1).value();
const int items[2] = {0, 1};
const int item = items[LinkId(1).index()];
#else
// expect: conversion from|no viable conversion
const LinkId kept1 = NpuId(1);
// expect: no match for 'operator=='|invalid operands
const bool same2 = LinkId(1) == NpuId(1);
// expect: conversion from|no viable conversion
const LinkId kept3 = VertexId(1);
// expect: no match for 'operator=='|invalid operands
const bool same4 = LinkId(1) == VertexId(1);
// expect: conversion from|no viable conversion
const LinkId kept5 = ChunkId(1);
// expect: no match for 'operator=='|invalid operands
const bool same6 = LinkId(1) == ChunkId(1);
// expect: conversion from|no viable conversion
const LinkId kept7 = GroupId(1);
// expect: no match for 'operator=='|invalid operands
const bool same8 = LinkId(1) == GroupId(1);
// expect: conversion from|no viable conversion
const LinkId kept9 = MessageId(1);
// expect: no match for 'operator=='|invalid operands
const bool same10 = LinkId(1) == MessageId(1);
// expect: no matching function|no matching conversion
const LinkId kept11 = LinkId(NpuId(1));
// expect: could not convert|no viable conversion|no matching function
const LinkId argument12 = next(NpuId(1));
// expect: conversion from|no viable conversion
const LinkId kept13 = 1U;
// expect: no match for 'operator=='|invalid operands
const bool same14 = LinkId(1) == 1U;
// expect: could not convert|no viable conversion|no matching function
const LinkId argument15 = next(1U);
// expect: cannot convert|no viable conversion
const std::uint32_t number16 = LinkId(1);
const int items17[2] = {0, 1};
// expect: no match for .operator..|no viable overloaded operator|invalid types
const int item17 = items17[LinkId(1)];
// expect: no match for 'operator\+'|invalid operands
const auto sum18 = LinkId(1) + LinkId(1);
#endif
