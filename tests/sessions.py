"""Signs people in for tests: the session that the sign-in page would leave, and nothing else that it does.

Django's own `force_login` also notes the moment, tells who listens, and changes the session's key, which takes seven
times as long.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client

from aclweb.accounts.models import User


def new_session(person: User) -> str:
    """Store a session in which this person has signed in, and return its key."""
    session = SessionStore()
    session.update(
        {
            SESSION_KEY: str(person.pk),
            BACKEND_SESSION_KEY: "django.contrib.auth.backends.ModelBackend",
            HASH_SESSION_KEY: person.get_session_auth_hash(),
        }
    )
    session.save()
    return str(session.session_key)


def sign_in(browser: Client, person: User) -> None:
    """Give Django's test browser a session of this person."""
    browser.cookies[settings.SESSION_COOKIE_NAME] = new_session(person)
