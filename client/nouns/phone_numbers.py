"""`client.phone_numbers`."""

from callwright.client.nouns.method import Noun, listing, method
from callwright.contract import phone_numbers


class PhoneNumbers(Noun):
    """Phone numbers: what the organization rents. `rent` charges the first month."""

    list = listing(phone_numbers.list_phone_numbers)
    search_available = listing(phone_numbers.search_available_numbers)
    get = method(phone_numbers.get_phone_number)
    rent = method(phone_numbers.rent_phone_number)
    update = method(phone_numbers.update_phone_number)
    release = method(phone_numbers.release_phone_number)
