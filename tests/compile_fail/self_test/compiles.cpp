// The case compiles: check.cmake must refuse this file.
#ifdef CONTROL
const int kept = 1;
#else
// expect: conversion from
const int kept1 = 2;
#endif
