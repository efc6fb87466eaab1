# SPDX-License-Identifier: MIT
#
# Owns how programs of LLVM are found: Debian's names have a number, those of other systems have not.

# For find_program(), with the oldest good version in `version`.
function(redzone_llvm_fits result program)
  execute_process(COMMAND ${program} --version OUTPUT_VARIABLE text ERROR_QUIET)
  # Apple counts otherwise.
  if(text MATCHES "Apple" OR NOT text MATCHES "([0-9]+)[.][0-9]" OR CMAKE_MATCH_1 LESS version)
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

# redzone_llvm(<variable> <name> <version> [<description>]): look in PATH for <name>-<version>, then for <name> of that
# version or a newer one. The variable is in the cache.
function(redzone_llvm variable name version)
  find_program(${variable} NAMES ${name}-${version} ${name} VALIDATOR redzone_llvm_fits REQUIRED
    NO_CMAKE_SYSTEM_PATH DOC "${ARGN}")
endfunction()
