"""The daily summary of a made-up tea shop."""

from collections import Counter

Sale = tuple[str, int, int]  # the tea, grams, cents
REGIONS: dict[str, str] = {
    "anji": "north",
    "assam": "west",
    "bancha": "south",
    "bi-luo-chun": "east",
    "black-pearl": "north",
    "ceylon": "west",
    "chai": "south",
    "chun-mee": "east",
    "da-hong-pao": "north",
    "darjeeling": "west",
    "dianhong": "south",
    "dong-ding": "east",
    "earl-grey": "north",
    "fennel": "west",
    "genmaicha": "south",
    "ginger": "east",
    "gunpowder": "north",
    "gyokuro": "west",
    "hibiscus": "south",
    "hojicha": "east",
    "houjicha-gold": "north",
    "jasmine": "west",
    "kabusecha": "south",
    "keemun": "east",
    "kukicha": "north",
    "lapsang": "west",
    "lemon": "south",
    "lime-blossom": "east",
    "matcha": "north",
    "mate": "west",
    "mint": "south",
    "monkey-king": "east",
    "nettle": "north",
    "nilgiri": "west",
    "oolong": "south",
    "pai-mu-tan": "east",
    "qimen": "north",
    "rooibos": "west",
    "rosehip": "south",
    "sage": "east",
    "sencha": "north",
    "sikkim": "west",
    "silver-needle": "south",
    "thyme": "east",
    "tie-guan-yin": "north",
    "uva": "west",
    "verbena": "south",
    "white-peony": "east",
    "yunnan": "north",
    "zealong": "west",
}


def income(sales: list[Sale]) -> int:
    """Add up what was taken in, in cents."""
    result = 0
    for _, _, cents in sales:
        result += cents
    return result


def best_seller(sales: list[Sale]) -> str:
    """Name the tea of which the most grams were sold."""
    if not sales:
        raise ValueError("nothing was sold")
    grams: Counter[str] = Counter()
    for tea, weight, _ in sales:
        grams[tea] += weight
    return grams.most_common(1)[0][0]


def by_region(sales: list[Sale]) -> dict[str, int]:
    """Add up the income of each region that teas come from."""
    regions: dict[str, int] = {}
    for tea, _, cents in sales:
        region = REGIONS.get(tea, "unknown")
        regions[region] = regions.get(region, 0) + cents
    return regions


def average(sales: list[Sale]) -> float:
    """Give the average income of one sale, in cents; 0 when nothing was sold."""
    if not sales:
        return 0.0
    return income(sales) / len(sales)


def summary(sales: list[Sale]) -> str:
    """Write the summary as plain text."""
    lines = ["The day in the tea shop"]
    lines.append("=" * len(lines[0]))
    lines.append(f"sales:    {len(sales)}")
    lines.append(f"income:   {income(sales) / 100:.2f}")
    lines.append(f"a sale:   {average(sales) / 100:.2f}")
    if sales:
        lines.append(f"best:     {best_seller(sales)}")
    else:
        lines.append("best:     nothing was sold")
    for region, cents in sorted(by_region(sales).items()):
        share = 100 * cents / income(sales)
        lines.append(f"{region:<10}{share:5.1f} %")
    if "unknown" in by_region(sales):
        lines.append("Some teas come from nowhere we know.")
    return "\n".join(lines)
