// A MessageId is no other id and no bare number.
#include <cstdint>

#include "tenex/base/ids.hpp"

using namespace tenex;

MessageId next(MessageId id) { return MessageId(id.value() + 1); }

#ifdef CONTROL
const MessageId kept = MessageId(1);
const bool same = MessageId(1) == MessageId(2);
const MessageId argument = next(MessageId(1));
const std::uint32_t number = MessageId(1).value();
const int items[2] = {0, 1};
const int item = items[MessageId(1).index()];
#else
// expect: conversion from|no viable conversion
const MessageId kept1 = NpuId(1);
// expect: no match for 'operator=='|invalid operands
const bool same2 = MessageId(1) == NpuId(1);
// expect: conversion from|no viable conversion
const MessageId kept3 = VertexId(1);
// expect: no match for 'operator=='|invalid operands
const bool same4 = MessageId(1) == VertexId(1);
// expect: conversion from|no viable conversion
const MessageId kept5 = LinkId(1);
// expect: no match for 'operator=='|invalid operands
const bool same6 = MessageId(1) == LinkId(1);
// expect: conversion from|no viable conversion
const MessageId kept7 = ChunkId(1);
// expect: no match for 'operator=='|invalid operands
const bool same8 = MessageId(1) == ChunkId(1);
// expect: conversion from|no viable conversion
const MessageId kept9 = GroupId(1);
// expect: no match for 'operator=='|invalid operands
const bool same10 = MessageId(1) == GroupId(1);
// expect: no matching function|no matching conversion
const MessageId kept11 = MessageId(NpuId(1));
// expect: could not convert|no viable conversion|no matching function
const MessageId argument12 = next(NpuId(1));
// expect: conversion from|no viable conversion
const MessageId kept13 = 1U;
// expect: no match for 'operator=='|invalid operands
const bool same14 = MessageId(1) == 1U;
// expect: could not convert|no viable conversion|no matching function
const MessageId argument15 = next(1U);
// expect: cannot convert|no viable conversion
const std::uint32_t number16 = MessageId(1);
const int items17[2] = {0, 1};
// expect: no match for .operator..|no viable overloaded operator|invalid types
const int item17 = items17[MessageId(1)];
// expect: no match for 'operator\+'|invalid operands
const auto sum18 = MessageId(1) + MessageId(1);
#endif
