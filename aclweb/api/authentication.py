"""Let a program in by its API token: `Authorization: Bearer aclw_...`."""

from __future__ import annotations

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from aclweb.accounts import tokens
from aclweb.accounts.models import ApiToken, User
from aclweb.api import bad_tokens


class TokenAuthentication(BaseAuthentication):
    """A request with a valid token acts with the rights of the token's owner."""

    keyword = "Bearer"

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        words = get_authorization_header(request).split()
        if not words or words[0].lower() != self.keyword.lower().encode():
            return None
        if len(words) != 2:
            bad_tokens.count(request)
            raise AuthenticationFailed("The Authorization header must be 'Bearer' and one token.")
        token = tokens.check(words[1].decode("latin-1"))
        if token is None:
            bad_tokens.count(request)
            raise AuthenticationFailed(
                "This API token is unknown, has expired, or its owner is no longer active."
            )
        return token.owner, token

    def authenticate_header(self, _request: Request) -> str:
        return self.keyword


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the schema tells the header."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, _auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "An API token, aclw_…"}
