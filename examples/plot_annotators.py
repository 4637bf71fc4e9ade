"""
Combine annotators who make mistakes and leave gaps
===================================================

Six people sort the same images into kinds. All of them make mistakes, none has seen all images,
and one did not understand the task. This example finds that person, combines the others, and says
which images somebody should look at again.
"""

# %%
# Six annotators
# --------------
# 500 images, each described by two features, show four kinds of insects that overlap. An annotator
# confuses kinds near their boundaries. Eva calls moths bees, and Fay guesses most of the time.
# ``None`` is an image that an annotator has not seen; the first ten images were seen by nobody.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

import liftcluster as lc

rng = np.random.default_rng(0)
kinds = np.array(["ant", "bee", "fly", "moth"], dtype=object)
centres = np.array([[0, 0], [4, 0], [0.5, 3.5], [4.5, 3.5]])
truth = rng.integers(4, size=500)
X = centres[truth] + rng.normal(size=(500, 2))


def annotate(blur, share):
    """Names that somebody gives to a share of the images, looking at them with some blur."""
    seen_at = X + rng.normal(scale=blur, size=X.shape)
    names = kinds[np.linalg.norm(seen_at[:, None] - centres, axis=2).argmin(axis=1)]
    names[rng.uniform(size=500) > share] = None
    names[:10] = None
    return names


blurs = {"Ada": 0.3, "Ben": 0.5, "Chi": 0.7, "Dan": 0.9, "Eva": 0.5, "Fay": 1.0}
people = {person: annotate(blur, share=0.7) for person, blur in blurs.items()}
people["Eva"][people["Eva"] == "moth"] = "bee"
guessed = (rng.uniform(size=500) < 0.7) & (people["Fay"] != None)  # noqa: E711
people["Fay"][guessed] = rng.choice(kinds, guessed.sum())

# %%
# Who disagrees with everybody?
# -----------------------------
# LiftEMD between the annotators: images that somebody has not seen are left out. Mistakes near a
# boundary cost little, since the clusters stay where they are; guesses mix clusters and cost much.

D = lc.distance_matrix(people, X)
names = list(people)
for i in np.argsort(-D.mean(axis=1)):
    print(f"{names[i]}: {D[i].sum() / (len(D) - 1):.3f} from the others on average")

fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
lc.plot.distances(D, names, ax=axes[0])
lc.plot.clusterings_map(D, names, ax=axes[1])
plt.show()

# %%
# ``compare`` says what is special about somebody. Eva joins two kinds:

for line in lc.compare(people["Ada"], people["Eva"], X, names=("Ada", "Eva")).summary():
    print(line)

# %%
# The consensus
# -------------
# Of all but the outlier. Clusters have numbers, so each gets the name that the annotators use most
# for it. ``confidence`` is the share of the annotators of an image who agree with its cluster.

kept = {name: labels for name, labels in people.items() if name != "Fay"}
found = lc.consensus(kept, 4, X, rng=0)
print(found)

votes = np.array(list(kept.values()))
agreed = np.empty(500, dtype=object)
for j in range(found.n_clusters):
    inside = votes[:, found.labels == j]
    given, counts = np.unique(inside[inside != None].astype(str), return_counts=True)  # noqa: E711
    agreed[found.labels == j] = given[counts.argmax()]
    print(f"cluster {j}: {dict(zip(given.tolist(), counts.tolist(), strict=True))}")

# %%
# The adjusted Rand index to the true kinds: of each annotator on the images that were seen, and of
# the consensus on all of them, also on those that nobody has seen.

for name, labels in people.items():
    seen = labels != None  # noqa: E711
    print(f"{name:10} {adjusted_rand_score(truth[seen], labels[seen].astype(str)):.3f}")
print(f"consensus  {adjusted_rand_score(truth, found.labels):.3f}")
right = (agreed == kinds[truth])[:10].sum()
print(f"right names of the ten images that nobody has seen: {right}")

# %%
# Which images to look at again
# -----------------------------
# Those on which the annotators disagree most, and those without any label, whose confidence is 0.
# Of equally doubtful images those with the smallest margin come first: they lie between clusters.

# sphinx_gallery_thumbnail_number = 2
order = np.lexsort([found.margin, found.confidence])
for i in order[:15]:
    given = ", ".join(f"{name} {labels[i]}" for name, labels in kept.items() if labels[i])
    print(
        f"image {i:3}: {agreed[i]:4} confidence {found.confidence[i]:.2f}  ({given or 'no label'})"
    )

fig, axes = plt.subplots(1, 3, figsize=(13, 3.6), layout="compressed")
lc.plot.points(X, agreed, label="consensus", ax=axes[0])
lc.plot.points(X, found.confidence, label="confidence", ax=axes[1])
lc.plot.points(X, agreed, label="50 to look at again", ax=axes[2])
axes[2].scatter(*X[order[:50]].T, s=60, facecolors="none", edgecolors="black")
plt.show()

# %%
# The consensus is nearer to the truth than the best annotator. Its doubtful images lie between the
# kinds, or nobody has seen them. Bees have a lower confidence than other kinds: Eva's cluster of
# bees and moths lies mostly among the moths, so that she disagrees with the consensus on all bees.
