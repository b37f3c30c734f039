# L0 to L2.
shoal_row(shoal_base runtime FOLDERS base LINKS Threads::Threads PRIVATE_LINKS fmt::fmt PkgConfig::xxhash)
set(sim_and_host device device/host device/sim device/no_cuda)
shoal_row(shoal_device runtime FOLDERS ${sim_and_host} LINKS shoal_base PRIVATE_LINKS fmt::fmt)
shoal_row(shoal_tensor runtime FOLDERS tensor LINKS shoal_device PRIVATE_LINKS fmt::fmt)
