"""Reader for tenex result files: xarray and pandas out.

    import tenex_analysis
    study = tenex_analysis.open_study("results/quickstart/study.h5")
    study.points          # xarray.Dataset, one entry per design point
    study.frame()         # pandas.DataFrame with flags as words
"""

from .reader import SCHEMA, ResultError, Study, open_study

__all__ = ["SCHEMA", "ResultError", "Study", "open_study"]
