"""Zip archives, those packed with Zstandard included: Inspect AI writes its logs so since 2026.

Python's own zipfile reads them from 3.14 on; before, the backport of that very module does.
"""

from __future__ import annotations

import lzma
import sys
import zlib

if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError, zipfile

__all__ = ["BROKEN", "zipfile"]

BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    ZstdError,
    RuntimeError,
    NotImplementedError,
    EOFError,
    OSError,
    ValueError,
)
"""What a damaged, encrypted or oddly packed archive raises."""
