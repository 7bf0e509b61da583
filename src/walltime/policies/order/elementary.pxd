from libc.math cimport exp, log, log2, log10, pow
