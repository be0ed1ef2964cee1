set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR cortex-m4)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_FLAGS_INIT "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16")
set(CMAKE_EXE_LINKER_FLAGS_INIT
  "--specs=rdimon.specs -nostartfiles -Wl,--defsym=CODE=0x0 -Wl,--defsym=DATA=0x20000000 -Wl,--defsym=DATA_BYTES=0x100000 -Wl,--no-warn-rwx-segments")
