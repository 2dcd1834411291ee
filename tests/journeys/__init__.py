import pytest

pytest.register_assert_rewrite("tests.journeys.story", "tests.programs")
