# Removes the folder of a study, unless tests/long.sh began it with the same sources: then the study goes on.
#   cmake -DFOLDER=... -P keep_study.cmake
set(note ${FOLDER}.key)
set(key "")
if(EXISTS ${note})
  file(READ ${note} key)
endif()
if(NOT key OR NOT key STREQUAL "$ENV{TENEX_LONG_KEY}")
  file(REMOVE_RECURSE ${FOLDER})
  file(WRITE ${note} "$ENV{TENEX_LONG_KEY}")
endif()
