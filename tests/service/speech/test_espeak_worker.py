import io
import json
import subprocess
import sys
from pathlib import Path

from callwright.service.speech import espeak_worker
from callwright.service.speech.synthesiser import find_libraries

PLACES = [part for library in find_libraries() for part in (library.path, library.data)]


def asked(*requests: dict[str, object]) -> bytes:
    bodies = [json.dumps(request).encode() for request in requests]
    return b"".join(len(body).to_bytes(4, "little") + body for body in bodies)


def answers_in(output: bytes) -> list[tuple[bytes, bytes]]:
    answers: list[tuple[bytes, bytes]] = []
    while output:
        size = int.from_bytes(output[1:5], "little")
        answers.append((output[:1], output[5 : 5 + size]))
        output = output[5 + size :]
    return answers


def run(requests: bytes, places: list[str]) -> subprocess.CompletedProcess[bytes]:
    worker = espeak_worker.__file__
    return subprocess.run(
        [sys.executable, "-I", "-S", worker, *places], input=requests, capture_output=True, timeout=20
    )


def test_a_request_is_answered_with_samples_and_the_end_of_input_ends_the_worker() -> None:
    ended = run(asked({"voice": "gmw/en-US+f2", "rate": 165, "pitch": 50, "text": "Hello."}), PLACES)
    (ready, about), (kind, samples) = answers_in(ended.stdout)
    assert (ready, kind, ended.returncode) == (b"R", b"P", 0)
    assert json.loads(about)["sample_rate"] == 22_050
    assert len(samples) > 10_000


def test_an_unknown_voice_is_refused_and_the_next_request_answered() -> None:
    unknown: dict[str, object] = {"voice": "en-gb", "rate": 165, "pitch": 50, "text": "Hello."}
    ended = run(asked(unknown, unknown | {"voice": "gmw/en"}), PLACES)
    assert [kind for kind, _ in answers_in(ended.stdout)] == [b"R", b"E", b"P"]


def test_what_looks_like_phonemes_or_markup_is_spoken_as_words() -> None:
    request: dict[str, object] = {"voice": "gmw/en", "rate": 165, "pitch": 50}
    texts = ("say lemonade now", "say [[lemonade]] now", "say <lemonade> now", "say now")
    ended = run(asked(*(request | {"text": text} for text in texts)), PLACES)
    plain, phonemes, markup, without = (len(samples) for _, samples in answers_in(ended.stdout)[1:])
    assert phonemes > 1.1 * plain  # the brackets are pauses; as phonemes they would not be heard
    assert markup > 1.3 * without


def test_a_later_library_serves_when_the_first_does_not_load(tmp_path: Path) -> None:
    ended = run(b"", [str(tmp_path / "none.so"), "", *PLACES])
    assert [kind for kind, _ in answers_in(ended.stdout)] == [b"R"]


def test_a_worker_without_a_library_says_what_it_tried_and_ends(tmp_path: Path) -> None:
    output = io.BytesIO()
    assert espeak_worker.serve(io.BytesIO(), output, [str(tmp_path / "none.so"), ""]) == 1
    [(kind, reasons)] = answers_in(output.getvalue())
    assert kind == b"L"
    assert b"none.so" in reasons


def test_a_foreign_library_and_a_missing_data_folder_do_not_load() -> None:
    import _ctypes

    espeak, reasons = espeak_worker.load([_ctypes.__file__, ""])
    assert espeak is None
    assert len(reasons) == 1
