"""`client.audiences`."""

from callwright.client.nouns.method import Noun, listing, method
from callwright.contract import audiences


class Audiences(Noun):
    """Audiences: the people a campaign calls."""

    list = listing(audiences.list_audiences)
    get = method(audiences.get_audience)
    create = method(audiences.create_audience)
    update = method(audiences.update_audience)
    delete = method(audiences.delete_audience)
    add_rows = method(audiences.add_audience_rows)
    list_rows = listing(audiences.list_audience_rows)
    import_csv = method(audiences.import_audience)
    get_import = method(audiences.get_audience_import)
    list_import_errors = listing(audiences.list_import_errors)
