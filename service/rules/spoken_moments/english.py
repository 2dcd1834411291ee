"""Moments in English."""

import re

from callwright.service.rules.spoken_moments.words import MomentWords, listed

_ABOUT = r"(?:(?:about|around|roughly|maybe|like|say|approximately) )*"
_COUNT = r"(?P<n>\d+(?:\.\d+)?|an|a couple of|a few|a|another)"
_NOT_COUNTED = (
    r"(?! ?(?:%|minutes?\b|hours?\b|days?\b|weeks?\b|people\b|persons?\b|dollars?\b|euros?\b|pounds?\b|years?\b))"
)
_ENDS = rf"(?![\d:]|[.,]\d){_NOT_COUNTED}"
_TO_HALF = r"(?: ?(?P<half>[ap])\.? ?m\b\.?)?"
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b"
)
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_ONES = listed("one two three four five six seven eight nine")
_TEENS = listed("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50}
_FIRST_NINE = listed("first second third fourth fifth sixth seventh eighth ninth")
_ORDINALS = (
    *_FIRST_NINE,
    *listed("tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"),
    *("twentieth", *(f"20 {one}" for one in _FIRST_NINE), "thirtieth", "30 first"),
)
"""As they are read: the tens are digits by then."""
_DAY = rf"(?P<day>\d{{1,2}}(?:st|nd|rd|th)?|{'|'.join(sorted(_ORDINALS, key=len, reverse=True))})"
ENGLISH = MomentWords(
    numbers={
        **{word: number for number, word in enumerate(("zero", *_ONES, *_TEENS))},
        **_TENS,
        **{f"{ten} {word}": tens + one for ten, tens in _TENS.items() for one, word in enumerate(_ONES, start=1)},
    },
    counts={
        "a": 1,
        "an": 1,
        "another": 1,
        "a couple of": 2,
        "a few": 3,
        **{word: number for number, word in enumerate(_ORDINALS, start=1)},
    },
    units_s={"min": 60, "hour": 3_600},
    units_days={"day": 1, "week": 7, "month": 30},
    after=(
        re.compile(
            rf"\bin {_ABOUT}{_COUNT} (?P<unit>min(?:ute)?s?|hours?|days?|weeks?|months?)\b(?P<and_half> and a half)?"
        ),
        re.compile(rf"\b{_COUNT} (?P<unit>min(?:ute)?s?|hours?|days?|weeks?|months?) (?:later|from now)\b"),
    ),
    lengths_s={
        re.compile(rf"\bin {_ABOUT}half an hour\b"): 1_800,
        re.compile(rf"\bin {_ABOUT}(?:a )?quarter of an hour\b"): 900,
        re.compile(rf"\bin {_ABOUT}three quarters of an hour\b"): 2_700,
        re.compile(rf"\bin {_ABOUT}an hour and a half\b"): 5_400,
    },
    days={
        re.compile(r"\bday after tomorrow\b"): 2,
        re.compile(r"(?<!day after )\btomorrow\b"): 1,
        re.compile(r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b"): 0,
    },
    weekdays=("mon", "tues", "wednes", "thurs", "fri", "satur", "sun"),
    weekday=re.compile(rf"\b(?P<weekday>{_WEEKDAY})\b"),
    next_week=re.compile(r"\b(?:next|the following) week\b"),
    next_month=re.compile(r"\b(?:next|the following) month\b"),
    months=("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    dates=(
        re.compile(rf"\b{_DAY} (?:of )?{_MONTH}"),
        re.compile(rf"\b{_MONTH} (?:the )?{_DAY}\b(?! ?(?:[ap]\.?m\b|o'))"),
    ),
    times=(
        re.compile(rf"\bhalf past (?P<h>\d{{1,2}}){_TO_HALF}(?P<past>)"),
        re.compile(rf"\b(?:a )?quarter (?:past|after) (?P<h>\d{{1,2}}){_TO_HALF}(?P<quarter>)"),
        re.compile(rf"\b(?:a )?quarter (?:to|of|before) (?P<h>\d{{1,2}}){_TO_HALF}(?P<quarter_to>)"),
        re.compile(rf"\b(?P<plus>\d{{1,2}}) (?:minutes )?past (?P<h>\d{{1,2}}){_TO_HALF}"),
        re.compile(rf"\b(?P<minus>\d{{1,2}}) (?:minutes )?to (?P<h>\d{{1,2}})\b{_TO_HALF}(?= |$)"),
        re.compile(r"\b(?P<h>\d{1,2})(?:[:. ](?P<m>\d\d))? ?(?P<half>[ap])\.? ?m\b"),
        re.compile(r"\b(?P<h>\d{1,2}):(?P<m>\d\d)\b"),
        re.compile(r"\b(?P<h>\d{1,2}) ?o'? ?clock"),
        re.compile(
            rf"\b(?:at|around|about|after|between|by|from|before|until|till|past) {_ABOUT}"
            rf"(?P<h>\d{{1,2}})(?:[ .](?P<m>\d\d))?{_ENDS}"
        ),
        re.compile(
            rf"\b(?:tomorrow|today|{_WEEKDAY}),? (?P<h>\d{{1,2}})(?: (?P<m>\d\d))?{_ENDS}"
            r"(?! ?(?:of|st|nd|rd|th))"
        ),
    ),
    parts={
        re.compile(r"\b(?:noon|midday|lunch ?time)\b"): (12, "pm"),
        re.compile(r"(?<!good )\bmornings?\b"): (10, "am"),
        re.compile(r"(?<!good )\bafternoons?\b"): (15, "pm"),
        re.compile(r"(?<!good )\b(?:evenings?|tonight)\b"): (18, "pm"),
    },
    excluded=re.compile(
        r"\b(?:not|can't|cannot|can not)(?: \w+)?(?: (?:talk|speak|do|make)(?: it)?)? "
        rf"(?:today|tomorrow|tonight|now|this week|next week|(?:on |this |next )?{_WEEKDAY}s?)\b"
        r"(?! (?:before|until|till))|\btoday is\b|\bnot at \d{1,2}\b"
    ),
    limits=re.compile(r"(?<!not )(?<!n't call me )(?<!n't call )\bbefore (?:\d|noon|midday|lunch)"),
    calls=re.compile(
        r"\b(?:call|ring|phone|telephone|try|reach|contact) (?:(?:me|us|back|again|this number)\b|"
        rf"(?:on|at|in|around|after|before|tomorrow|today|tonight|next|later|this|{_WEEKDAY})\b)|"
        r"\bgive (?:me|us) (?:a|another) (?:call|ring|buzz|bell)\b|\b(?:be called|get a call)\b"
    ),
    not_asked=re.compile(
        r"\b(?:i|we)(?:'ll|'d)?(?: (?:will|can|could|shall|would|may|might|must|have to|just|then))* "
        r"(?:call|ring|phone|try|reach|contact)\b|"
        r"\b(?:did|do|does|have|has|why|who|when|what|where)\b[^,.;!?]*\b(?:call|ring|phone)|"
        r"\b(?:don't|do not|never)(?: ever| please)? (?:call|ring|phone|try|contact)\b(?![^,.;!?]*\bbefore\b)"
    ),
    fillers=frozenset(
        listed(
            "no nope not now well hm uh sorry actually please rather maybe perhaps then better is would be a good time "
            "suits me works for on at the in this it's that's that can you could we speak talk let's how about"
        )
    ),
)
