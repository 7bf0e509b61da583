from walltime.engine.recording.recorder cimport Recorder
from walltime.kernel.arrays cimport words
