"""Files as people send them, and worse: each import ends with every good row, or with a reason."""

import gzip
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest

from callwright.service.workers import imports
from tests.support.campaigns import phone
from tests.support.http.raw_requests import AsyncClient
from tests.support.service import Tenant

GOOD = 12
"""Good rows of each file."""
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "cp1252")
SEPARATORS = (",", ";", "\t", "|")
ENDS = ("\n", "\r\n", "\r")
HEADERS = ("phone", "Phone Number", " PHONE ", '"phone"', "Telefon", "mobile")
NAMES = ("Ada", "Zoë", '"A ""B"" C"')
BAD_ROWS = {
    "formula": "=1+1,x",
    "formula that runs": "=cmd|' /C calc'!A0,x",
    "spreadsheet error": "#N/A,x",
    "rounded": "4.9E+11,x",
    "empty number": ",x",
    "word": "call me,x",
    "NUL": "+1415\x005550199,x",
    "too long": f"+14155550198,{'x' * 1_001}",
    "too many cells": "+14155550197,x,y,z",
    "too few cells": "+14155550196",
    "premium": "+19005550100,x",
    "other digits": "+१४१५,x",
    "script": "<script>alert(1)</script>,x",
    "SQL": "'; DROP TABLE imports; --,x",
}
WHOLE = {
    "nothing but a header": b"phone,name\n",
    "blank lines": b"\n\n\n",
    "a space": b" ",
    "NUL bytes": bytes(500),
    "an open quote": b'phone,name\n+14155550100,"Ada\n+14155550101,Bea\n',
    "two columns of one name": b"phone,phone\n+14155550100,1\n",
    "no header": b"+14155550100,Ada\n+14155550101,Bea\n",
    "no numbers": b"colour,size\nred,1\nblue,2\n",
    "101 columns": ",".join(f"c{index}" for index in range(101)).encode() + b"\n1\n",
    "a cell of 10 MB": b"phone,name\n+14155550100," + b"x" * 10_000_000 + b"\n",
    "a header of 2 MB": b"x" * 2_000_000,
    "a PDF": b"%PDF-1.7 and so on",
    "an old workbook": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
    "a broken workbook": b"PK\x03\x04" + bytes(600),
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4,
    "gzip of nothing": gzip.compress(b""),
    "gzip cut off": gzip.compress(b"phone\n" + b"+14155550100\n" * 99)[:30],
    "gzip in gzip": gzip.compress(gzip.compress(b"phone\n+14155550100\n")),
    "gzip and rubbish": gzip.compress(b"phone\n+14155550100\n") + b"rubbish behind it",
}


@dataclass(frozen=True)
class BadFile:
    """A file, and how many of its rows are bad; None if nothing can be taken of it."""

    data: bytes
    bad: int | None


def generated() -> Iterator[tuple[str, BadFile]]:
    """Files with good rows in every form and some bad ones among them."""
    chance = random.Random(20)
    kinds = list(BAD_ROWS)
    for number in range(181):
        separator, end = chance.choice(SEPARATORS), chance.choice(ENDS)
        encoding, header = chance.choice(ENCODINGS), chance.choice(HEADERS)
        chosen: Sequence[str] = chance.sample(kinds, chance.randrange(1, 5))
        if encoding == "cp1252":
            chosen = [kind for kind in chosen if kind != "other digits"]
        bad = [BAD_ROWS[kind].replace("|", "/").replace(",", separator) for kind in chosen]
        good = [f"{phone(row)}{separator}{chance.choice(NAMES)}" for row in range(GOOD)]
        rows = [*good, *bad]
        chance.shuffle(rows)
        text = end.join([f"{header}{separator}name", *rows]) + chance.choice(("", end, end * 3))
        data = text.encode(encoding)
        packed = chance.random() < 0.2
        named = f"{number} {encoding} {separator!r} {end!r} {header} {chosen}" + (" gzip" if packed else "")
        yield named, BadFile(gzip.compress(data) if packed else data, len(bad))


FILES = dict(generated()) | {name: BadFile(data, None) for name, data in WHOLE.items()}


@pytest.mark.requirement("UP-08")
@pytest.mark.service(workers=False)
async def test_each_of_200_bad_files_ends_with_every_good_row_or_a_reason(tenant: Tenant, http: AsyncClient) -> None:
    assert len(FILES) == 200
    wrong: list[str] = []
    for name, file in FILES.items():
        made = await tenant.client.audiences.create(name=tenant.services.ids.new("tst"))
        waiting = await tenant.client.audiences.import_csv(id=made.id)
        assert (await http.put(waiting.upload_url or "", content=file.data)).status_code == 200
        while await imports.work_on_one(tenant.services, "tests"):
            pass
        done = await tenant.client.audiences.get_import(id=made.id, import_id=waiting.id)
        listed = [one async for one in tenant.client.audiences.list_import_errors(id=made.id, import_id=waiting.id)]
        if file.bad is None:
            right = done.status == "failed" and done.added == 0 and bool(done.status_reason)
        else:
            counts = (done.added, done.invalid + done.duplicates, len(listed))
            right = counts == (GOOD, file.bad, file.bad) and all(one.message and one.line for one in listed)
        if not right:
            wrong.append(f"{name}: {done.status} {done.added} {done.invalid} {len(listed)} {done.status_reason}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.service(workers=False)
async def test_an_uploaded_file_of_two_encodings_fails_with_a_line_of_each(tenant: Tenant, http: AsyncClient) -> None:
    made = await tenant.client.audiences.create(name="Kunden", default_country="DE")
    waiting = await tenant.client.audiences.import_csv(id=made.id)
    data = b"Name,Phone\nM\xfcller,+4915112345601\n" + "Müller,+4915112345602\n".encode()
    assert (await http.put(waiting.upload_url or "", content=data)).status_code == 200
    assert await imports.work_on_one(tenant.services, "tests")
    done = await tenant.client.audiences.get_import(id=made.id, import_id=waiting.id)
    assert (done.status, done.added) == ("failed", 0)
    assert "line 3 is UTF-8, but line 2 is not: two encodings are mixed" in (done.status_reason or "")
