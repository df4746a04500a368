// A ComputeRate is no other quantity and no bare number.
#include <cstdint>

#include "tenex/workload/compute.hpp"

using namespace tenex;

ComputeRate twice(ComputeRate value) { return value + value; }

#ifdef CONTROL
const ComputeRate kept = flops_per_second(1);
const ComputeRate sum = flops_per_second(1) + flops_per_second(2);
const bool order = flops_per_second(1) < flops_per_second(2);
const ComputeRate argument = twice(flops_per_second(1));
const std::int64_t number = flops_per_second(1).count();
const SimTime time = compute_time(flops(1), flops_per_second(1));
#else
// expect: conversion from|no viable conversion
const ComputeRate kept1 = flops(1);
// expect: no match for 'operator\+'|invalid operands
const auto sum2 = flops_per_second(1) + flops(2);
// expect: no match for 'operator<'|invalid operands
const bool order3 = flops_per_second(1) < flops(2);
// expect: could not convert|no viable conversion|no matching function
const ComputeRate argument4 = twice(bytes(1));
// expect: conversion from|no viable conversion
const ComputeRate kept5 = 1;
// expect: is private within this context|calling a private constructor
const ComputeRate kept6(1);
// expect: cannot convert|no viable conversion
const std::int64_t number7 = flops_per_second(1);
// expect: could not convert|no viable conversion|no matching function
const SimTime time8 = compute_time(flops_per_second(1), flops(1));
#endif
