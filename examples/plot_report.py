"""
Send a report to a colleague
============================

A colleague asks which of five clusterings of 178 wines to use, and has no Python. ``make_report``
writes one page that answers: how different the clusterings are, where, what they agree on, and what
each cluster is like. The page is one file that needs no server and loads nothing.
"""

# %%
# A table and five clusterings
# ----------------------------
# The names of the columns and of the rows are shown on the page, so give a data frame. What else is
# known about the wines is given as ``columns``: it is shown, and never used for distances.

import tempfile
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import liftcluster as lc

data = load_wine(as_frame=True)
wines = data.data.rename(index=lambda i: f"wine {i + 1}")
X = pd.DataFrame(StandardScaler().fit_transform(wines), wines.index, wines.columns)
names = ["k-means", "single", "average", "complete", "Ward"]
clusterings = dict(zip(names, lc.base_partitions(X, 3, rng=0), strict=True))
columns = wines.assign(cultivar=data.target_names[data.target])

# %%
# The page
# --------
# With a consensus of three clusters. The columns of ``wines`` have the same names as those of X, so
# the page shows them in their own units in place of the standardised values.

page = lc.make_report(clusterings, X, consensus=3, columns=columns, title="178 wines", rng=0)
for sentence in page.summary:
    print(textwrap.fill(sentence, 90))

with tempfile.TemporaryDirectory() as folder:
    page.save(Path(folder, "wines.html"))  # to send by mail
    print(f"{Path(folder, 'wines.html').stat().st_size / 1000:.0f} kB")

# %%
# This is the page itself, as a notebook shows it too. Choose two clusterings in the matrix, and the
# pictures below it follow; select points with a loop to list and save them; colour them by
# ``cultivar``.

page  # noqa: B018

# %%
# The same as pictures
# --------------------
# For a paper, ``lc.plot`` draws the views of the page with matplotlib.

found = lc.consensus(clusterings, 3, X, rng=0)
D = lc.distance_matrix(clusterings, X)

lc.plot.distances(D, names)
lc.plot.clusterings_map(D, names)
lc.plot.points(X, found)
lc.plot.composition(found)
plt.show()
