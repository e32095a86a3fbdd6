"""The moment that strftime_now of the reference sees, fixed for as long as one test runs."""
import datetime

from transformers.utils import chat_template_utils


def fix(monkeypatch, moment):
    class Fixed(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return moment

    monkeypatch.setattr(chat_template_utils, "datetime", Fixed)
