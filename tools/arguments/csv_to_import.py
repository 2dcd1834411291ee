"""The arguments of import_audience: the text of a file, without the bytes that a model cannot send."""

from callwright.contract.declaration.field_types import AudienceId
from callwright.contract.declaration.revisions import Expecting
from callwright.contract.declaration.rows import CsvText, FileBytes


class CsvToImport(Expecting):
    """The text of a CSV file to import."""

    id: AudienceId
    csv: CsvText
    file: FileBytes | None = None
