"""How often Python looks for garbage: what refers to itself, and so is not freed by itself."""

import gc

COLLECT_AFTER = (200_000, 50, 100)


def collect_rarely() -> None:
    """For a process that carries records. They come in tens of thousands at once, and go by themselves.

    Looking through each batch again and again took a quarter of the relay's time.
    """
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
