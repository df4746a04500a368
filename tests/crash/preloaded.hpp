// Common to the preloaded libraries: the C library's own functions, and their options from the environment.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace {

/// The next function of this name, which the caller replaces.
template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/// The value of an environment variable; empty if it is not set.
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace
