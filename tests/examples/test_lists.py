"""The lists of the folder `examples`, imported over REST: what its page promises of each, row by row."""

import base64
import re
from collections import Counter
from dataclasses import dataclass

import anyio
import pytest

from callwright.contract.audiences import AudienceImport
from tests.house.tree import ROOT
from tests.support.service import Tenant

FOLDER = ROOT / "examples"
FOR_FICTION = re.compile(
    r"\+1[2-9]\d\d55501\d\d"  # 555-0100 to 0199 of any area code
    r"|\+4420(?:7946)0\d{3}|\+44(?:113|131|161)4960\d{3}"
    r"|\+49(?:3023125|6990009|4066969|2214710|8999998)\d{3}|\+4917139200\d\d|\+4917604069\d{3}|\+4915228817386"
    r"|\+46701740(?:60[5-9]|6[1-9]\d)|\+468465004\d\d|\+61(?:491570156|25550\d{4})|\+33199\d{6}"
)
FORCED = re.compile(r"\+120255501(?:0\d|1[0-2])")
"""The numbers that force an outcome on the simulated network."""


@dataclass(frozen=True)
class Expected:
    """How a list is read, and what comes of it. `faults` has the lines of each code."""

    name: str
    country: str
    read_as: str
    phone_column: str
    rows: int
    added: int
    faults: dict[str, list[int]]


LISTS = (
    Expected(
        "clinic.csv",
        "US",
        "CSV, UTF-8, commas",
        "Mobile Phone",
        300,
        266,
        {
            "missing_phone": [11, 44, 80, 121, 193, 257],
            "spreadsheet_damage": [26, 67, 155, 236],
            "invalid_phone": [34, 60, 104, 169, 222, 269],
            "several_numbers": [51, 134, 246],
            "not_dialable": [73, 184, 213],
            "column_count_mismatch": [173],
            "duplicate_in_file": [39, 95, 113, 130, 161, 178, 200, 225, 250, 284, 298],
        },
    ),
    Expected(
        "kunden.csv",
        "DE",
        "CSV, code page 1252, semicolons",
        "Telefon",
        40,
        31,
        {
            "missing_phone": [15, 35],
            "spreadsheet_damage": [8, 27],
            "invalid_phone": [31, 39],
            "several_numbers": [12],
            "duplicate_in_file": [24, 33],
        },
    ),
    Expected(
        "crm-export.csv",
        "GB",
        "CSV, UTF-8, commas",
        "Phone Number",
        60,
        43,
        {
            "missing_phone": [5, 13, 22, 26, 37, 45, 54, 59],
            "invalid_phone": [24, 32],
            "several_numbers": [10],
            "not_dialable": [16, 43, 51],
            "duplicate_in_file": [35, 57, 61],
        },
    ),
)


async def imported(tenant: Tenant, name: str, country: str) -> AudienceImport:
    """The import of a list into an audience of its own, once it has ended."""
    audiences = tenant.client.audiences
    made = await audiences.create(name=name, default_country=country)
    job = await audiences.import_csv(id=made.id, file=base64.b64encode((FOLDER / name).read_bytes()).decode())
    with anyio.fail_after(30):
        while job.completed_at is None:
            await anyio.sleep(0.01)
            job = await audiences.get_import(id=made.id, import_id=job.id)
    return job


@pytest.mark.parametrize("listed", LISTS, ids=lambda listed: listed.name)
@pytest.mark.service(workers=True)
async def test_a_list_is_imported_with_the_counts_and_faults_that_its_page_names(
    tenant: Tenant, listed: Expected
) -> None:
    job = await imported(tenant, listed.name, listed.country)
    audiences, audience_id = tenant.client.audiences, job.audience_id
    assert (job.status, job.read_as) == ("completed_with_errors", listed.read_as)
    left_out = sum(map(len, listed.faults.values()))
    assert (job.total_rows, job.added, job.invalid + job.duplicates) == (listed.rows, listed.added, left_out)
    found: dict[str, list[int]] = {}
    async for error in audiences.list_import_errors(id=audience_id, import_id=job.id):
        assert error.line is not None
        found.setdefault(error.code, []).append(error.line)
    assert {code: sorted(lines) for code, lines in found.items()} == listed.faults
    assert (await audiences.get(id=audience_id)).phone_column == listed.phone_column
    numbers = [row.phone_number async for row in audiences.list_rows(id=audience_id)]
    assert len(numbers) == listed.added
    assert [number for number in numbers if not FOR_FICTION.fullmatch(number) or FORCED.fullmatch(number)] == []


@pytest.mark.service(workers=True)
async def test_the_greeting_that_the_page_suggests_is_filled_from_the_german_list(tenant: Tenant) -> None:
    (greeting,) = re.findall(r'\*"(Guten Tag.*?)"\*', (FOLDER / "README.md").read_text(encoding="utf-8"))
    job = await imported(tenant, "kunden.csv", "DE")
    rows = [row async for row in tenant.client.audiences.list_rows(id=job.audience_id)]
    cells = rows[0].values
    said = re.sub(r"\{\{(\w+)\}\}", lambda found: str(cells[found[1]]), greeting)
    assert said == "Guten Tag, Herr Müller, es geht um Ihren Termin am Mo 07.12.2026 um 8:00 Uhr."


@pytest.mark.parametrize("listed", LISTS, ids=lambda listed: listed.name)
def test_the_page_counts_what_the_import_finds(listed: Expected) -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    left_out = listed.rows - listed.added
    assert (
        f"| [{listed.name}]({listed.name}) | {listed.rows} | {listed.read_as} | `{listed.country}` | {listed.added} "
        f"| {left_out} |" in text
    )
    at = LISTS.index(listed)
    by_code = dict(re.findall(r"^\| `([a-z_]+)` \|.*\| (\d+ \| \d+ \| \d+) \|$", text, re.MULTILINE))
    counted = Counter({code: len(lines) for code, lines in listed.faults.items()})
    assert {code: int(cells.split(" | ")[at]) for code, cells in by_code.items()} == {
        code: counted[code] for code in by_code
    }
    assert set(listed.faults) <= set(by_code)
