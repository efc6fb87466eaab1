# SPDX-License-Identifier: MIT
#
# What runs beside the kernel's image: loadable modules, and programs of user mode.

# redzone_add_module(<name> SOURCES <file>... [INCLUDES <folder>...] [DEFINES <macro[=value]>...]
#                    [OPTIONS <compiler option>...])
#
# A loadable module, compiled as the kernel is: the relocatable file <name>.ko in the build folder. Makes the
# target <name>. For module-NAME, which are the user's, the file is modules/NAME.ko: Linux's decode_stacktrace.sh
# looks for a module under the name that the kernel has for it.
function(redzone_add_module name)
  cmake_parse_arguments(PARSE_ARGV 1 module "" "" "SOURCES;INCLUDES;DEFINES;OPTIONS")
  add_library(${name}.objects OBJECT EXCLUDE_FROM_ALL ${module_SOURCES})
  target_include_directories(${name}.objects PRIVATE ${module_INCLUDES})
  target_include_directories(${name}.objects SYSTEM PRIVATE ${kernel_includes})
  target_compile_definitions(${name}.objects PRIVATE ${kernel_defs} MODULE=1 ${module_DEFINES})
  target_compile_options(${name}.objects PRIVATE -std=gnu17 -ffreestanding ${kernel_options}
    ${module_OPTIONS})
  kasan_instrument(${name}.objects)
  set(linked ${CMAKE_BINARY_DIR}/${name}.ko)
  if(name MATCHES "^module-(.+)$")
    target_compile_options(${name}.objects BEFORE PRIVATE ${user_checks})
    set(linked ${CMAKE_BINARY_DIR}/modules/${CMAKE_MATCH_1}.ko)
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/modules)
  endif()
  add_custom_command(OUTPUT ${linked}
    COMMAND ${REDZONE_LINKER} -r "$<TARGET_OBJECTS:${name}.objects>" -o ${linked}
    DEPENDS ${name}.objects "$<TARGET_OBJECTS:${name}.objects>"
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Joining the module ${name}")
  add_custom_target(${name} DEPENDS ${linked})
endfunction()

# redzone_user_program(<name> FOLDER <folder>)
#
# A program for user mode, of the files that sources.cmake of the folder names: static, at a fixed address,
# without a C library, and not instrumented, because KASAN is the kernel's. Makes the target <name> and
# <name>.elf in the build folder.
function(redzone_user_program name)
  cmake_parse_arguments(PARSE_ARGV 1 user "" "FOLDER" "")
  include(${user_FOLDER}/sources.cmake)
  list(TRANSFORM REDZONE_USER_PROGRAM_SOURCES PREPEND ${user_FOLDER}/ OUTPUT_VARIABLE files)
  add_library(${name}.objects OBJECT EXCLUDE_FROM_ALL ${files})
  target_include_directories(${name}.objects PRIVATE ${arch_dir}/tests)
  target_compile_definitions(${name}.objects PRIVATE CONFIG_PAGE_SHIFT=${REDZONE_PAGE_SHIFT})
  target_compile_options(${name}.objects PRIVATE -std=gnu17 -ffreestanding ${common_options}
                         ${REDZONE_WARNINGS})
  set(linked ${CMAKE_BINARY_DIR}/${name}.elf)
  add_custom_command(OUTPUT ${linked}
    COMMAND ${REDZONE_LINKER} -nostdlib -static --fatal-warnings --build-id=none --strip-debug
      -z max-page-size=${page_size} -z noexecstack --image-base=${REDZONE_USER_BASE} -e _start
      "$<TARGET_OBJECTS:${name}.objects>" -o ${linked}
    DEPENDS ${name}.objects "$<TARGET_OBJECTS:${name}.objects>"
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "User program ${name}")
  add_custom_target(${name} DEPENDS ${linked})
endfunction()

# redzone_embed_module(<name> <source> <blob>): the assembly file <blob> includes the module's file, without
# debug information, as MODULE_<NAME>_FILE. Makes the target module_<name>.stripped.
function(redzone_embed_module name source blob)
  set(stripped ${CMAKE_BINARY_DIR}/tests/module_${name}.ko)
  redzone_add_module(module_${name} SOURCES ${source} OPTIONS ${REDZONE_WARNINGS})
  add_custom_command(OUTPUT ${stripped}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/tests
    COMMAND ${REDZONE_OBJCOPY} --strip-debug ${CMAKE_BINARY_DIR}/module_${name}.ko ${stripped}
    DEPENDS module_${name} ${CMAKE_BINARY_DIR}/module_${name}.ko VERBATIM
    COMMENT "Stripping module_${name}")
  add_custom_target(module_${name}.stripped DEPENDS ${stripped})
  string(TOUPPER ${name} key)
  set_property(SOURCE ${blob} APPEND PROPERTY COMPILE_DEFINITIONS
               "MODULE_${key}_FILE=\"${stripped}\"")
  set_property(SOURCE ${blob} APPEND PROPERTY OBJECT_DEPENDS ${stripped})
endfunction()
