"""Agreement among annotators: pairwise, overall, within and across groups.

Everything comes from the same counts as an evaluation. Two ways of averaging stand side by side,
each named in the result: *pooled* (counts of all pairs summed, as the NBME paper's Table 2) and
*per note* (a value for each ordered pair in a note, averaged over pairs, then over notes, as the
PICO paper's Tables 2 and 3).
"""

from rubricate.agreement.agree import Agreement, agree
from rubricate.agreement.pairs import Empty, NoteMeans, pair_annotators

__all__ = ["Agreement", "Empty", "NoteMeans", "agree", "pair_annotators"]
