"""What lies on the shelves of a made-up tea shop."""

from collections import Counter

SHELVES: dict[str, tuple[str, int]] = {
    "assam": ("A1", 200),
    "bancha": ("B1", 237),
    "black-pearl": ("C1", 274),
    "ceylon": ("D1", 311),
    "chai": ("A2", 348),
    "chun-mee": ("B2", 385),
    "darjeeling": ("C2", 422),
    "dianhong": ("D2", 459),
    "earl-grey": ("A3", 496),
    "fennel": ("B3", 533),
    "genmaicha": ("C3", 570),
    "ginger": ("D3", 607),
    "gyokuro": ("A4", 644),
    "hojicha": ("B4", 681),
    "jasmine": ("C4", 718),
    "keemun": ("D4", 755),
    "kukicha": ("A5", 792),
    "lapsang": ("B5", 829),
    "lemon": ("C5", 866),
    "matcha": ("D5", 903),
    "mint": ("A6", 940),
    "nettle": ("B6", 977),
    "nilgiri": ("C6", 1014),
    "oolong": ("D6", 1051),
    "pai-mu-tan": ("A7", 1088),
    "qimen": ("B7", 225),
    "rooibos": ("C7", 262),
    "rosehip": ("D7", 299),
    "sencha": ("A8", 336),
    "sikkim": ("B8", 373),
    "tie-guan-yin": ("C8", 410),
    "uva": ("D8", 447),
    "verbena": ("A9", 484),
    "white-peony": ("B9", 521),
    "yunnan": ("C9", 558),
    "zealong": ("D9", 595),
}


def find(tea: str) -> str:
    """Name the shelf of a tea."""
    if tea not in SHELVES:
        raise KeyError(tea)
    shelf, _ = SHELVES[tea]
    return shelf


def running_low(limit: int = 300) -> list[str]:
    """List the teas of which fewer grams than the limit are left, by name."""
    names = []
    for tea, (_, grams) in SHELVES.items():
        if grams < limit:
            names.append(tea)
    names.sort()
    return names


def fullest_row() -> tuple[str, int]:
    """Name the row of shelves that holds the most, and how many grams."""
    rows: Counter[str] = Counter()
    teas: Counter[str] = Counter()
    for shelf, grams in SHELVES.values():
        row = shelf[0]
        rows[row] += grams
        teas[row] += 1
    if not rows:
        raise ValueError("the shelves are empty")
    row, grams = rows.most_common(1)[0]
    share = grams / sum(rows.values())
    if share > 0.5:
        message = f"row {row} holds {grams} g of {teas[row]} teas"
        message += ", which is more than all the others"
        message += " together; please move some of them"
        raise ValueError(message)
    return row, grams
