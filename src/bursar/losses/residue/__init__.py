"""How much of a Gaussian allowance a release leaves: the mathematics of the residue filter (proofs/residue.md)."""

from bursar.losses.residue.certificate import VERSION as VERSION
from bursar.losses.residue.certificate import certified as certified
from bursar.losses.residue.certificate import smallest_charge as smallest_charge
from bursar.losses.residue.law import Points as Points
from bursar.losses.residue.law import ResidueLaw as ResidueLaw
from bursar.losses.residue.law import law_of_directions as law_of_directions
from bursar.losses.residue.law import law_of_points as law_of_points
from bursar.losses.residue.law import law_of_promise as law_of_promise
from bursar.losses.residue.law import places_of as places_of
from bursar.losses.residue.law import reach_from as reach_from
