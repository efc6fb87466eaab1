# SPDX-License-Identifier: MIT
#
# Links images: the linker script, two passes with the symbol table in between, and the boot Image.

set(assembler_target "")
if(CMAKE_C_COMPILER_TARGET)
  set(assembler_target --target=${CMAKE_C_COMPILER_TARGET})
endif()
# The linker script has its numbers from <asm/memory.h>.
set(linker_script ${CMAKE_BINARY_DIR}/kernel.lds)
list(TRANSFORM kernel_defs PREPEND -D OUTPUT_VARIABLE script_options)
list(APPEND script_options ${assembler_target})
add_custom_command(OUTPUT ${linker_script}
  COMMAND ${CMAKE_C_COMPILER} -E -P -x assembler-with-cpp ${script_options}
          -I${CMAKE_SOURCE_DIR}/include -I${arch_dir}/include -MD -MF ${linker_script}.d -MT kernel.lds
          ${CMAKE_SOURCE_DIR}/kernel/kernel.lds.S -o ${linker_script}
  DEPENDS ${CMAKE_SOURCE_DIR}/kernel/kernel.lds.S DEPFILE ${linker_script}.d
  COMMENT "Linker script" VERBATIM)
add_custom_target(linker_script DEPENDS ${linker_script})

# lld is called as such: the same line links the objects of both compilers. Assemblers for RISC-V leave labels of their own in
# the symbol table, which are no function's name: -X.
set(CMAKE_C_LINK_EXECUTABLE
  "${REDZONE_LINKER} -nostdlib -static --no-gc-sections -X --fatal-warnings --build-id=none \
-z max-page-size=${page_size} -z noexecstack -T \"${linker_script}\" <LINK_FLAGS> <OBJECTS> -o <TARGET>")

# redzone_image(<name> LINK <linker options>... OBJECTS <objects>... SOURCES <files>...): two link passes
# and the boot Image. Makes the target <name>; files <name>.elf and <name>.Image in the build folder.
function(redzone_image name)
  cmake_parse_arguments(PARSE_ARGV 1 image "" "" "OBJECTS;LINK")
  set(table ${CMAKE_BINARY_DIR}/kallsyms/${name}.s)
  set(elf ${CMAKE_BINARY_DIR}/${name}.elf)
  set(image ${CMAKE_BINARY_DIR}/${name}.Image)
  set(kallsyms ${build_scripts}/kallsyms.py)

  foreach(pass IN ITEMS pass1 pass2)
    add_executable(${name}.${pass} EXCLUDE_FROM_ALL ${image_OBJECTS})
    target_link_options(${name}.${pass} PRIVATE ${image_LINK})
    set_target_properties(${name}.${pass} PROPERTIES LINK_DEPENDS ${linker_script} LINKER_LANGUAGE C)
    add_dependencies(${name}.${pass} linker_script)
  endforeach()
  # Not one of the target's sources: CMake's line for assembly asks for a list of headers, and so for a preprocessor,
  # which takes longer than the assembler.
  add_custom_command(OUTPUT ${table}.o
    COMMAND ${REDZONE_PYTHON} ${kallsyms} generate $<TARGET_FILE:${name}.pass1> ${table}
    COMMAND ${CMAKE_C_COMPILER} ${assembler_target} ${REDZONE_ARCH_ABI} -c ${table} -o ${table}.o
    DEPENDS ${name}.pass1 ${kallsyms} ${elf_tools}
    COMMENT "Symbol table of ${name}" VERBATIM)
  set_source_files_properties(${table}.o PROPERTIES GENERATED TRUE EXTERNAL_OBJECT TRUE)
  target_sources(${name}.pass2 PRIVATE ${table}.o)
  set_target_properties(${name}.pass2 PROPERTIES OUTPUT_NAME ${name}.elf)
  add_custom_command(OUTPUT ${image}
    COMMAND ${REDZONE_PYTHON} ${kallsyms} check ${elf} ${table}
    COMMAND ${REDZONE_OBJCOPY} -O binary ${elf} ${image}
    DEPENDS ${name}.pass2 ${kallsyms} ${elf_tools}
    COMMENT "Image of ${name}" VERBATIM)
  add_custom_target(${name} DEPENDS ${image})
endfunction()
