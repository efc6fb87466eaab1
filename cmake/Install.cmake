# SPDX-License-Identifier: MIT
#
# Owns what `cmake --install` puts where. The runtime is installed as source: it is compiled by the tree that
# uses it, with that tree's compiler, for that tree's port.
#
#   include/kasan/            the public headers
#   include/sanitizer/        some of them, under their compilers' names
#   share/redzone/            runtime/, fuzz/, redzone.mk, kasan-flags.json, the example template/
#   share/cmake/Redzone/      find_package(Redzone)
#   share/pkgconfig/          redzone.pc
# No compiler is asked, so the one directory that depends on it is said here; nothing goes there.
set(CMAKE_INSTALL_LIBDIR lib CACHE PATH "Unused")
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
include(RedzoneRuntime)

set(REDZONE_INSTALL_SOURCES ${CMAKE_INSTALL_DATADIR}/redzone)
set(REDZONE_INSTALL_INCLUDE ${CMAKE_INSTALL_INCLUDEDIR})
set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/Redzone)

install(DIRECTORY include/kasan include/sanitizer DESTINATION ${REDZONE_INSTALL_INCLUDE} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY runtime fuzz DESTINATION ${REDZONE_INSTALL_SOURCES}
        FILES_MATCHING PATTERN "*.c" PATTERN "*.h" PATTERN "sources.cmake")
install(DIRECTORY ports/template DESTINATION ${REDZONE_INSTALL_SOURCES} PATTERN "build" EXCLUDE)
install(FILES redzone.mk llvm.mk cmake/constructors.lds cmake/kasan-flags.json LICENSE DESTINATION ${REDZONE_INSTALL_SOURCES})

# --- find_package() ------------------------------------------------------------------------------------
configure_package_config_file(cmake/RedzoneConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/RedzoneConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS REDZONE_INSTALL_SOURCES REDZONE_INSTALL_INCLUDE)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/RedzoneConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/RedzoneConfig.cmake
        ${CMAKE_CURRENT_BINARY_DIR}/RedzoneConfigVersion.cmake cmake/RedzoneRuntime.cmake
        DESTINATION ${package_dir})

# --- pkg-config: one variable per compiler and kind of check, the offset is the user's -----------------------
# _variable(<name> <kind> <words>): append the options of these words to REDZONE_PC_VARIANTS.
function(_variable name kind words)
  redzone_flags(flags ${kind} "${words}" "\${shadow_offset}")
  list(JOIN flags " " flags)
  set(REDZONE_PC_VARIANTS "${REDZONE_PC_VARIANTS}${name}=${flags}\n" PARENT_SCOPE)
endfunction()
foreach(cc IN ITEMS clang gcc)
  foreach(where IN ITEMS inline outline)
    _variable(${cc}_${where} instrument "${cc};${where};offset;stack;globals;generic")
    if(cc STREQUAL "clang")
      _variable(clang_${where}_dynamic instrument "clang;${where};dynamic;stack;globals;generic")
    endif()
    # GCC does not inline tag checks.
    if(NOT "${cc}_${where}" STREQUAL "gcc_inline")
      _variable(${cc}_sw_tags_${where} instrument "${cc};${where};offset;stack;sw_tags;arm64")
    endif()
    if(cc STREQUAL "clang")
      set(words "clang;${where};offset;stack;sw_tags;arm64;tagged_globals")
      _variable(clang_tagged_globals_${where} instrument "${words}")
    endif()
  endforeach()
  _variable(${cc}_code code "${cc}")
  _variable(${cc}_code_arm64 code "${cc};arm64")
  if(cc STREQUAL "clang")
    _variable(clang_code_tagged_globals code "clang;arm64;sw_tags;tagged_globals")
    _variable(clang_mte_stack instrument "clang;arm64;hw_tags;stack")
  endif()
  _variable(${cc}_code_hw_tags code "${cc};arm64;hw_tags")
endforeach()
redzone_flags(REDZONE_PC_RUNTIME runtime "" "" "\${optimize}")
list(JOIN REDZONE_PC_RUNTIME " " REDZONE_PC_RUNTIME)
redzone_flags(REDZONE_PC_RUNTIME_X86_64 runtime "x86_64" "" "\${optimize}")
list(JOIN REDZONE_PC_RUNTIME_X86_64 " " REDZONE_PC_RUNTIME_X86_64)
include(${CMAKE_CURRENT_SOURCE_DIR}/runtime/sources.cmake)
list(TRANSFORM REDZONE_RUNTIME_SOURCES PREPEND "\${sourcedir}/runtime/" OUTPUT_VARIABLE REDZONE_PC_SOURCES)
list(JOIN REDZONE_PC_SOURCES " " REDZONE_PC_SOURCES)
configure_file(cmake/redzone.pc.in ${CMAKE_CURRENT_BINARY_DIR}/redzone.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/redzone.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)
