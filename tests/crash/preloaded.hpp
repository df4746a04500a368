// What the preloaded libraries share: the C library's own functions, and the environment that tells them what to do.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace {

/// The function of this name that would have been called.
template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/// Empty where it is not set.
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace
