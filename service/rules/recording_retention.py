"""How long recordings are kept."""

from callwright.service.platform.clock.clock import DAY


def deleted_before_ms(retention_days: int, watermark_ms: int, now_ms: int) -> int:
    """Recordings of calls that ended before this time count as deleted, even before a sweep removes their files.

    Those of calls before `watermark_ms` are deleted for good, so that a longer retention does not show them again.
    """
    return max(watermark_ms, now_ms - retention_days * DAY)
