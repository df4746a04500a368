#!/usr/bin/env python3
"""Prints an HDF5 file of tenex as the text that fuzz_schedule_columns reads, to make seeds of it.

    columns_as_text.py FILE > corpus/...
"""
import sys

import h5py

KINDS = {"int8": "i8", "uint8": "u8", "uint16": "u16", "uint32": "u32", "int64": "i64", "uint64": "u64"}


def attributes(path: str, item: h5py.HLObject) -> None:
    for name, value in item.attrs.items():
        kind = "text" if isinstance(value, str) else "int"
        print(kind, path, name, value)


def show(path: str, item: h5py.HLObject) -> None:
    if isinstance(item, h5py.Group):
        print("group", "/" + path)
    else:
        print(KINDS[item.dtype.name], "/" + path, *item[:])
    attributes("/" + path, item)


with h5py.File(sys.argv[1]) as file:
    attributes("/", file)
    file.visititems(show)
