# L3: one op per file set. Files under host/isa are compiled once per instruction set, each into its own namespace.
file(GLOB isa_sources CONFIGURE_DEPENDS kernels/host/isa/*.cpp)
if(SHOAL_SANITIZER STREQUAL "address")
  # What matters in here, reads and writes of tensors and of arrays on the stack, is checked; every lane of every
  # operation is not, and loops stay as they are: a fourth of the compile time.
  set_source_files_properties(${isa_sources} PROPERTIES
    COMPILE_OPTIONS "-O2;-fno-sanitize=undefined;-fno-sanitize-address-use-after-scope")
  file(GLOB host_sources CONFIGURE_DEPENDS kernels/host/*.cpp)
  set_source_files_properties(${host_sources} PROPERTIES COMPILE_OPTIONS -fsanitize=alignment)
endif()
foreach(isa baseline avx2 avx512)
  set(baseline_flags)
  set(baseline_vector_bytes 16)
  set(avx2_flags -mavx2 -mfma)
  set(avx2_vector_bytes 32)
  set(avx512_flags -mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma -mprefer-vector-width=512)
  set(avx512_vector_bytes 64)
  if(isa_sources)
    add_library(shoal_kernels_${isa} OBJECT ${isa_sources})
    target_compile_definitions(shoal_kernels_${isa} PRIVATE SHOAL_ISA=${isa} SHOAL_VECTOR_BYTES=${${isa}_vector_bytes})
    target_compile_options(shoal_kernels_${isa} PRIVATE -O3 -fno-math-errno -fno-trapping-math ${${isa}_flags})
    target_link_libraries(shoal_kernels_${isa} PRIVATE shoal_flags shoal_base)
    list(APPEND isa_objects $<TARGET_OBJECTS:shoal_kernels_${isa}>)
  endif()
endforeach()
shoal_row(shoal_kernels kernels FOLDERS . host LINKS shoal_tensor
          PRIVATE_LINKS fmt::fmt)
target_sources(shoal_kernels PRIVATE ${isa_objects})
