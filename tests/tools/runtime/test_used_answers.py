"""What is remembered of answers that were used, and for how long."""

from callwright.tools.runtime.used_answers import UsedAnswers

DAY = 86_400.0


def test_an_answer_is_used_once_and_forgotten_a_day_later() -> None:
    used = UsedAnswers()
    assert used.take("one", monotonic_s=0)
    assert not used.take("one", monotonic_s=DAY - 1)
    assert used.is_used("one")
    assert used.take("two", monotonic_s=DAY)
    assert not used.is_used("one")


def test_of_very_many_answers_the_oldest_are_forgotten() -> None:
    used = UsedAnswers()
    assert all(used.take(f"key{number}", monotonic_s=number / 100) for number in range(10_001))
    assert not used.is_used("key0")
    assert used.is_used("key1")
    assert used.is_used("key10000")
