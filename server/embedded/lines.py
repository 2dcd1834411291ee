"""The settings of lines, as the service takes them."""

from importlib.util import find_spec

from callwright.contract.checks.extras import installing
from callwright.server.setting import BadSetting
from callwright.server.settings import ProgramSettings
from callwright.service.settings import LineSettings
from callwright.service.telephony.carriers.sip import missing_packages
from callwright.service.telephony.carriers.sip_trunk import trunk_of_settings


def line_settings(settings: ProgramSettings) -> LineSettings:
    """How many calls this process carries, and over which trunk. Raises `BadSetting` if the trunk cannot be used."""
    found = LineSettings(**vars(settings.lines))
    if found.count and found.twilio_account_sid is not None and find_spec("pipecat") is None:
        raise BadSetting(f"CALLWRIGHT_TWILIO_ACCOUNT_SID: calls need more packages: {installing('live')}")
    if found.sip_trunk is None or not found.count:
        return found
    if (missing := missing_packages()) is not None:
        raise BadSetting(f"CALLWRIGHT_SIP_TRUNK: {missing}")
    try:
        trunk_of_settings(found)
    except ValueError as error:
        raise BadSetting(f"CALLWRIGHT_SIP_TRUNK: {error}") from error
    return found
