"""The images of a message as thumbnails. Nothing is fetched: only what the file itself holds is drawn."""

from __future__ import annotations

import io
import warnings

import streamlit as st
from PIL import Image as Picture

from agent.messages import Message
from pages.parts.words import t
from traces.images import Image, images_of
from traces.text import size_words

_WIDTH_PX = 240
_MOST = 12
_MOST_PIXELS = 50_000_000
"""Larger ones are left to other programs: a small file can unpack to gigabytes."""


def thumbnails(message: Message) -> None:
    """Draw the images of a message, each with its size; nothing where it has none."""
    images = images_of(message)
    if not images:
        return
    with st.container(horizontal=True, gap="small"):
        for number, image in enumerate(images[:_MOST], 1):
            _thumbnail(image, number)
    if len(images) > _MOST:
        st.caption(t("{n} more images are not drawn.", n=len(images) - _MOST))


def _thumbnail(image: Image, number: int) -> None:
    size = size_words(len(image.data))
    small = _small(image.data)
    if small is None:
        st.caption(t("Image {n} ({size}) cannot be drawn.", n=number, size=size), width="content")
        return
    data, width, height = small
    words = t("Image {n}: {width} × {height}, {size}", n=number, width=width, height=height, size=size)
    st.image(data, caption=words, width=min(_WIDTH_PX, width), alt=words)


@st.cache_data(max_entries=64, show_spinner=False)
def _small(data: bytes) -> tuple[bytes, int, int] | None:
    """The image at twice the width at which it is shown, and its true size; None where it is damaged or too large."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Picture.DecompressionBombWarning)
            with Picture.open(io.BytesIO(data)) as picture:
                width, height = picture.size
                if width * height > _MOST_PIXELS:
                    return None
                picture.thumbnail((2 * _WIDTH_PX, 4 * _WIDTH_PX))
                out = io.BytesIO()
                picture.convert("RGBA").save(out, "PNG")
                return out.getvalue(), width, height
    except Exception:  # Pillow raises many kinds of errors for damaged images; none of them may stop the page
        return None
