# L0 to L2.
shoal_row(shoal_base runtime FOLDERS base LINKS Threads::Threads PRIVATE_LINKS fmt::fmt PkgConfig::xxhash)
# Files for one sanitizer or for builds without a backend lie in folders of their own, so that no source asks.
set(sanitizer none)
if(SHOAL_SANITIZER STREQUAL "thread")
  set(sanitizer thread)
endif()
set(sim_and_host device device/host device/host/sanitizer/${sanitizer} device/sim device/no_cuda)
shoal_row(shoal_device runtime FOLDERS ${sim_and_host} LINKS shoal_base PRIVATE_LINKS fmt::fmt)
shoal_row(shoal_tensor runtime FOLDERS tensor LINKS shoal_device PRIVATE_LINKS fmt::fmt)
