"""Opens a merged result of the store tests with xarray, and checks that nothing is decoded wrongly and that a copy
which xarray writes is the same.
"""
import importlib.util
import sys
import warnings

import numpy as np
import xarray as xr

warnings.simplefilter("error", category=xr.SerializationWarning)
path = sys.argv[1]
with xr.open_dataset(path, engine="h5netcdf") as data:
    assert dict(data.sizes) == {"point": 6, "dimension": 1}, data.sizes
    assert data.attrs["Conventions"] == "CF-1.8"
    assert data.attrs["title"] == "by-hand" and data.attrs["study"].startswith("# a study of 6")
    assert int(data.attrs["schema"]) == 3
    assert list(data["point"].values) == [0, 1, 2, 3, 4, 5]
    # Exact picoseconds: 2^53 + 1 + i would not survive a float64.
    times = data["collective_time_ps"]
    assert times.dtype == np.int64, times.dtype
    assert [int(t) for t in times.values] == [2**53 + 1 + i for i in range(5)] + [-1]
    seconds = data["collective_time_seconds"]
    assert seconds.dtype == np.float64 and seconds.attrs["units"] == "s", (seconds.dtype, seconds.attrs)
    assert abs(float(seconds[0]) - 9007.199254740993) < 1e-9 and np.isnan(float(seconds[5]))
    assert data["bound_seconds"].dtype == np.float64 and data["bound_ps"].dtype == np.int64
    # Flags stay small integers with their meanings.
    status = data["status"]
    assert status.dtype == np.int8, status.dtype
    meanings = status.attrs["flag_meanings"].split()
    assert len(meanings) == len(status.attrs["flag_values"])
    assert [meanings[s] for s in status.values] == ["ok"] * 5 + ["infeasible"]
    for name in data.data_vars:
        if "flag_meanings" in data[name].attrs:
            assert len(data[name].attrs["flag_meanings"].split()) == len(data[name].attrs["flag_values"]), name
        assert data[name].dtype.kind in "iufUOS", (name, data[name].dtype)
        assert data[name].dtype.kind != "S", f"{name} is bytes, not text"
    # Texts are texts, settings are coordinates.
    assert str(data["reason"].values[5]) == "größer als erlaubt", data["reason"].values
    assert str(data["topology"].values[0]) == "RI(4)"
    for name in ("topology", "size", "algorithm", "seed"):
        assert name in data.coords, name
    assert data["size"].dtype == np.int64 and int(data["size"][1]) == 5120
    assert data["alpha"].dims == ("point", "dimension") and data["alpha"].dtype == np.int64
    assert "alpha" in data.coords and int(data["alpha"][0, 0]) == 500000 and int(data["npu_bandwidth"][0, 0]) == -1
    assert data["seed"].dtype == np.int64
    assert [int(c) for c in data["group_count"].values] == [0, 1, 2, 0, 1, 0]
with xr.open_dataset(path, group="groups", engine="h5netcdf") as groups:
    assert [int(p) for p in groups["point"].values] == [1, 2, 2, 4]
    assert [int(t) for t in groups["time_ps"].values] == [78, 79, 79, 81]
    assert groups["time_ps"].dtype == np.int64
with xr.open_dataset(path, group="links", engine="h5netcdf") as links:
    assert links.sizes["entry"] == 0
with xr.open_dataset(path, group="runs", engine="h5netcdf") as runs:
    assert runs["finished_unix_ms"].dtype == np.int64
    assert runs["host"].dtype.kind in "UO" and runs.sizes["entry"] == 6

# netCDF4 is another reader and writer of the same files; nobody needs it beside h5netcdf.
engines = ["h5netcdf"] + (["netcdf4"] if importlib.util.find_spec("netCDF4") else [])
copy = path + ".copy.nc"
for group in (None, "groups", "links", "utilization", "arrivals", "runs"):
    for reader in engines:
        for writer in engines:
            with xr.open_dataset(path, group=group, engine=reader) as data:
                data.load()
            data.to_netcdf(copy, engine=writer)
            with xr.open_dataset(copy, engine=reader) as again:
                assert again.load().identical(data), (group, reader, writer)
                assert set(again.coords) == set(data.coords)
                for name in data.variables:
                    assert again[name].dtype == data[name].dtype, (name, again[name].dtype)
            if group is None:
                some = data.isel(point=(data["reason"] != "").values)
                some.to_netcdf(copy, engine=writer)
                with xr.open_dataset(copy, engine=reader) as again:
                    assert int((again["reason"] == "größer als erlaubt").sum()) == 1, again["reason"]
                    assert int((again["algorithm"] == "ring").sum()) == 1, again["algorithm"]
                    assert again.load().identical(some), (reader, writer)
