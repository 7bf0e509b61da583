from walltime.engine.recording.recorder cimport Rows
from walltime.kernel.arrays cimport words
