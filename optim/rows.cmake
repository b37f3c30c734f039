# L4: never collectives, never nn.
shoal_row(shoal_optim optim FOLDERS . LINKS shoal_kernels PRIVATE_LINKS fmt::fmt)
