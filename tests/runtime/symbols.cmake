# What the runtime asks of its surroundings is a closed list: the C library and pthread. And what it shows them is its API alone.
# cmake -DNM=nm -DARCHIVE=libashlar_runtime.a -P symbols.cmake
cmake_minimum_required(VERSION 3.22)
set(allowed
  # C
  atexit calloc fclose ferror fopen fprintf fputc free fwrite getenv malloc memcmp memcpy memmove memset snprintf stderr strcmp strlen strncmp strtol vsnprintf
  # POSIX
  clock_gettime getauxval posix_memalign sigfillset sysconf sched_getaffinity sched_getcpu __sched_cpucount __errno_location
  # CUDA and Vulkan, opened when they are first asked for
  dlopen dlsym
  # pthread
  pthread_atfork pthread_attr_destroy pthread_attr_init pthread_attr_setdetachstate pthread_cond_signal pthread_cond_wait
  pthread_create pthread_getaffinity_np pthread_setaffinity_np pthread_mutex_lock pthread_mutex_unlock pthread_once pthread_sigmask
  # what compilers add
  _GLOBAL_OFFSET_TABLE_ __stack_chk_fail __fprintf_chk __snprintf_chk __vsnprintf_chk __isoc23_strtol __memcpy_chk)
set(api
  ashlar_abi1_call ashlar_abi1_prepare ashlar_abi1_profile_enter ashlar_abi1_profile_leave
  ashlar_abi1_library_call ashlar_abi1_library_prepare ashlar_abi1_library_run ashlar_abi1_library_workspace_bytes
  ashlar_abi1_cuda_begin ashlar_abi1_cuda_end ashlar_abi1_cuda_run ashlar_abi1_cuda_settle
  ashlar_code_name ashlar_cpu_feature_name ashlar_cuda_multiprocessors ashlar_cpu_missing ashlar_default_context ashlar_error_text ashlar_last_error ashlar_profile_start ashlar_profile_write ashlar_set_allocator ashlar_set_pool
  ashlar_set_target ashlar_set_threads ashlar_threads ashlar_version)
if(VULKAN)
  list(APPEND api
    ashlar_abi1_vulkan_begin ashlar_abi1_vulkan_end ashlar_abi1_vulkan_run ashlar_abi1_vulkan_settle
    ashlar_vulkan_alloc ashlar_vulkan_cache_load ashlar_vulkan_cache_save ashlar_vulkan_close ashlar_vulkan_device_name
    ashlar_vulkan_download ashlar_vulkan_features ashlar_vulkan_free ashlar_vulkan_open ashlar_vulkan_subgroup
    ashlar_vulkan_upload ashlar_vulkan_wait)
endif()

execute_process(COMMAND ${NM} -P ${ARCHIVE} OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[][;]" "" listing "${listing}")  # brackets and semicolons would join lines
string(REPLACE "\n" ";" listing "${listing}")
set(defined "")
set(undefined "")
foreach(line IN LISTS listing)
  if(line MATCHES "^_.stapsdt.base ")
    continue()  # of marks: hidden
  elseif(line MATCHES "^([^ :]+) U")
    list(APPEND undefined ${CMAKE_MATCH_1})
  elseif(line MATCHES "^([^ :]+) [TDBRVW]")
    list(APPEND defined ${CMAKE_MATCH_1})
  endif()
endforeach()
list(LENGTH undefined count)
if(count LESS 10)
  message(FATAL_ERROR "only ${count} undefined symbols read from ${ARCHIVE}")
endif()
foreach(symbol IN LISTS undefined)
  if(NOT symbol IN_LIST allowed AND NOT symbol IN_LIST defined)
    message(SEND_ERROR "the runtime needs ${symbol}, which is not in the closed list")
  endif()
endforeach()
foreach(symbol IN LISTS api)
  if(NOT symbol IN_LIST defined)
    message(SEND_ERROR "the runtime does not define ${symbol}")
  endif()
endforeach()

# visibility: of all that is defined, the API alone
execute_process(COMMAND ${READELF} -sW ${ARCHIVE} OUTPUT_VARIABLE table COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[][;]" "" table "${table}")
string(REPLACE "\n" ";" table "${table}")
foreach(line IN LISTS table)
  if(line MATCHES "GLOBAL +DEFAULT +[0-9]+ +([^ ]+)" AND NOT CMAKE_MATCH_1 IN_LIST api)
    message(SEND_ERROR "${CMAKE_MATCH_1} is visible, expected hidden")
  endif()
endforeach()
