# L4: never collectives, never optim.
shoal_row(shoal_nn nn FOLDERS . models LINKS shoal_kernels PRIVATE_LINKS fmt::fmt)
