"""The lecture, executable: what its proofs do with losses (simulation, worst case) and its question (counting).

Each is a function of this package:

    from bursar import lecture

    lecture.counting([1, 10, 100], epsilon=1, delta="1e-6")     # the noise that each of d counts needs, four ways
    lecture.simulation_map(p, q, odds=2, delta="1e-3")          # a close pair as a disguised randomized response
    lecture.worst_case(["1/10"] * 10)                           # the transcript that makes basic composition optimal
"""

from bursar.lecture.counting import Counting, counting
from bursar.lecture.simulation import LaplaceSimulation, SimulationMap, simulation_map
from bursar.lecture.worst_case import WorstCase, worst_case

__all__ = [
    "Counting",
    "LaplaceSimulation",
    "SimulationMap",
    "WorstCase",
    "counting",
    "simulation_map",
    "worst_case",
]
