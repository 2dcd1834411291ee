"""How long recordings are kept."""

from callwright.service.platform.clock.clock import DAY


def deleted_before_ms(retention_days: int, watermark_ms: int, now_ms: int) -> int:
    """Recordings of calls that ended before this moment are deleted, whether or not a sweep has been there.

    `watermark_ms` is the moment before which they are gone for good: a longer retention brings none of them back.
    """
    return max(watermark_ms, now_ms - retention_days * DAY)
