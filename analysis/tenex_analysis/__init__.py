"""Reader for tenex result files: xarray and pandas out.

    import tenex_analysis
    study = tenex_analysis.open_study("results/quickstart/study.h5")
    study.points          # xarray.Dataset, one entry per design point
    study.frame()         # pandas.DataFrame with flags as words
    study.where("size >= 1MiB and algorithm != ring")    # those of its rows; the language of `tenex show --where`
    tenex_analysis.open_schedule("s.h5").sends    # pandas.DataFrame, one row per send
"""

from .reader import SCHEMA, ResultError, Study, open_study
from .schedule import Recipe, Schedule, ScheduleError, open_schedule
from .where import ConditionError

__version__ = "0.1.0"  # as in CMakeLists.txt; a test compares them

__all__ = [
    "SCHEMA", "ConditionError", "Recipe", "ResultError", "Schedule", "ScheduleError", "Study", "open_schedule",
    "open_study",
]  # fmt: skip
