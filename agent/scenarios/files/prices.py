"""Prices of a made-up tea shop, in cents for 100 grams."""

PRICES: dict[str, int] = {
    "assam": 390,
    "black-pearl": 425,
    "chai": 460,
    "chun-mee": 495,
    "darjeeling": 530,
    "earl-grey": 565,
    "fennel": 600,
    "genmaicha": 635,
    "ginger": 670,
    "hojicha": 705,
    "jasmine": 740,
    "keemun": 775,
    "lapsang": 810,
    "lemon": 845,
    "matcha": 880,
    "mint": 915,
    "nettle": 950,
    "oolong": 985,
    "pai-mu-tan": 1020,
    "qimen": 1055,
    "rooibos": 1090,
    "rosehip": 1125,
    "sencha": 1160,
    "tie-guan-yin": 1195,
    "uva": 1230,
    "verbena": 1265,
    "white-peony": 1300,
    "yunnan": 1335,
    "zealong": 1370,
}


def price_of(tea: str, grams: int) -> int:
    """Give the price of some tea, rounded down to whole cents."""
    if grams <= 0:
        raise ValueError("the weight must be more than 0 grams")
    if tea not in PRICES:
        raise KeyError(tea)
    return PRICES[tea] * grams // 100


def total(basket: dict[str, int]) -> int:
    """Add up a basket that maps teas to grams."""
    result = 0
    for tea, grams in basket.items():
        result += price_of(tea, grams)
    return result
