# SPDX-License-Identifier: MIT
#
# Owns what `cmake --install` puts where. The runtime is installed as source: it is compiled by the tree that
# uses it, with that tree's compiler, for that tree's port.
#
#   include/kasan/            the public headers
#   share/redzone/            runtime/, redzone.mk, kasan-flags.json, the example template/
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

install(DIRECTORY include/kasan DESTINATION ${REDZONE_INSTALL_INCLUDE} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY runtime DESTINATION ${REDZONE_INSTALL_SOURCES}
        FILES_MATCHING PATTERN "*.c" PATTERN "*.h" PATTERN "sources.cmake")
install(DIRECTORY ports/template DESTINATION ${REDZONE_INSTALL_SOURCES} PATTERN "build" EXCLUDE)
install(FILES redzone.mk cmake/kasan-flags.json LICENSE DESTINATION ${REDZONE_INSTALL_SOURCES})

# --- find_package() ------------------------------------------------------------------------------------
configure_package_config_file(cmake/RedzoneConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/RedzoneConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS REDZONE_INSTALL_SOURCES REDZONE_INSTALL_INCLUDE)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/RedzoneConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/RedzoneConfig.cmake
        ${CMAKE_CURRENT_BINARY_DIR}/RedzoneConfigVersion.cmake cmake/RedzoneRuntime.cmake
        DESTINATION ${package_dir})

# --- pkg-config: one variable per compiler and kind of check, the offset is the user's -----------------------
foreach(variant IN ITEMS "clang_inline:clang inline offset" "clang_outline:clang outline offset"
        "clang_inline_dynamic:clang inline dynamic" "clang_outline_dynamic:clang outline dynamic"
        "gcc_inline:gcc inline offset" "gcc_outline:gcc outline offset")
  string(REGEX MATCH "^([a-z_]+):(.*)$" ignored "${variant}")
  set(name ${CMAKE_MATCH_1})
  string(REPLACE " " ";" words "${CMAKE_MATCH_2}")
  redzone_flags(flags instrument "${words};stack;globals" "\${shadow_offset}")
  list(JOIN flags " " flags)
  string(APPEND REDZONE_PC_VARIANTS "${name}=${flags}\n")
endforeach()
foreach(variant IN ITEMS clang_code:clang gcc_code:gcc "gcc_code_arm64:gcc arm64")
  string(REGEX MATCH "^([a-z_0-9]+):(.*)$" ignored "${variant}")
  set(name ${CMAKE_MATCH_1})
  string(REPLACE " " ";" words "${CMAKE_MATCH_2}")
  redzone_flags(flags code "${words}")
  list(JOIN flags " " flags)
  string(APPEND REDZONE_PC_VARIANTS "${name}=${flags}\n")
endforeach()
redzone_flags(REDZONE_PC_RUNTIME runtime "")
list(JOIN REDZONE_PC_RUNTIME " " REDZONE_PC_RUNTIME)
include(${CMAKE_CURRENT_SOURCE_DIR}/runtime/sources.cmake)
list(TRANSFORM REDZONE_RUNTIME_SOURCES PREPEND "\${sourcedir}/runtime/" OUTPUT_VARIABLE REDZONE_PC_SOURCES)
list(JOIN REDZONE_PC_SOURCES " " REDZONE_PC_SOURCES)
configure_file(cmake/redzone.pc.in ${CMAKE_CURRENT_BINARY_DIR}/redzone.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/redzone.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)
