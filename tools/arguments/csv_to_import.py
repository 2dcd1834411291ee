"""The arguments of import_audience: the text of a file, without the bytes that a model cannot send and the
address that it should not see."""

from callwright.contract.declaration.field_types import AudienceId
from callwright.contract.declaration.revisions import Expecting
from callwright.contract.declaration.rows import CsvText, FileBytes, FileUrl


class CsvToImport(Expecting):
    """The text of a CSV file to import."""

    id: AudienceId
    csv: CsvText
    file: FileBytes | None = None
    url: FileUrl | None = None
