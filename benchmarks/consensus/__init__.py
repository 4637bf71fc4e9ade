"""Quality and cost of consensus clustering on labelled data sets."""
