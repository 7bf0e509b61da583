"""The slow twin: the rules of the simulator stated a second time, in plain Python that can be read beside the prose.

It knows scenarios, workloads and layouts of nodes as the engine does, and nothing of the engine. Tests compare the two,
benchmarks say how much faster the engine is. It is found where the folder `tests` is on the path.
"""
