# L3.
shoal_row(shoal_collectives collectives FOLDERS . single threads LINKS shoal_kernels PRIVATE_LINKS fmt::fmt)
