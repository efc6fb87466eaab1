# SPDX-License-Identifier: MIT
#
# FreeRTOS under KASAN, for CMake: include this behind add_subdirectory(redzone) or find_package(Redzone).
#
#   redzone_add_freertos(<target> RAM_START <n> RAM_SIZE <n> FLASH_START <n> FLASH_SIZE <n> HEAP 1|2|3|4|5
#                        [SHADOW_START <n>] [INCLUDES <folder>...] [DEFINES <macro[=value]>...] [OPTIONS <option>...])
#   redzone_freertos(<executable> RUNTIME <target>)
#
# The first makes the runtime and the port as a static library. INCLUDES are the folders of FreeRTOSConfig.h and of
# FreeRTOS's headers, OPTIONS what the tree compiles C with. It leaves ${<target>_WINDOW_SIZE}: the LENGTH of the RAM in
# the linker script. The second has the files of <executable> checked, except FreeRTOS's portable files; kasan_sanitize()
# leaves out more. Call it behind the last target_sources().
include_guard(GLOBAL)
set(REDZONE_FREERTOS_DIR ${CMAKE_CURRENT_LIST_DIR})

function(redzone_add_freertos target)
  set(numbers RAM_START RAM_SIZE FLASH_START FLASH_SIZE HEAP)
  cmake_parse_arguments(PARSE_ARGV 1 rf "" "${numbers};SHADOW_START" "INCLUDES;DEFINES;OPTIONS")
  foreach(name IN LISTS numbers)
    if(NOT DEFINED rf_${name})
      message(FATAL_ERROR "redzone_add_freertos(${target}): give ${name}; the head of kasan_freertos.cmake says what it is")
    endif()
  endforeach()
  if(rf_SHADOW_START)
    math(EXPR window "${rf_RAM_SIZE} & ~63" OUTPUT_FORMAT HEXADECIMAL)
  else()
    # A multiple of 64, so that the shadow is one of 8.
    math(EXPR window "${rf_RAM_SIZE} / 9 * 8 & ~63" OUTPUT_FORMAT HEXADECIMAL)
    math(EXPR rf_SHADOW_START "${rf_RAM_START} + ${window}" OUTPUT_FORMAT HEXADECIMAL)
  endif()
  math(EXPR offset "${rf_SHADOW_START} - ${rf_RAM_START} / 8" OUTPUT_FORMAT HEXADECIMAL)
  math(EXPR window_end "${rf_RAM_START} + ${window}" OUTPUT_FORMAT HEXADECIMAL)
  math(EXPR flash_end "${rf_FLASH_START} + ${rf_FLASH_SIZE}" OUTPUT_FORMAT HEXADECIMAL)

  set(template ${REDZONE_FREERTOS_DIR}/../template)
  set(heap kernel_heap.c)
  set(wrapped pvPortMalloc pvPortCalloc vPortFree vApplicationMallocFailedHook vPortDefineHeapRegions)
  if(rf_HEAP EQUAL 3)
    set(heap libc_heap.c)
    set(wrapped malloc free calloc realloc _malloc_r _free_r _calloc_r _realloc_r)
  endif()
  set(files port.c tasks.c fault.c guard.c heap.c ${heap} probe.c)
  list(TRANSFORM files PREPEND ${REDZONE_FREERTOS_DIR}/)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(arm|cortex)")
    list(APPEND files ${template}/cortexm_fault.c)
  endif()
  redzone_add_runtime(${target} OUTLINE SHADOW_OFFSET ${offset} PORT ${files}
    DEFINES KASAN_FREERTOS_HEAP=${rf_HEAP} CONFIG_KASAN_WINDOW_START=${rf_RAM_START}UL
            CONFIG_KASAN_WINDOW_SIZE=${window}UL ${rf_DEFINES} OPTIONS ${rf_OPTIONS})
  target_include_directories(${target} PUBLIC ${REDZONE_FREERTOS_DIR} ${template} PRIVATE ${rf_INCLUDES})
  get_target_property(checks ${target} REDZONE_INSTRUMENT)
  set_property(SOURCE ${REDZONE_FREERTOS_DIR}/probe.c APPEND PROPERTY COMPILE_OPTIONS "${checks}")
  # So that the stack of an allocation starts at its caller.
  set_property(SOURCE ${REDZONE_FREERTOS_DIR}/${heap} APPEND PROPERTY COMPILE_OPTIONS -foptimize-sibling-calls)
  list(TRANSFORM wrapped PREPEND -Wl,--wrap=)
  target_link_options(${target} INTERFACE ${wrapped} -L${REDZONE_FREERTOS_DIR}
    -Wl,--defsym=__kasan_window_start=${rf_RAM_START} -Wl,--defsym=__kasan_window_end=${window_end}
    -Wl,--defsym=__kasan_shadow_start=${rf_SHADOW_START}
    -Wl,--defsym=__kasan_flash_start=${rf_FLASH_START} -Wl,--defsym=__kasan_flash_end=${flash_end})
  set(${target}_WINDOW_SIZE ${window} PARENT_SCOPE)
endfunction()

function(redzone_freertos target)
  cmake_parse_arguments(PARSE_ARGV 1 rf "" "RUNTIME" "")
  get_target_property(files ${target} SOURCES)
  foreach(file IN LISTS files)
    if(file MATCHES "/portable/.*\\.c$")
      kasan_sanitize(${target} ${file} OFF)
    endif()
    if(file MATCHES "/heap_[1-5]\\.c$")
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_DEFINITIONS memset=__memset)
    endif()
  endforeach()
  redzone_instrument(${target} RUNTIME ${rf_RUNTIME})
endfunction()
