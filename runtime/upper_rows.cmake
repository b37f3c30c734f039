# L5 and L6.
shoal_row(shoal_fsdp runtime FOLDERS fsdp LINKS shoal_nn shoal_optim shoal_collectives PRIVATE_LINKS fmt::fmt)
shoal_row(shoal_train runtime FOLDERS train LINKS shoal_fsdp PRIVATE_LINKS fmt::fmt ZLIB::ZLIB)
