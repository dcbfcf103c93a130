# Is ncclog-replay built? Where the CUDA Toolkit (12 or later) and nccl.h are found, it is.
#
# NCCLOG_REPLAY: AUTO takes what is there, ON makes their absence an error, OFF does not look.
# Sets NCCLOG_BUILDS_REPLAY and defines CUDA::cudart_static and NCCL::header. NCCL itself is loaded
# at run time, so that a job's own library can be replayed with.

set(NCCLOG_REPLAY AUTO CACHE STRING "Build ncclog-replay: AUTO, ON or OFF")
set_property(CACHE NCCLOG_REPLAY PROPERTY STRINGS AUTO ON OFF)
set(NCCLOG_BUILDS_REPLAY OFF)

function(ncclog_replay_is_missing reason)
  if(NCCLOG_REPLAY STREQUAL "AUTO")
    message(STATUS "ncclog-replay is not built: ${reason}")
  else()
    message(FATAL_ERROR "ncclog-replay cannot be built: ${reason}")
  endif()
endfunction()

macro(ncclog_find_replay)
  find_program(NCCLOG_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
  if(NOT NCCLOG_NVCC)
    ncclog_replay_is_missing("no nvcc of a CUDA Toolkit was found")
  else()
    get_filename_component(NCCLOG_CUDA_ROOT ${NCCLOG_NVCC} DIRECTORY)
    get_filename_component(NCCLOG_CUDA_ROOT ${NCCLOG_CUDA_ROOT} DIRECTORY)
    find_path(NCCLOG_NCCL_INCLUDE nccl.h HINTS ENV NCCL_HOME ${NCCLOG_CUDA_ROOT} PATH_SUFFIXES include)
    if(NOT NCCLOG_NCCL_INCLUDE)
      ncclog_replay_is_missing("nccl.h was not found")
    else()
      set(CMAKE_CUDA_COMPILER ${NCCLOG_NVCC})
      if(NOT CMAKE_CUDA_ARCHITECTURES)
        set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 90-real 90-virtual)
      endif()
      enable_language(CUDA)
      set(CMAKE_CUDA_STANDARD 17)
      find_package(CUDAToolkit 12 REQUIRED)
      add_library(ncclog_nccl_header INTERFACE)
      add_library(NCCL::header ALIAS ncclog_nccl_header)
      target_include_directories(ncclog_nccl_header SYSTEM INTERFACE ${NCCLOG_NCCL_INCLUDE})
      set(NCCLOG_BUILDS_REPLAY ON)
      message(STATUS "ncclog-replay is built with CUDA ${CUDAToolkit_VERSION}")
    endif()
  endif()
endmacro()

if(NOT NCCLOG_REPLAY STREQUAL "OFF")
  ncclog_find_replay()
endif()
